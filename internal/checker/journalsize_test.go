package checker

import (
	"math/rand/v2"
	"testing"
	"unsafe"
)

// held is how many bytes a journal has memory for.
func (j *Journal) held() (n int) {
	const pageOf = int(unsafe.Sizeof(placesPage{}))
	a := &j.scratch
	n = (cap(j.open)+cap(j.runs))*int(unsafe.Sizeof(series{})) + 4*(cap(j.last)+cap(j.tail)) +
		cap(j.awaited)*int(unsafe.Sizeof(awaitedWarp{})) + pageOf*len(j.seen.pages) + 8*cap(a.slab) +
		(cap(a.writes)+cap(a.reads)+cap(a.hulls))*int(unsafe.Sizeof(hull{})) + len(a.at)*2*int(unsafe.Sizeof(shape{})) +
		cap(a.regions)*int(unsafe.Sizeof(region{}))
	for i := range a.regions[:cap(a.regions)] {
		n += cap(a.regions[:cap(a.regions)][i].owners) * int(unsafe.Sizeof(owner{}))
	}
	return n
}

// TestJournalSize: the memory of a journal, with what it takes to look for races in it, is at most four bytes for each
// byte that a kernel has touched, for kernels that access memory as the benches do.
func TestJournalSize(t *testing.T) {
	const base, warps = 1 << 24, 8
	ops := make([]*Op, 4)
	for i := range ops {
		ops[i] = &Op{Site: uint32(i), ID: uint32(i), Does: Reads, Size: 4, Count: 1}
	}
	ops[2].Does = Writes
	ops[3].Does, ops[3].Scope = Reads|Writes, ScopeDevice
	rnd := rand.New(rand.NewPCG(3, 4))
	for _, k := range []struct {
		name    string
		blocks  int
		touched int
		block   func(j *Journal, b, w int)
	}{
		{"linear", 512, 3 * 512 * 1024, func(j *Journal, b, w int) { // vecadd
			at := uint64(1024*b + 128*w)
			for op := range 3 {
				j.Add(op, w, allLanes, base+uint64(op)<<20+at, 4, 64, 4)
			}
		}},
		{"in place", 512, 512 * 1024, func(j *Journal, b, w int) { // saxpy, of one buffer
			at := base + uint64(1024*b+128*w)
			j.Add(0, w, allLanes, at, 4, 64, 4)
			j.Add(2, w, allLanes, at, 4, 64, 4)
		}},
		{"tiles", 256, 2 * 256 * 4096, func(j *Journal, b, w int) { // transpose of 512x512
			x, y := uint64(b%16), uint64(b/16)
			for k := range uint64(4) {
				row := uint64(w) + 8*k
				j.Add(0, w, allLanes, base+4*(512*(32*y+row)+32*x), 4, 64, 4)
				j.Add(2, w, allLanes, base+1<<20+4*(512*(32*x+row)+32*y), 4, 64, 4)
			}
		}},
		{"rows and columns", 1024, 3 * 4 * 512 * 512, func(j *Journal, b, w int) { // sgemm of 512x512
			x, y := uint64(b%32), uint64(b/32)
			for k := range uint64(512) {
				j.Add(0, w, allLanes, base+4*(512*(16*y+2*uint64(w))+k), 0, 2048, 4)
				j.Add(1, w, allLanes, base+1<<20+4*(512*k+16*x), 4, 0, 4)
			}
			j.Add(2, w, allLanes, base+2<<20+4*(512*(16*y+2*uint64(w))+16*x), 4, 2048, 4)
		}},
		{"atomics anywhere", 1024, 1<<20 + 1024, func(j *Journal, b, w int) { // a histogram of a million bytes
			j.Add(0, w, allLanes, base+uint64(1024*b+128*w), 4, 64, 4)
			for range 4 {
				var at [32]uint64
				for l := range at {
					at[l] = base + 2<<20 + 4*rnd.Uint64N(256)
				}
				j.AddEach(3, w, allLanes, &at)
			}
		}},
	} {
		t.Run(k.name, func(t *testing.T) {
			l := New(NewLog(func(r *Report) { t.Errorf("%+v", r) }, nil)).Launch(program{})
			j := l.Journal(ops, [3]uint32{uint32(k.blocks), 1, 1})
			most := 0
			for b := range k.blocks {
				j.Begin(uint32(b), [3]uint32{32 * warps, 1, 1})
				for w := range warps {
					k.block(j, b, w)
				}
				j.EndBlock()
				if j.Full() {
					t.Fatalf("full after %d blocks", b)
				}
				most = max(most, j.held())
			}
			if !j.apart() {
				t.Error("a race")
			}
			most = max(most, j.held())
			if most > 4*k.touched {
				t.Errorf("%d bytes for %d", most, k.touched)
			}
			t.Logf("%.3f bytes for each that was touched", float64(most)/float64(k.touched))
		})
	}
}
