package main

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestNpyRoundTrip writes and reads every type and several shapes.
func TestNpyRoundTrip(t *testing.T) {
	dir := t.TempDir()
	for dtype, d := range dtypes {
		for _, shape := range [][]int{{}, {0}, {7}, {3, 5}, {2, 3, 4}, {1, 0, 2}} {
			n := d.size
			for _, s := range shape {
				n *= s
			}
			a := &array{dtype: dtype, shape: shape, data: make([]byte, n)}
			for i := range a.data {
				a.data[i] = byte(i*37 + 1)
			}
			p := filepath.Join(dir, "a.npy")
			if err := writeNpy(p, a); err != nil {
				t.Fatal(err)
			}
			b, err := os.ReadFile(p)
			if err != nil {
				t.Fatal(err)
			}
			if (len(b)-n)%64 != 0 { // what numpy.save does
				t.Errorf("%s%v: the data start at %d", dtype, shape, len(b)-n)
			}
			got, err := readNpy(p)
			if err != nil {
				t.Fatalf("%s%v: %v", dtype, shape, err)
			}
			if got.dtype != dtype || !slices.Equal(got.shape, shape) || !bytes.Equal(got.data, a.data) {
				t.Errorf("%s%v comes back as %s%v", dtype, shape, got.dtype, got.shape)
			}
		}
	}
}

// TestNpyOfNumPy reads what numpy.save wrote (version 1.24, by its documented format): the header's padding and the
// spaces are NumPy's.
func TestNpyOfNumPy(t *testing.T) {
	head := "\x93NUMPY\x01\x00\x76\x00{'descr': '<i2', 'fortran_order': False, 'shape': (2, 3), }"
	file := head + strings.Repeat(" ", 127-len(head)) + "\n" + "\x01\x00\x02\x00\x03\x00\x04\x00\x05\x00\xff\xff"
	a, err := parseNpy(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	if a.dtype != "i16" || !slices.Equal(a.shape, []int{2, 3}) || string(a.data) != file[128:] {
		t.Errorf("%s%v %x", a.dtype, a.shape, a.data)
	}
	if got := formatNpy(a); string(got) != file {
		t.Errorf("written again: %q, want %q", got, file)
	}
}

func FuzzNpy(f *testing.F) {
	for _, dtype := range []string{"u8", "f32", "f64"} {
		f.Add(formatNpy(&array{dtype: dtype, shape: []int{2, 3}, data: make([]byte, 6*dtypes[dtype].size)}))
	}
	v2 := formatNpy(&array{dtype: "f32", shape: []int{1}, data: make([]byte, 4)})
	v2 = slices.Concat([]byte("\x93NUMPY\x02\x00"), v2[8:10], []byte{0, 0}, v2[10:])
	f.Add(v2)
	f.Add([]byte("\x93NUMPY\x02\x00\xff\xff\xff\xff{"))
	f.Add([]byte("\x93NUMPY\x01\x00\x00\x00"))
	f.Add([]byte("\x93NUMPY\x01\x00\x10\x00{'descr': '<f4'}"))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := parseNpy(bytes.NewReader(b), int64(len(b)))
		if err != nil {
			if a != nil {
				t.Error("an array with an error")
			}
			return
		}
		n := dtypes[a.dtype].size
		for _, d := range a.shape {
			n *= d
		}
		if n != len(a.data) || n > len(b) {
			t.Errorf("%s%v holds %d bytes of a file of %d", a.dtype, a.shape, len(a.data), len(b))
		}
		again, err := parseNpy(bytes.NewReader(formatNpy(a)), math.MaxInt64)
		if err != nil || !slices.Equal(again.shape, a.shape) || !bytes.Equal(again.data, a.data) ||
			again.dtype != a.dtype {
			t.Errorf("%s%v does not come back: %v", a.dtype, a.shape, err)
		}
	})
}
