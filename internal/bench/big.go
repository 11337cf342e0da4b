package bench

import (
	gosha "crypto/sha256"
	"encoding/binary"
)

// sha256 hashes eight bytes made from the thread's number and gives the first word.
func sha256(c *Case, s Size) {
	n := s.pick(1<<20, 1<<14, 1<<10)
	c.n = n
	const seed = 12345
	c.work(float64(n), "hashes")
	c.output(4 * n)
	c.i32(seed)
	c.i32(n)
	c.shape(n/256, 1, 256, 1)
	c.verify = func(c *Case, got [][]byte) error {
		for i, v := range as[uint32](got[0]) {
			var text [8]byte
			binary.BigEndian.PutUint32(text[:], seed^uint32(i))
			binary.BigEndian.PutUint32(text[4:], uint32(i)*0x9E3779B1)
			if sum := gosha.Sum256(text[:]); binary.BigEndian.Uint32(sum[:]) != v {
				return wrong("at %d", i)
			}
		}
		return nil
	}
}

func big5k(c *Case, s Size)  { big(c, s, 1430, 1<<17) }
func big50k(c *Case, s Size) { big(c, s, 14000, 1<<14) }

// big is a kernel of random statements (host/gen_big.c), all of exact arithmetic.
func big(c *Case, s Size, statements, full int) {
	n := s.pick(full, 1024, 256)
	c.n = n
	c.work(float64(n), "threads")
	const mask = 4095
	x := make([]uint32, mask+1)
	for i := range x {
		x[i] = mix(uint32(i), 15)
	}
	c.output(4 * n)
	c.input(raw(x))
	c.i32(n)
	c.i32(mask)
	c.shape(n/128, 1, 128, 1)
	program := bigProgram(statements)
	c.verify = func(c *Case, got [][]byte) error {
		step := 1
		if n > 512 {
			step = 31
		}
		o := as[uint32](got[0])
		for i := 0; i < n; i += step {
			if want := bigResult(program, x, i, mask); o[i] != want {
				return wrong("at %d: %d not %d", i, o[i], want)
			}
		}
		return nil
	}
}

// bigVars is the number of 32-bit variables; there are four of 64 bits beside them.
const bigVars = 16

// statement is one of a big kernel: its kind, variables and constants.
type statement struct {
	kind, a, b, c, d, q int
	shift               uint
	k                   uint32
}

// bigProgram draws the statements with the generator of host/gen_big.c.
func bigProgram(n int) []statement {
	state := uint64(88172645463325252)
	next := func(n int) int {
		state ^= state << 13
		state ^= state >> 7
		state ^= state << 17
		return int(uint32(state>>20) % uint32(n))
	}
	list := make([]statement, n)
	for i := range list {
		s := &list[i]
		s.a, s.b = next(bigVars), next(bigVars)
		s.c = (s.b + 1 + next(bigVars-1)) % bigVars
		s.d, s.q = next(bigVars), next(4)
		s.shift = uint(1 + next(30))
		s.k = uint32(next(1<<30)) | 1
		s.kind = next(16)
	}
	return list
}

// bigResult is what thread i calculates.
func bigResult(program []statement, in []uint32, i int, mask uint32) uint32 {
	var v [bigVars]uint32
	var q [4]uint64
	for j := range v {
		v[j] = in[uint32(i*7+j*37)&mask]
	}
	for j := range q {
		q[j] = uint64(v[j])
	}
	for _, s := range program {
		a, b, c, d := &v[s.a], &v[s.b], &v[s.c], &v[s.d]
		switch s.kind {
		case 0, 1, 2:
			*a = *a*s.k + *b
		case 3, 4:
			*a ^= *b >> s.shift
		case 5, 6:
			*a += *b<<s.shift | *b>>(32-s.shift)
		case 7, 8:
			*a += (*b & 255) * (*c & 4095) // exact in float32
		case 9, 10:
			q[s.q] = q[s.q]*6364136223846793005 + uint64(*b)
			*a ^= uint32(q[s.q] >> (16 + s.shift/2))
		case 11:
			if *a&(1<<(s.shift%12)) != 0 {
				*b += s.k
				*c ^= *d
			} else {
				*d -= *a
			}
		case 12:
			for k := uint32(0); k < *a&3; k++ {
				*b = *b*5 + *c
			}
		case 13:
			if *b > *c {
				*a = *d
			} else {
				*a++
			}
		case 14:
			*a += in[*b&mask]
		case 15:
			*a = *b&*c ^ ^*b&*d
		}
	}
	r := uint32(0)
	for _, x := range v {
		r = r*31 + x
	}
	for _, x := range q {
		r ^= uint32(x) ^ uint32(x>>32)
	}
	return r
}
