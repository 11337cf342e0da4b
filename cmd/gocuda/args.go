package main

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/num"
)

// argument is one kernel argument.
type argument struct {
	text   string
	scalar []byte // bytes of a scalar
	array  *array // contents of an array
	out    string // .npy file to write after the launch
}

const argumentHelp = `Kernel arguments in order; where they are numbered they count from 0, as in the names of parameters in PTX. Scalars: TYPE:VALUE (i32:1000, f32:2.5, u64:0x10); hex:BYTES is a struct by value. Arrays in device memory: TYPE[N] zeroed, TYPE[N]=V filled with V, TYPE[N]~SEED random, @FILE.npy read from a file; ` +
	`add >FILE.npy to write the array after the launch. Types: i8 u8 i16 u16 i32 u32 i64 u64 f16 f32 f64.`

// parseArgument reads one argument of the command line.
func parseArgument(s string) (*argument, error) {
	a := &argument{text: s}
	body := s
	if b, out, ok := strings.Cut(s, ">"); ok {
		if out == "" {
			return nil, hint(fmt.Errorf("argument %q: no file after >", s), "f32[1024]>out.npy")
		}
		body, a.out = b, out
	}
	if strings.HasPrefix(body, "@") {
		arr, err := readNpy(body[1:])
		a.array = arr
		return a, err
	}
	if typ, rest, ok := strings.Cut(body, "["); ok {
		return a, a.parseArray(typ, rest)
	}
	typ, val, ok := strings.Cut(body, ":")
	if !ok || a.out != "" {
		return nil, hint(fmt.Errorf("argument %q is neither a scalar nor an array", s),
			"i32:5, f32[1024], f32[1024]~1, @file.npy")
	}
	if typ == "hex" {
		b, err := hex.DecodeString(val)
		if err != nil || len(b) == 0 {
			return nil, hint(fmt.Errorf("argument %q: %q is no even number of hexadecimal digits", s, val),
				"hex:0100000002000000")
		}
		a.scalar = b
		return a, nil
	}
	b, err := encode(typ, val)
	a.scalar = b
	return a, err
}

func (a *argument) parseArray(typ, rest string) error {
	d, ok := dtypes[typ]
	if !ok {
		return hint(fmt.Errorf("argument %q: unknown type %q", a.text, typ), "one of %s", dtypeNames())
	}
	count, tail, ok := strings.Cut(rest, "]")
	n, err := strconv.ParseUint(count, 0, 63)
	if !ok || err != nil || n > maxArray/uint64(d.size) {
		return hint(fmt.Errorf("argument %q: bad array length, or more than %d bytes", a.text, uint64(maxArray)),
			"%s[1024]", typ)
	}
	a.array = &array{dtype: typ, shape: []int{int(n)}, data: make([]byte, n*uint64(d.size))}
	switch {
	case tail == "":
	case tail[0] == '=':
		v, err := encode(typ, tail[1:])
		if err != nil {
			return err
		}
		for i := 0; i < len(a.array.data); i += d.size {
			copy(a.array.data[i:], v)
		}
	case tail[0] == '~':
		seed, err := strconv.ParseUint(tail[1:], 0, 64)
		if err != nil {
			return hint(fmt.Errorf("argument %q: bad seed", a.text), "%s[1024]~1", typ)
		}
		random(a.array, seed)
	default:
		return hint(fmt.Errorf("argument %q: %q after the length", a.text, tail), "%s[1024]=1 or %s[1024]~1", typ, typ)
	}
	return nil
}

// random fills an array: integers with random bits, floats evenly from [0, 1).
func random(a *array, seed uint64) {
	r := rand.New(rand.NewPCG(seed, 0))
	size := dtypes[a.dtype].size
	for i := 0; i < len(a.data); i += size {
		v := r.Uint64()
		switch a.dtype {
		case "f32":
			v = uint64(math.Float32bits(float32(v>>40) / (1 << 24)))
		case "f64":
			v = math.Float64bits(float64(v>>11) / (1 << 53))
		case "f16":
			v = uint64(num.F32ToF16(math.Float32bits(float32(v>>53) / (1 << 11))))
		}
		put(a.data[i:], v, size)
	}
}

func put(b []byte, v uint64, size int) {
	for i := 0; i < size; i++ {
		b[i] = byte(v >> (8 * i))
	}
}

// encode turns the text of a number into the bytes of a type.
func encode(typ, val string) ([]byte, error) {
	d, ok := dtypes[typ]
	if !ok {
		return nil, hint(fmt.Errorf("unknown type %q", typ), "one of %s", dtypeNames())
	}
	b := make([]byte, d.size)
	bad := func() ([]byte, error) {
		return nil, hint(fmt.Errorf("%q is no %s", val, typ), "a number that fits %s", typ)
	}
	switch typ[0] {
	case 'f':
		v, err := strconv.ParseFloat(val, max(d.size*8, 32))
		if err != nil {
			return bad()
		}
		switch typ {
		case "f64":
			binary.LittleEndian.PutUint64(b, math.Float64bits(v))
		case "f32":
			binary.LittleEndian.PutUint32(b, math.Float32bits(float32(v)))
		default:
			binary.LittleEndian.PutUint16(b, num.F32ToF16(math.Float32bits(float32(v))))
		}
	case 'u':
		v, err := strconv.ParseUint(val, 0, d.size*8)
		if err != nil {
			return bad()
		}
		put(b, v, d.size)
	default:
		v, err := strconv.ParseInt(val, 0, d.size*8)
		if err != nil {
			return bad()
		}
		put(b, uint64(v), d.size)
	}
	return b, nil
}
