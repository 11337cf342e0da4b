package interp

import (
	"math"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
)

// resolveVprintf is vprintf(format, arguments): it returns the number of arguments, -1 without a format.
func resolveVprintf(in *inst, op *ir.Op) error {
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			fmtAddr := argument(w, op, 0, i)
			if fmtAddr == 0 {
				result(w, op, i, 0xffffffff)
				continue
			}
			args := argument(w, op, 1, i)
			f := formatter{format: cstring(w, i, fmtAddr), read: func(off uint64, n uint32) uint64 {
				p := w.Ptr(ir.Generic, i, args+off, n, n, false)
				if n == 8 {
					return *(*uint64)(p)
				}
				return uint64(*(*uint32)(p))
			}, str: func(addr uint64) string { return cstring(w, i, addr) }}
			f.print()
			if s := w.CTA.Launch.Sys; s != nil {
				s.Printf(f.out)
			}
			result(w, op, i, uint64(f.count))
		}
	}
	return nil
}

// formatter prints as the driver does: C's conversions without z, t and j, with * for the width but not for the
// precision; what it does not understand comes out as it stands (recorded on an H200).
//
// The driver's printer sees a copy of the arguments with the format's text right behind it, and takes %hhd and its kin
// for eight bytes although it prints four; so conversions after them read at the wrong place, the last ones in the
// format text (recorded too).
type formatter struct {
	format string
	off    uint64 // of the next argument
	end    uint64 // of the arguments as the kernel stored them; 0 while that is being found out
	read   func(off uint64, n uint32) uint64
	str    func(addr uint64) string
	out    []byte
	count  int

	bytewise bool // a %hh conversion was met
}

// next reads an argument of n bytes at its natural alignment.
func (f *formatter) next(n uint32) uint64 {
	f.off = (f.off + uint64(n) - 1) &^ uint64(n-1)
	off := f.off
	f.off += uint64(n)
	f.count++
	if f.end == 0 {
		return f.read(off, n)
	}
	v := uint64(0)
	for i := uint32(0); i < n; i++ {
		at := off + uint64(i)
		b := uint64(0)
		switch {
		case at < f.end:
			b = f.read(at&^3, 4) >> (8 * (at & 3)) & 0xff
		case at-f.end < uint64(len(f.format)):
			b = uint64(f.format[at-f.end])
		}
		v |= b << (8 * i)
	}
	return v
}

// print prints. A format with %hh is gone through twice: first to learn how many bytes of arguments the kernel stored.
func (f *formatter) print() {
	f.run()
	if f.bytewise {
		count := f.count
		f.end, f.off, f.out, f.count = f.off, 0, nil, 0
		f.run()
		f.count = count
	}
}

// spec is one conversion.
type spec struct {
	minus, plus, space, alt, zero bool
	width, prec                   int // prec -1: none
	long                          int // 0, 1 l, 2 ll, -1 h, -2 hh
}

func (f *formatter) run() {
	s := f.format
	for i := 0; i < len(s); {
		if s[i] != '%' {
			j := strings.IndexByte(s[i:], '%')
			if j < 0 {
				j = len(s) - i
			}
			f.out = append(f.out, s[i:i+j]...)
			i += j
			continue
		}
		n := f.conversion(s[i:])
		if n == 0 { // not understood
			f.out = append(f.out, '%')
			n = 1
		}
		i += n
	}
}

// conversion prints the conversion that s begins with and returns its length, 0 when it is none.
func (f *formatter) conversion(s string) int {
	sp := spec{prec: -1}
	i := 1
	for ; i < len(s) && strings.IndexByte("-+ #0", s[i]) >= 0; i++ {
		switch s[i] {
		case '-':
			sp.minus = true
		case '+':
			sp.plus = true
		case ' ':
			sp.space = true
		case '#':
			sp.alt = true
		case '0':
			sp.zero = true
		}
	}
	star := false
	if i < len(s) && s[i] == '*' {
		star = true
		i++
	}
	for ; i < len(s) && s[i] >= '0' && s[i] <= '9' && sp.width < 1<<16; i++ {
		sp.width = sp.width*10 + int(s[i]-'0')
	}
	if i < len(s) && s[i] == '.' {
		sp.prec = 0
		for i++; i < len(s) && s[i] >= '0' && s[i] <= '9' && sp.prec < 1<<16; i++ {
			sp.prec = sp.prec*10 + int(s[i]-'0')
		}
	}
	for ; i < len(s) && (s[i] == 'l' || s[i] == 'h'); i++ {
		if s[i] == 'l' {
			sp.long++
		} else {
			sp.long--
		}
	}
	if i >= len(s) || strings.IndexByte("diouxXcsfFeEgGaAp%", s[i]) < 0 {
		return 0
	}
	if star {
		w := int(int32(f.next(4)))
		f.count--
		if w < 0 {
			sp.minus, w = true, -w
		}
		sp.width = min(w, 1<<16)
		f.count++
	}
	if sp.long == -2 && strings.IndexByte("diouxX", s[i]) >= 0 {
		f.bytewise = true
		if f.end != 0 {
			defer func() { f.off += 4 }()
		}
	}
	switch c := s[i]; c {
	case '%':
		f.out = append(f.out, '%')
	case 'd', 'i':
		v := int64(int32(0))
		if sp.long > 0 {
			v = int64(f.next(8))
		} else {
			v = int64(int32(f.next(4)))
		}
		switch sp.long {
		case -1:
			v = int64(int16(v))
		case -2:
			v = int64(int8(v))
		}
		neg := v < 0
		u := uint64(v)
		if neg {
			u = -u
		}
		f.integer(sp, strconv.FormatUint(u, 10), neg, "")
	case 'u', 'o', 'x', 'X':
		var u uint64
		if sp.long > 0 {
			u = f.next(8)
		} else {
			u = f.next(4)
		}
		switch sp.long {
		case -1:
			u = uint64(uint16(u))
		case -2:
			u = uint64(uint8(u))
		}
		base, prefix := 10, ""
		switch c {
		case 'o':
			base = 8
			if sp.alt && u != 0 {
				prefix = "0"
			}
		case 'x', 'X':
			base = 16
			if sp.alt && u != 0 {
				prefix = "0" + string(c)
			}
		}
		d := strconv.FormatUint(u, base)
		if c == 'X' {
			d = strings.ToUpper(d)
		}
		sp.plus, sp.space = false, false
		f.integer(sp, d, false, prefix)
	case 'c':
		f.pad(sp, string([]byte{byte(f.next(4))}))
	case 's':
		str := "(null)"
		if a := f.next(8); a != 0 {
			str = f.str(a)
		}
		if sp.prec >= 0 && sp.prec < len(str) {
			str = str[:sp.prec]
		}
		f.pad(sp, str)
	case 'p':
		if a := f.next(8); a == 0 {
			f.pad(sp, "(nil)")
		} else {
			f.pad(sp, "0x"+strconv.FormatUint(a, 16))
		}
	default:
		f.float(sp, c, math.Float64frombits(f.next(8)))
	}
	return i + 1
}

