package softdev

import (
	"fmt"
	"os"
	"strings"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// EngineVariable is the environment variable that chooses the engine where the options do not: auto (also when it is unset: machine code where it works, else the
// interpreter with the reason kept), jit (machine code or an error), jit-avx512 or jit-avx2 for an instruction set (see also jit.ISAVariable), or interpreter.
const EngineVariable = "GOCUDA_ENGINE"

// chooseEngine sets the engine.
func (d *Driver) chooseEngine() error {
	if d.opts.Engine != nil {
		d.engine = d.opts.Engine
		return nil
	}
	want := d.opts.EngineName
	if want == "" {
		want = os.Getenv(EngineVariable)
	}
	switch want {
	case "interpreter":
		d.engine = interp.New()
		return nil
	case "":
		want = "auto"
	case "auto", "jit", "jit-avx512", "jit-avx2":
	default:
		return fmt.Errorf("%s is %q, not interpreter, jit, jit-avx512, jit-avx2 or auto", EngineVariable, want)
	}
	open := jit.New
	if _, set, ok := strings.Cut(want, "-"); ok {
		open = func() (exec.Engine, error) { return jit.NewISA(set) }
	}
	e, err := open()
	switch {
	case err == nil:
		d.engine = e
	case want != "auto":
		return fmt.Errorf("%s is %s: %w", EngineVariable, want, err)
	default:
		d.engine, d.engineWhy = interp.New(), err
	}
	return nil
}

// EngineName is the name of the engine that runs kernels: "jit" or "interpreter".
func (d *Driver) EngineName() string { return d.engine.Name() }

// EngineISA is the instruction set of the engine's machine code: "AVX-512" or "AVX2"; empty for the interpreter.
func (d *Driver) EngineISA() string {
	if e, ok := d.engine.(interface{ InstructionSet() string }); ok {
		return e.InstructionSet()
	}
	return ""
}

// EngineWhy is the reason why the interpreter runs kernels though machine code was wanted, a *jit.UnavailableError; nil when there is none.
func (d *Driver) EngineWhy() error { return d.engineWhy }
