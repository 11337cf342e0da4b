package texture

import (
	"math"
	"testing"
)

// TestFaces: the face that an H200 chose, where components are equal, zero, very large, or no numbers.
func TestFaces(t *testing.T) {
	nan, inf := float32(math.NaN()), float32(math.Inf(1))
	for _, x := range []struct {
		x, y, z float32
		face    uint32
	}{{-1, -1, -1, 5}, {-1, -1, 0, 3}, {-1, -1, 1, 4}, {-1, -0.5, -1, 5}, {nan, 1, 1, 4}, {1, nan, 1, 4},
		{inf, 1, 1, 4}, {inf, inf, 1, 4}, {3e38, 3e38, 3e38, 4}} {
		if face, _, _ := faceOf(x.x, x.y, x.z); face != x.face {
			t.Errorf("(%v, %v, %v): face %d, recorded %d", x.x, x.y, x.z, face, x.face)
		}
	}
}
