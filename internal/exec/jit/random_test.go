package jit

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/exectest"
	"github.com/gocuda/cuda/internal/skip"
)

var long = flag.Bool("long", false, "compare many more generated programs, and twenty times as many accesses at bounds")

// randomRun is a way to run generated programs on machine code.
type randomRun struct {
	name    string
	probe   int32 // CTAs stop, so that they end in code of single splits
	checked bool  // accesses are left to a memory checker that allows them all
}

// TestRandomPrograms compares generated kernels on machine code with a thread by thread evaluation of their source.
func TestRandomPrograms(t *testing.T) {
	compareRandom(t, 400, exectest.Generate, randomRun{name: "as it comes"}, randomRun{name: "checked", checked: true})
}

// TestRandomPlain does so for programs that run as whole CTAs, also when they stop anywhere.
func TestRandomPlain(t *testing.T) {
	compareRandom(t, 800, exectest.GeneratePlain, randomRun{name: "as it comes"}, randomRun{name: "stopped", probe: 3})
}

// randomDevice is a device with one instruction set and way to run.
type randomDevice struct {
	randomRun
	*exectest.Device
	n          exec.Counters
	run, whole int
}

func compareRandom(t *testing.T, n int, generate func(*rand.Rand) exectest.Program, runs ...randomRun) {
	switch {
	case testing.Short():
		n /= 7
	case *long:
		n *= 5
	}
	var devices []*randomDevice
	for name, set := range isas() {
		if _, err := chooseISA(name); err != nil {
			t.Log(err)
			continue
		}
		for _, r := range runs {
			e, err := newEngine(generators()[set])
			if err != nil {
				t.Fatal(err)
			}
			e.probe = r.probe
			r.name = fmt.Sprintf("%s, %s", name, r.name)
			d := &randomDevice{randomRun: r, Device: exectest.Open(t)}
			d.Engine = e
			devices = append(devices, d)
		}
	}
	if len(devices) == 0 {
		skip.Without(t, skip.MachineCode)
	}
	for seed := range uint64(n) {
		p := generate(rand.New(rand.NewPCG(seed, 1)))
		for _, d := range devices {
			if d.checked {
				allowAll(d.Device, []uint64{0, 32, 256, 1 << 20}[seed>>2&3])
			}
		}
		ref := exectest.NewReference(devices[0].Load(p.Source).Module)
		if err := ref.Run(p.Grid, p.Block); exectest.TooLong(err) {
			continue
		} else if err != nil {
			t.Fatalf("seed %d: %v\n%s", seed, err, p.Source)
		}
		for _, d := range devices {
			d.compare(t, seed, p, ref)
		}
	}
	for _, d := range devices {
		t.Logf("%s: %d programs agree, %d as whole CTAs; %d of %d warp instructions fell back", d.name, d.run, d.whole,
			d.n.Fallbacks.Load(), d.n.WarpInstructions.Load())
	}
}

// compare runs a program whose results are known.
func (d *randomDevice) compare(t *testing.T, seed uint64, p exectest.Program, ref *exectest.Reference) {
	t.Helper()
	workers := 1 + int(seed%3)
	if d.probe != 0 {
		workers = 1
	}
	k, err := d.Load(p.Source).Kernel("k")
	if err != nil {
		t.Fatalf("%s, seed %d: %v\n%s", d.name, seed, err, p.Source)
	}
	oa, out := d.Alloc(int(8 * p.Grid * p.Block))
	ta, total := d.Alloc(4)
	if err := k.Run(exectest.Config{Grid: exectest.Dim(p.Grid), Block: exectest.Dim(p.Block), Workers: workers,
		Stack: 8192, Counters: &d.n, Quantum: []int32{0, 1, 2, 7}[seed&3]}, oa, ta); err != nil {
		t.Fatalf("%s, seed %d: %v\n%s", d.name, seed, err, p.Source)
	}
	if diff := ref.Compare(out, total); diff != "" {
		t.Fatalf("%s, seed %d: %s\n%s", d.name, seed, diff, p.Source)
	}
	if c := k.Code.(*code); c.cta.made > 0 && !c.cta.off {
		d.whole++
	}
	d.Free(oa)
	d.Free(ta)
	d.run++
}
