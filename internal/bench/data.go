package bench

import (
	"bytes"
	"compress/gzip"
	"embed"
	"fmt"
	"io"
	"unsafe"
)

//go:embed host kernels
var files embed.FS

// ptx is the text of a kernel.
func ptx(name string) ([]byte, error) {
	if b, err := files.ReadFile("kernels/ptx/" + name + ".ptx"); err == nil {
		return b, nil
	}
	b, err := files.ReadFile("kernels/ptx/" + name + ".ptx.gz")
	if err != nil {
		return nil, err
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, fmt.Errorf("bench: %s: %w", name, err)
	}
	return io.ReadAll(z)
}

// mix is the pseudo-random number of an index; host/cases.c has the same.
func mix(i, seed uint32) uint32 {
	x := i*0x9E3779B1 + seed
	x ^= x >> 16
	x *= 0x85ebca6b
	x ^= x >> 13
	x *= 0xc2b2ae35
	return x ^ x>>16
}

// floats are n numbers in [lo, hi).
func floats(n int, seed uint32, lo, hi float32) []byte {
	p := make([]float32, n)
	for i := range p {
		p[i] = lo + float32((hi-lo)*float32(float32(mix(uint32(i), seed)>>8)*(1.0/16777216)))
	}
	return raw(p)
}

// raw and as change the type of memory.
func raw[T any](p []T) []byte {
	var t T
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(p))), len(p)*int(unsafe.Sizeof(t)))
}

func as[T any](b []byte) []T {
	var t T
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/int(unsafe.Sizeof(t)))
}
