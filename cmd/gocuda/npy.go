package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"unsafe"

	"github.com/sbinet/npyio/npy"
)

// array is what a .npy file or an array argument holds: little-endian elements in row order.
type array struct {
	dtype string // f32, i64, ...
	shape []int
	data  []byte
}

// dtypes are the element types of arguments: NumPy's names, sizes, and Go types for writing.
var dtypes = map[string]struct {
	npy  string
	size int
	typ  reflect.Type
}{
	"i8": {"i1", 1, reflect.TypeFor[int8]()}, "u8": {"u1", 1, reflect.TypeFor[uint8]()}, "i16": {"i2", 2, reflect.TypeFor[int16]()}, "u16": {"u2", 2, reflect.TypeFor[uint16]()},
	"i32": {"i4", 4, reflect.TypeFor[int32]()}, "u32": {"u4", 4, reflect.TypeFor[uint32]()}, "i64": {"i8", 8, reflect.TypeFor[int64]()}, "u64": {"u8", 8, reflect.TypeFor[uint64]()},
	"f32": {"f4", 4, reflect.TypeFor[float32]()}, "f64": {"f8", 8, reflect.TypeFor[float64]()}, "f16": {"f2", 2, nil},
}

func dtypeNames() string { return "i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64" }

// maxArray bounds what a header may ask for: files are data from strangers.
const maxArray = 1 << 36

// readNpy reads a file. Errors name it and say what is wrong.
func readNpy(path string) (*array, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, hint(err, "check the path; relative paths start at the current folder")
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	r, err := openNpy(f)
	if err != nil {
		return nil, hint(fmt.Errorf("%s is not a .npy file: %w", path, err), "write it with numpy.save")
	}
	h := r.Header
	a := &array{shape: h.Descr.Shape}
	code := strings.TrimLeft(h.Descr.Type, "<|=")
	for name, d := range dtypes {
		if d.npy == code {
			a.dtype = name
		}
	}
	if a.dtype == "" || strings.HasPrefix(h.Descr.Type, ">") {
		return nil, hint(fmt.Errorf("%s has element type %q, which no kernel argument has", path, h.Descr.Type), "convert it: numpy.save(..., a.astype('<f4')); types: %s", dtypeNames())
	}
	if h.Descr.Fortran && len(a.shape) > 1 {
		return nil, hint(fmt.Errorf("%s is in Fortran order", path), "write it with numpy.save(..., numpy.ascontiguousarray(a))")
	}
	n := uint64(dtypes[a.dtype].size)
	for _, s := range a.shape {
		if s < 0 || (s > 0 && n > maxArray/uint64(s)) {
			return nil, fmt.Errorf("%s: the header's shape %v is not possible", path, a.shape)
		}
		n *= uint64(s)
	}
	if n > uint64(st.Size()) {
		return nil, hint(fmt.Errorf("%s is cut short: the header promises %d bytes of data, the file has %d in all", path, n, st.Size()), "write the file anew")
	}
	a.data = make([]byte, n)
	if _, err := io.ReadFull(f, a.data); err != nil {
		return nil, hint(fmt.Errorf("%s is cut short: %w", path, err), "write the file anew")
	}
	return a, nil
}

// openNpy reads the header; the library panics on some damaged ones.
func openNpy(r io.Reader) (n *npy.Reader, err error) {
	defer func() {
		if x := recover(); x != nil {
			err = fmt.Errorf("damaged header: %v", x)
		}
	}()
	n, err = npy.NewReader(r)
	if err == nil && n == nil {
		err = errors.New("no header")
	}
	return n, err
}

// writeNpy writes an array with its shape.
func writeNpy(path string, a *array) error {
	d := dtypes[a.dtype]
	if d.typ == nil {
		return fmt.Errorf("%s: arrays of %s cannot be written yet", path, a.dtype)
	}
	t := d.typ
	for i := len(a.shape) - 1; i >= 0; i-- {
		t = reflect.ArrayOf(a.shape[i], t)
	}
	v := reflect.New(t)
	copy(unsafe.Slice((*byte)(v.UnsafePointer()), len(a.data)), a.data)
	f, err := os.Create(path)
	if err != nil {
		return hint(err, "name a file in a folder that exists and can be written")
	}
	return errors.Join(npy.Write(f, v.Elem().Interface()), f.Close())
}
