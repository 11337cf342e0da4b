package main

import (
	"bytes"
	"image/png"
	"testing"
)

// TestRun looks at the picture as far as a program can: its size, that it has many colours, and that some of it is
// light.
func TestRun(t *testing.T) {
	const width, height = 160, 100
	var out bytes.Buffer
	if err := run(&out, width, height); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&out)
	if err != nil {
		t.Fatal(err)
	}
	if b := img.Bounds(); b.Dx() != width || b.Dy() != height {
		t.Fatalf("size %v", b)
	}
	colours, brightest := map[[3]uint32]bool{}, uint32(0)
	for y := range height {
		for x := range width {
			r, g, b, a := img.At(x, y).RGBA()
			if a != 0xffff {
				t.Fatalf("(%d,%d) is transparent", x, y)
			}
			colours[[3]uint32{r, g, b}] = true
			brightest = max(brightest, r+g+b)
		}
	}
	if len(colours) < 500 || brightest < 3*0x8000 {
		t.Errorf("%d colours, brightest %#x", len(colours), brightest)
	}
}