func (f *formatter) pad(sp spec, s string) {
	n := sp.width - len(s)
	if n > 0 && !sp.minus {
		f.out = append(f.out, strings.Repeat(" ", n)...)
	}
	f.out = append(f.out, s...)
	if n > 0 && sp.minus {
		f.out = append(f.out, strings.Repeat(" ", n)...)
	}
}

func (f *formatter) integer(sp spec, digits string, neg bool, prefix string) {
	if sp.prec == 0 && digits == "0" {
		digits = ""
	}
	if n := sp.prec - len(digits); n > 0 {
		digits = strings.Repeat("0", n) + digits
	}
	sign := ""
	switch {
	case neg:
		sign = "-"
	case sp.plus:
		sign = "+"
	case sp.space:
		sign = " "
	}
	if sp.zero && !sp.minus && sp.prec < 0 {
		if n := sp.width - len(sign) - len(prefix) - len(digits); n > 0 {
			digits = strings.Repeat("0", n) + digits
		}
	}
	f.pad(sp, sign+prefix+digits)
}

func (f *formatter) float(sp spec, c byte, v float64) {
	sign := ""
	switch {
	case math.Signbit(v):
		sign = "-"
	case sp.plus:
		sign = "+"
	case sp.space:
		sign = " "
	}
	upper := c == 'F' || c == 'E' || c == 'G' || c == 'A'
	body := ""
	switch {
	case math.IsNaN(v):
		body, sp.zero = "nan", false
	case math.IsInf(v, 0):
		body, sp.zero = "inf", false
	default:
		body = cFloat(math.Abs(v), c|0x20, sp.prec, sp.alt)
	}
	if upper {
		body = strings.ToUpper(body)
	}
	if sp.zero && !sp.minus {
		if n := sp.width - len(sign) - len(body); n > 0 {
			if strings.HasPrefix(body, "0x") || strings.HasPrefix(body, "0X") {
				body = body[:2] + strings.Repeat("0", n) + body[2:]
			} else {
				body = strings.Repeat("0", n) + body
			}
		}
	}
	f.pad(sp, sign+body)
}

// cFloat formats a finite number that is not negative as C's %f %e %g %a do.
func cFloat(v float64, c byte, prec int, alt bool) string {
	switch c {
	case 'f', 'e':
		if prec < 0 {
			prec = 6
		}
		s := strconv.FormatFloat(v, c, prec, 64)
		if alt && prec == 0 && c == 'f' {
			s += "."
		}
		return s
	case 'g':
		if prec < 0 {
			prec = 6
		}
		if prec == 0 {
			prec = 1
		}
		e := strconv.FormatFloat(v, 'e', prec-1, 64)
		x, _ := strconv.Atoi(e[strings.IndexByte(e, 'e')+1:])
		var s, tail string
		if x < -4 || x >= prec {
			i := strings.IndexByte(e, 'e')
			s, tail = e[:i], e[i:]
		} else {
			s = strconv.FormatFloat(v, 'f', prec-1-x, 64)
		}
		if !alt && strings.IndexByte(s, '.') >= 0 {
			s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
		}
		return s + tail
	}
	// C's %a writes the exponent without leading zeros and 0 as 0x0p+0.
	s := strconv.FormatFloat(v, 'x', prec, 64)
	i := strings.IndexByte(s, 'p')
	exp := s[i+2:]
	if len(exp) == 2 && exp[0] == '0' {
		exp = exp[1:]
	}
	return s[:i+2] + exp
}
