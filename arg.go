package cuda

import (
	"fmt"
	"reflect"
	"unsafe"

	"github.com/gocuda/cuda/cu"
)

// Arg is an argument of a launch, made by [Ptr], [Val], [StructArg] or [NilPtr], as a slog.Attr is made by slog.Int.
// Making and passing one costs no allocation.
type Arg struct {
	kind  argKind
	typ   reflect.Kind   // of the Go value
	size  uint32         // bytes
	word  [2]uint64      // the value, if it fits
	from  unsafe.Pointer // the value of a StructArg
	c     *Context       // of memory
	owner *owned
}

type argKind uint8

const (
	argNone    argKind = iota // the zero Arg
	argPointer                // device memory
	argValue                  // value in word
	argStruct                 // value behind from
	argTooLong                // a Val that does not fit
	argGo                     // a Go pointer, or a value with one inside
)

// Ptr passes the address of device memory: a [*Buffer], [View], [*Matrix], [*Managed], [*Pinned] and their parts. The
// launch checks that the memory is not closed.
func Ptr[M Memory](m M) Arg {
	c, owner, p := m.memory()
	return Arg{kind: argPointer, size: 8, word: [2]uint64{uint64(p)}, c: c, owner: owner}
}

// NilPtr passes the null pointer.
func NilPtr() Arg { return Arg{kind: argPointer, size: 8} }

// Val passes a number, a [Pointer], or a small struct or array (up to 16 bytes; [StructArg] takes any). Go's int has 8
// bytes and C's has 4: pass int32(n) where the kernel has an int.
func Val[T any](v T) Arg {
	t := reflect.TypeFor[T]()
	k := t.Kind()
	a := Arg{kind: argValue, typ: k, size: uint32(unsafe.Sizeof(v))}
	switch unsafe.Sizeof(v) {
	case 8:
		a.word[0] = *(*uint64)(unsafe.Pointer(&v))
	case 4:
		a.word[0] = uint64(*(*uint32)(unsafe.Pointer(&v)))
	case 2:
		a.word[0] = uint64(*(*uint16)(unsafe.Pointer(&v)))
	case 1:
		a.word[0] = uint64(*(*uint8)(unsafe.Pointer(&v)))
	default:
		if unsafe.Sizeof(v) > 16 {
			a.kind = argTooLong
			return a
		}
		copy((*[16]byte)(unsafe.Pointer(&a.word))[:], unsafe.Slice((*byte)(unsafe.Pointer(&v)), unsafe.Sizeof(v)))
	}
	if k > reflect.Complex128 && pointerIn(t) != "" {
		a.kind = argGo
	}
	return a
}

// StructArg passes what v points to by value, as it is when the launch is called: a struct, an array, or any other
// value without Go pointers. The layout is Go's, which is C's for fields of the same sizes; use [Pointer] for pointers
// to device memory.
func StructArg[T any](v *T) Arg {
	t := reflect.TypeFor[T]()
	a := Arg{kind: argStruct, typ: t.Kind(), size: uint32(t.Size()), from: unsafe.Pointer(v)}
	switch {
	case v == nil:
		a.kind = argNone
	case pointerIn(t) != "":
		a.kind = argGo
	}
	return a
}

// put writes the value to where the launch reads it.
func (a *Arg) put(to unsafe.Pointer) {
	switch {
	case a.kind == argStruct:
		copy(unsafe.Slice((*byte)(to), a.size), unsafe.Slice((*byte)(a.from), a.size))
	case a.size == 8:
		*(*uint64)(to) = a.word[0]
	case a.size == 4:
		*(*uint32)(to) = uint32(a.word[0])
	case a.size == 2:
		*(*uint16)(to) = uint16(a.word[0])
	case a.size == 1:
		*(*uint8)(to) = uint8(a.word[0])
	default:
		copy(unsafe.Slice((*byte)(to), a.size), (*[16]byte)(unsafe.Pointer(&a.word))[:])
	}
}

// argFault is what is wrong with an argument.
type argFault uint8

const (
	argFine argFault = iota
	faultNone
	faultTooLong
	faultGo
	faultClosed
	faultForeign
	faultSize
	faultPointerWanted
	faultNoPointer
	faultFloatWanted
	faultIntWanted
	faultNumberWanted
)

