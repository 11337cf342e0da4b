package softdev

import (
	"fmt"
	"os"

	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/exec/jit"
)

// EngineVariable is the environment variable that chooses the engine where the options do not: auto (also when it is unset: machine code where it works, else the
// interpreter with the reason kept), jit (machine code or an error), or interpreter.
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
	case "", "auto", "jit":
	default:
		return fmt.Errorf("%s is %q, not interpreter, jit or auto", EngineVariable, want)
	}
	e, err := jit.New()
	switch {
	case err == nil:
		d.engine = e
	case want == "jit":
		return fmt.Errorf("%s is jit: %w", EngineVariable, err)
	default:
		d.engine, d.engineWhy = interp.New(), err
	}
	return nil
}

// EngineName is the name of the engine that runs kernels: "jit" or "interpreter".
func (d *Driver) EngineName() string { return d.engine.Name() }

// EngineWhy is the reason why the interpreter runs kernels though machine code was wanted, a *jit.UnavailableError; nil when there is none.
func (d *Driver) EngineWhy() error { return d.engineWhy }
