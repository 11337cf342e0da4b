//go:build linux && amd64

package touch

import (
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// TestGuard loads and stores in closed pages, and faults elsewhere.
func TestGuard(t *testing.T) {
	if unsafe.Offsetof(state.last) != 6184 || unsafe.Offsetof(state.dfl) != 6200 || unsafe.Offsetof(state.list) != 40 {
		t.Fatalf("offsets %d %d %d", unsafe.Offsetof(state.list), unsafe.Offsetof(state.last),
			unsafe.Offsetof(state.dfl))
	}
	m, err := unix.Mmap(-1, 0, 16*PageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	base := uint64(uintptr(unsafe.Pointer(&m[0])))
	g, err := Open(base, uint64(len(m)))
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close()
	m[5] = 7
	for range 3 {
		g.Set([]Range{{base, base + 2*PageSize, true}, {base + 4*PageSize, base + 5*PageSize, false}})
		x := m[5] + m[4*PageSize+9] // the second page may be read
		m[PageSize+1] = x
		m[4*PageSize+8] = 1
		m[3*PageSize] = 1
		want := []Access{{base + 5, false}, {base + PageSize + 1, true}, {base + 4*PageSize + 8, true}}
		got := g.Take()
		if len(got) != len(want) {
			t.Fatalf("saw %v, want %v", got, want)
		}
		for i := range got {
			if got[i] != want[i] {
				t.Errorf("access %d is %v, want %v", i, got[i], want[i])
			}
		}
		if x != 7 {
			t.Errorf("read %d", x)
		}
	}
	defer func() {
		if recover() == nil {
			t.Error("a fault elsewhere did not reach Go's handler")
		}
	}()
	var p *[1 << 20]byte
	_ = p[5]
}
