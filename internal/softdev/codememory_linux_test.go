package softdev

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/exec/jit"
	"github.com/gocuda/cuda/internal/skip"
)

// executable adds up the executable mappings without a file, as the kernel lists them, and complains of any that can be
// written too.
func executable(t *testing.T) (n uint64) {
	t.Helper()
	f, err := os.Open("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for s := bufio.NewScanner(f); s.Scan(); {
		fields := strings.Fields(s.Text())
		perms := fields[1]
		if !strings.Contains(perms, "x") {
			continue
		}
		if strings.Contains(perms, "w") {
			t.Errorf("writable and executable: %s", s.Text())
		}
		if len(fields) > 5 {
			continue // a file, or the system's own
		}
		var from, to uint64
		if _, err := fmt.Sscanf(fields[0], "%x-%x", &from, &to); err != nil {
			t.Fatal(err)
		}
		n += to - from
	}
	return n
}

// TestCodeMemory looks at the process's mappings while kernels are compiled and run: machine code is never writable, is
// there as long as its module, and then goes.
func TestCodeMemory(t *testing.T) {
	var none *jit.UnavailableError
	if _, err := jit.New(""); errors.As(err, &none) {
		skip.Without(t, skip.MachineCode, err)
	}
	runtime.GC() // code of earlier tests
	before := executable(t)
	d, tab, ctx := open(t, Options{EngineName: "jit"})
	x, ok := d.engine.(interface{ CodeBytes() int64 })
	if !ok {
		t.Fatal("the engine does not say how much code there is")
	}
	const modules = 20
	s := &soak{d: d, tab: tab, primary: ctx}
	var list []driver.CUmodule
	var wg sync.WaitGroup
	stop := make(chan struct{})
	wg.Add(1)
	go func() {
		defer wg.Done()
		for {
			select {
			case <-stop:
				return
			default:
				executable(t)
			}
		}
	}()
	for i := range modules {
		m := load(t, d, ctx, fmt.Sprintf(soakPTX, i))
		if err := s.mix(rand.New(rand.NewPCG(1, uint64(i))), ctx, m, uint32(i)); err != nil {
			t.Fatal(err)
		}
		list = append(list, m)
	}
	close(stop)
	wg.Wait()
	if code, mapped := x.CodeBytes(), executable(t); code < modules*4096 || mapped < uint64(code) {
		t.Errorf("%d bytes of machine code for %d modules; executable mappings are %d bytes", code, modules, mapped)
	}
	for _, m := range list {
		must(t, tab.ModuleUnload(ctx, m))
	}
	for range 100 {
		runtime.GC()
		if x.CodeBytes() == 0 && executable(t) <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	// What the last launch used may be in a register or in a pool of things to use again.
	if left := x.CodeBytes(); left > 3*16384 {
		t.Errorf("%d bytes of machine code are left without modules", left)
	}
}
