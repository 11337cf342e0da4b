package main

import (
	"fmt"
	"math"
	"strings"
	"testing"
)

func TestRun(t *testing.T) {
	var out strings.Builder
	if err := run(&out); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 3 || lines[2] != "0 points differ from what one device computes" {
		t.Fatal(out.String())
	}
	var heat, most float64
	var x, y int
	_, err := fmt.Sscanf(lines[1], "heat %f; the hottest point is (%d, %d) with %f", &heat, &x, &y, &most)
	if err != nil {
		t.Fatal(err, out.String())
	}
	// The same with float64, on the host.
	in, next := make([]float64, width*height), make([]float64, width*height)
	for y := 100; y < 140; y++ {
		for x := 60; x < 80; x++ {
			in[y*width+x] = 100
		}
	}
	at := func(x, y int) float64 {
		if x < 0 || y < 0 || x >= width || y >= height {
			return 0
		}
		return in[y*width+x]
	}
	for range steps {
		for y := range height {
			for x := range width {
				c := at(x, y)
				next[y*width+x] = c + 0.2*(at(x-1, y)+at(x+1, y)+at(x, y-1)+at(x, y+1)-4*c)
			}
		}
		in, next = next, in
	}
	var sum, top float64
	for _, v := range in {
		sum += v
		top = max(top, v)
	}
	if math.Abs(heat-sum) > 0.001*sum || math.Abs(most-top) > 0.01 || math.Abs(at(x, y)-top) > 0.001 {
		t.Errorf("%s\nwant heat %.1f and at most %.2f", out.String(), sum, top)
	}
}