// check compares an argument with the parameter. It keeps nothing of the argument, so that arguments stay on the
// caller's stack.
func (a *Arg) check(p *param, sys *System, known bool) argFault {
	switch a.kind {
	case argNone:
		return faultNone
	case argTooLong:
		return faultTooLong
	case argGo:
		return faultGo
	case argPointer:
		if a.owner != nil && a.owner.isClosed() {
			return faultClosed
		}
		if a.c != nil && a.c.dev.sys != sys {
			return faultForeign
		}
		if known {
			switch p.class {
			case classFloat, classInt:
				return faultNoPointer
			}
		}
	}
	if !known {
		return argFine
	}
	if a.size != p.size {
		return faultSize
	}
	if a.kind == argPointer {
		return argFine
	}
	isFloat := a.typ == reflect.Float32 || a.typ == reflect.Float64
	isInt := a.typ >= reflect.Int && a.typ <= reflect.Uintptr
	switch p.class {
	case classPointer:
		if a.typ != reflect.Uint64 && a.typ != reflect.Uintptr {
			return faultPointerWanted
		}
	case classFloat:
		// Go has no 16-bit floats: their bits come as integers.
		if !isFloat && p.size != 2 {
			return faultFloatWanted
		}
	case classInt, classAddress:
		switch {
		case isFloat:
			return faultIntWanted
		case !isInt && a.typ != reflect.Bool:
			return faultNumberWanted
		}
	}
	return argFine
}

// text says what is wrong with argument i.
func (f argFault) text(i int, p *param, size uint32, typ reflect.Kind) string {
	s := fmt.Sprintf("argument %d", i)
	if p != nil && p.name != "" {
		s += " `" + p.name + "`"
	}
	given := typ.String()
	if typ == reflect.Invalid {
		given = "pointer"
	}
	var wants string
	if p != nil {
		wants = fmt.Sprintf("kernel wants %d", p.size)
		if p.typ != "" {
			wants += " (" + p.typ + ")"
		}
	}
	switch f {
	case faultNone:
		return s + ": no value (a zero cuda.Arg, or StructArg of a nil pointer)"
	case faultTooLong:
		return fmt.Sprintf("%s: %d bytes are too long for cuda.Val; pass cuda.StructArg(&v)", s, size)
	case faultGo:
		return s + ": the value is or holds a Go pointer, which the device cannot follow; pass device memory with cuda.Ptr"
	case faultClosed:
		return s + ": the memory is closed"
	case faultForeign:
		return s + ": the memory belongs to another cuda.System"
	case faultSize:
		if p == nil {
			return fmt.Sprintf("%s: %d bytes given (%s), which is another size than when the launch was prepared", s,
				size, given)
		}
		s = fmt.Sprintf("%s: %d bytes given (%s), %s", s, size, given, wants)
		if (typ == reflect.Int || typ == reflect.Uint) && p.size == 4 {
			s += fmt.Sprintf("; pass %s32(v)", typ)
		}
		return s
	case faultPointerWanted:
		return fmt.Sprintf("%s: %s given, kernel wants a pointer (%s); pass cuda.Ptr", s, given, p.typ)
	case faultNoPointer:
		return fmt.Sprintf("%s: a pointer given, kernel wants a number (%s)", s, p.typ)
	case faultFloatWanted:
		return fmt.Sprintf("%s: %s given, kernel wants a float (%s)", s, given, p.typ)
	case faultIntWanted:
		return fmt.Sprintf("%s: %s given, kernel wants an integer (%s)", s, given, p.typ)
	case faultNumberWanted:
		return fmt.Sprintf("%s: %s given, kernel wants a number (%s)", s, given, p.typ)
	}
	return s
}

// launchFrame is the memory of a launch that the driver reads: it is on the heap and used again.
type launchFrame struct {
	ptrs   []unsafe.Pointer // one for each argument, into values
	values []uint64         // the arguments, each at a multiple of 16 bytes
	attrs  []cu.CUlaunchAttribute
	config cu.CUlaunchConfig
}

// layout makes room for arguments of the given sizes.
func (f *launchFrame) layout(n int, size func(i int) uint32) {
	words := 0
	for i := range n {
		words += int(size(i)+15) / 16 * 2
	}
	f.values = make([]uint64, max(words, 1))
	f.ptrs = make([]unsafe.Pointer, n)
	at := 0
	for i := range n {
		f.ptrs[i] = unsafe.Pointer(&f.values[at])
		at += int(size(i)+15) / 16 * 2
	}
}
