package lower

import (
	"math/rand/v2"
	"testing"
)

// TestArena: a part lies at the first place with room for it, and parts that lie side by side are not looked at again.
func TestArena(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		var a arena
		for now := range 100 {
			a.free(now)
			size := uint64(1+r.IntN(5)) * arenaAlign
			want := uint64(0)
			for _, p := range a.used {
				if p.at-want >= size {
					break
				}
				want = p.at + p.size
			}
			if at := a.take(size, now+r.IntN(30)); at != want {
				t.Fatalf("seed %d, operation %d: at %d, the first place is %d", seed, now, at, want)
			}
			end := uint64(0)
			for i, p := range a.used {
				if p.at < end || i < a.packed && p.at != end {
					t.Fatalf("seed %d, operation %d: part %d is at %d, that before ends at %d", seed, now, i, p.at, end)
				}
				end = p.at + p.size
			}
		}
	}
	var a arena
	for i := range 1000 {
		a.take(arenaAlign, 2000)
		if a.packed != i+1 {
			t.Fatalf("of %d parts side by side %d are looked at again", i+1, i+1-a.packed)
		}
	}
}
