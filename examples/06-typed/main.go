// Command 06-typed lets the Go compiler check the arguments of a kernel, and passes structs.
package main

import (
	_ "embed"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/gocuda/cuda"
)

//go:embed particles.ptx
var code []byte

// vec, field and particle are float3, Field and Particle of particles.cu. Go lays structs out as C does.
type vec struct{ X, Y, Z float32 }

type field struct {
	Gravity vec
	Drag    float32
	Bodies  int32
}

type particle struct{ Position, Velocity vec }

func main() {
	if err := run(os.Stdout); err != nil {
		log.Fatal(err)
	}
}

func run(w io.Writer) error {
	sys, err := cuda.Open()
	if err != nil {
		return err
	}
	defer sys.Close()
	c, err := sys.Context(0)
	if err != nil {
		return err
	}
	defer c.Close()
	mod, err := c.Load(code)
	if err != nil {
		return err
	}
	defer mod.Close()
	k, err := mod.Kernel("step")
	if err != nil {
		return err
	}

	// The types are checked against the kernel once; from then on the compiler does it.
	step, err := cuda.Bind3[cuda.Pointer[particle], field, float32](k)
	if err != nil {
		return err
	}
	p, err := cuda.Upload(c, []particle{{Velocity: vec{X: 1}}, {Position: vec{Z: 10}}})
	if err != nil {
		return err
	}
	defer p.Close()
	f := field{Gravity: vec{Z: -1}, Bodies: 2}
	if err := step.Launch(nil, cuda.Linear(2), p.Ptr(), f, 0.5); err != nil {
		return err
	}

	// The same launch many times: arguments are checked and copied once.
	again, err := k.Prepare(cuda.Linear(2), cuda.Ptr(p), cuda.StructArg(&f), cuda.Val(float32(0.5)))
	if err != nil {
		return err
	}
	for range 3 {
		if err := again.Launch(nil); err != nil {
			return err
		}
	}
	got, err := p.Download()
	if err != nil {
		return err
	}
	for _, q := range got {
		fmt.Fprintf(w, "position %v, velocity %v\n", q.Position, q.Velocity)
	}
	return nil
}
