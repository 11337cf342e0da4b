package cuda

import (
	"fmt"
	"math/bits"
	"reflect"
	"unsafe"
)

// elementSize is the size of an element of device memory in bytes. A type fits when its values mean something on the
// device: it must have a size and hold no Go pointers, which the device cannot follow and the collector cannot see
// there.
func elementSize[T any](op string) (uint64, error) {
	t := reflect.TypeFor[T]()
	if k := t.Kind(); k >= reflect.Bool && k <= reflect.Complex128 {
		return uint64(t.Size()), nil
	}
	if bad := pointerIn(t); bad != "" {
		return 0, invalid(op, "", "elements of type %s: %s; the device cannot use Go pointers", t, bad)
	}
	if t.Size() == 0 {
		return 0, invalid(op, "", "elements of type %s have no size", t)
	}
	return uint64(t.Size()), nil
}

// pointerIn says in words where a type holds a Go pointer, or returns the empty string.
func pointerIn(t reflect.Type) string {
	switch k := t.Kind(); k {
	case reflect.Array:
		if t.Len() == 0 {
			return ""
		}
		return pointerIn(t.Elem())
	case reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if bad := pointerIn(f.Type); bad != "" {
				return fmt.Sprintf("field %s: %s", f.Name, bad)
			}
		}
		return ""
	default:
		if k >= reflect.Bool && k <= reflect.Complex128 {
			return ""
		}
		return fmt.Sprintf("a %s is a Go pointer inside", k)
	}
}

// byteCount is n elements in bytes.
func byteCount(op string, n int, size uint64) (uint64, error) {
	if n < 0 {
		return 0, invalid(op, "", "%d elements", n)
	}
	hi, lo := bits.Mul64(uint64(n), size)
	if hi != 0 || lo > 1<<62 {
		return 0, &Error{Op: op, Code: ErrOutOfMemory, Detail: fmt.Sprintf("%d elements of %d bytes", n, size)}
	}
	return lo, nil
}

// asBytes is the memory of a slice.
func asBytes[T any](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), uintptr(len(s))*unsafe.Sizeof(s[0]))
}

// sizeOf is the size of a T in bytes.
func sizeOf[T any]() uint64 {
	var v T
	return uint64(unsafe.Sizeof(v))
}

// checkRange panics as a slice expression does.
func checkRange(i, j, n int) {
	if j < 0 || j > n {
		panic(fmt.Sprintf("cuda: slice bounds out of range [:%d] with length %d", j, n))
	}
	if i < 0 || i > j {
		panic(fmt.Sprintf("cuda: slice bounds out of range [%d:%d]", i, j))
	}
}
