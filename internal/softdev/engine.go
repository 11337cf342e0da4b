package softdev

import (
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// chooseEngine sets the engine: that of the options, or by the name in Options.EngineName or GOCUDA_ENGINE: auto or
// none (machine code where it works, else the interpreter with the reason kept), jit (machine code or an error),
// jit-avx512 or jit-avx2 (of one instruction set), or interpreter.
func (d *Driver) chooseEngine() error {
	plain, code := interp.New, jit.New
	race, init := d.check != nil, d.uninit != nil
	if race || init {
		plain = func() exec.Engine { return interp.Watched(race, init) }
		code = func(name string) (exec.Engine, error) { return jit.NewWatched(name, race, init) }
	}
	if d.env.CoredumpOnException { // machine code has registers of its own, which a dump could not name
		d.engine = plain()
		return nil
	}
	if d.checks.Has(checker.Sync) { // machine code has barriers and member masks of its own
		d.engine = plain()
		return nil
	}
	if !race && !init && d.opts.Engine != nil {
		d.engine = d.opts.Engine
		return nil
	}
	want := d.opts.EngineName
	if want == "" {
		want = d.env.Engine
	}
	switch want {
	case "interpreter":
		d.engine = plain()
		return nil
	case "":
		want = "auto"
	case "auto", "jit", "jit-avx512", "jit-avx2":
	default:
		return fmt.Errorf("%s is %q, not interpreter, jit, jit-avx512, jit-avx2 or auto", env.Engine, want)
	}
	isa := d.env.ISA
	if _, set, ok := strings.Cut(want, "-"); ok {
		isa = set
	}
	e, err := code(isa)
	switch {
	case err == nil:
		d.engine = e
	case want != "auto":
		return fmt.Errorf("%s is %s: %w", env.Engine, want, err)
	default:
		d.engine, d.engineWhy = plain(), err
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

// EngineWhy is the reason why the interpreter runs kernels though machine code was wanted, a *jit.UnavailableError; nil
// when there is none.
func (d *Driver) EngineWhy() error { return d.engineWhy }
