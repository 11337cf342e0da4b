package sm_test

import (
	"testing"

	"github.com/gocuda/cuda/internal/image/sm"
)

func TestParse(t *testing.T) {
	for _, name := range []string{"sm_10", "sm_75", "sm_90a", "sm_100f", "sm_121a"} {
		a, ok := sm.Parse(name)
		if !ok || a.String() != name {
			t.Errorf("%s: %v, %v", name, a, ok)
		}
		c, ok := sm.Parse(a.Compute())
		if !ok || c != a {
			t.Errorf("%s: %v, %v", a.Compute(), c, ok)
		}
	}
	for _, name := range []string{"", "sm_", "sm_9", "sm_a", "sm_90b", "sm_90aa", "sm_99999", "SM_90", "90", "sm_00"} {
		if a, ok := sm.Parse(name); ok {
			t.Errorf("%q parsed as %v", name, a)
		}
	}
}

// CUDA programming guide (binary and PTX compatibility) and PTX ISA (.target).
func TestRunsOn(t *testing.T) {
	for _, c := range []struct {
		arch       string
		device     int
		cubin, ptx bool
	}{
		{"sm_80", 86, true, true}, {"sm_86", 80, false, false}, {"sm_80", 90, false, true}, {"sm_75", 75, true, true},
		{"sm_90a", 90, true, true}, {"sm_90a", 100, false, false}, {"sm_100a", 103, false, false},
		{"sm_100f", 103, true, true}, {"sm_103f", 100, false, false}, {"sm_100f", 120, false, false},
		{"sm_120", 121, true, true}, {"sm_87", 89, false, true}, {"sm_86", 87, false, true},
		{"sm_101", 110, true, true},
		{"sm_10", 90, false, true},
	} {
		a, _ := sm.Parse(c.arch)
		if got := a.CubinRunsOn(c.device); got != c.cubin {
			t.Errorf("cubin %s on %d: %v", c.arch, c.device, got)
		}
		if got := a.PTXRunsOn(c.device); got != c.ptx {
			t.Errorf("PTX %s on %d: %v", c.arch, c.device, got)
		}
	}
}
