package lower

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/tileir"
)

// class is the kind of register that holds an element.
type class uint8

const (
	pred class = iota
	b16        // f16, bf16
	b32        // integers of up to 32 bits, sign-extended; f32, tf32; f8 and f4, zero-extended
	b64
	classes
)

var (
	classType   = [classes]string{".pred", ".b16", ".b32", ".b64"}
	classPrefix = [classes]string{"%p", "%h", "%r", "%rd"}
)

// reg is an operand of an instruction: a register or a number.
type reg struct {
	text  string
	class class
	imm   bool
	v     int64 // of a number
	level int   // the scope in which the register is written
}

func (r reg) zero() bool { return r.imm && r.v == 0 }

func number(c class, v int64) reg {
	return reg{text: strconv.FormatInt(v, 10), class: c, imm: true, v: v}
}

// scope is text that is executed once, once for each turn of a loop, or under a condition.
type scope struct {
	text  bytes.Buffer
	memo  map[string]reg // instructions that only compute
	fixed bool           // nothing is moved out of it
	// values are the elements that a walk has computed.
	values map[memoKey]reg
}

// memoKey names an element of a value.
type memoKey struct {
	v   *tileir.Val
	key string
}

// emitter writes instructions. Those that only compute are written once for equal operands, and in the outermost scope
// in which their operands are known.
type emitter struct {
	scopes []*scope
	regs   [classes]int
	labels int
}

func newEmitter() *emitter {
	e := &emitter{}
	e.push(true)
	return e
}

func (e *emitter) level() int { return len(e.scopes) - 1 }

func (e *emitter) push(fixed bool) {
	e.scopes = append(e.scopes, &scope{memo: map[string]reg{}, fixed: fixed})
}

// pop ends a scope and puts its text behind that of the one around it.
func (e *emitter) pop() {
	s := e.scopes[e.level()]
	e.scopes = e.scopes[:e.level()]
	e.top().text.Write(s.text.Bytes())
}

func (e *emitter) top() *scope { return e.scopes[e.level()] }

// line writes a line in the innermost scope.
func (e *emitter) line(format string, args ...any) {
	b := &e.top().text
	b.WriteByte('\t')
	fmt.Fprintf(b, format, args...)
	b.WriteString(";\n")
}

// raw writes text in the innermost scope.
func (e *emitter) raw(s string) { e.top().text.WriteString(s) }

func (e *emitter) label() string {
	e.labels++
	return "$L" + strconv.Itoa(e.labels)
}

func (e *emitter) bind(l string) { e.top().text.WriteString(l + ":\n") }

// fresh gives a new register; it belongs to the innermost scope.
func (e *emitter) fresh(c class) reg {
	e.regs[c]++
	return reg{text: classPrefix[c] + strconv.Itoa(e.regs[c]), class: c, level: e.level()}
}

// op writes an instruction that only computes.
func (e *emitter) op(c class, name string, args ...reg) reg { return e.opAt(0, c, name, args...) }

// opAt is op for an instruction that is not moved out of the scope of a level.
func (e *emitter) opAt(level int, c class, name string, args ...reg) reg {
	var key strings.Builder
	key.WriteString(name)
	for _, a := range args {
		key.WriteByte(' ')
		key.WriteString(a.text)
		if !a.imm {
			level = max(level, a.level)
		}
	}
	k := key.String()
	for l, known := e.level(), level; l >= known; l-- {
		if r, ok := e.scopes[l].memo[k]; ok {
			return r
		}
		if e.scopes[l].fixed {
			level = max(level, l)
		}
	}
	r := e.fresh(c)
	r.level = level
	s := e.scopes[level]
	s.memo[k] = r
	b := &s.text
	b.WriteByte('\t')
	b.WriteString(name)
	b.WriteByte(' ')
	b.WriteString(r.text)
	for _, a := range args {
		b.WriteString(", ")
		b.WriteString(a.text)
	}
	b.WriteString(";\n")
	return r
}

// loop writes a loop of n turns, or its body alone when there is one.
func (e *emitter) loop(n int64, body func(i reg)) {
	if n == 1 {
		body(number(b32, 0))
		return
	}
	e.loopFrom(0, n, body)
}

// loopFrom writes a loop that counts from first to n-1.
func (e *emitter) loopFrom(first, n int64, body func(i reg)) {
	i := e.fresh(b32)
	e.line("mov.b32 %s, %d", i.text, first)
	l := e.label()
	e.push(false)
	i.level = e.level()
	body(i)
	p := e.fresh(pred)
	e.line("add.s32 %s, %s, 1", i.text, i.text)
	e.line("setp.lt.u32 %s, %s, %d", p.text, i.text, n)
	e.line("@%s bra.uni %s", p.text, l)
	e.closeLoop(l)
}

// closeLoop ends the scope of a loop with its label in front.
func (e *emitter) closeLoop(l string) {
	s := e.top()
	e.scopes = e.scopes[:e.level()]
	e.bind(l)
	e.top().text.Write(s.text.Bytes())
}

// inner runs f in a scope of its own that nothing leaves.
func (e *emitter) inner(f func()) {
	e.push(true)
	f()
	e.pop()
}

// mutable gives a register that is written more than once, with its first value.
func (e *emitter) mutable(from reg) reg {
	r := e.fresh(from.class)
	e.move(r, from)
	return r
}

func (e *emitter) move(to, from reg) {
	if to.class == pred && from.imm {
		// mov.pred takes no number.
		e.line("setp.ne.b32 %s, %s, 0", to.text, from.text)
		return
	}
	e.line("mov%s %s, %s", classType[to.class], to.text, from.text)
}

// Integer arithmetic on addresses and indices, with numbers folded. w is 32 or 64.

func classOf(w int) class {
	if w == 64 {
		return b64
	}
	return b32
}

func (e *emitter) add(w int, a, b reg) reg {
	switch {
	case a.imm && b.imm:
		return number(classOf(w), a.v+b.v)
	case a.zero():
		return b
	case b.zero():
		return a
	case a.imm:
		a, b = b, a
	}
	return e.op(classOf(w), "add.s"+strconv.Itoa(w), a, b)
}

func (e *emitter) sub(w int, a, b reg) reg {
	switch {
	case a.imm && b.imm:
		return number(classOf(w), a.v-b.v)
	case b.zero():
		return a
	}
	return e.op(classOf(w), "sub.s"+strconv.Itoa(w), a, b)
}

func (e *emitter) mul(w int, a, b reg) reg {
	if a.imm {
		a, b = b, a
	}
	switch {
	case a.imm:
		return number(classOf(w), a.v*b.v)
	case b.imm && b.v == 0:
		return b
	case b.imm && b.v == 1:
		return a
	case b.imm && b.v > 0 && b.v&(b.v-1) == 0:
		n := int64(0)
		for b.v>>n > 1 {
			n++
		}
		return e.op(classOf(w), "shl.b"+strconv.Itoa(w), a, number(b32, n))
	}
	return e.op(classOf(w), "mul.lo.s"+strconv.Itoa(w), a, b)
}

// wide extends 32 bits to 64, with the sign.
func (e *emitter) wide(a reg) reg {
	if a.imm {
		return number(b64, a.v)
	}
	return e.op(b64, "cvt.s64.s32", a)
}

// and of predicates; no register stands for true.
func (e *emitter) both(a, b *reg) *reg {
	switch {
	case a == nil:
		return b
	case b == nil || a.text == b.text:
		return a
	}
	r := e.op(pred, "and.pred", *a, *b)
	return &r
}

// Numbers of elements.

// ivar is something whose bits make up the number of an element.
type ivar struct {
	r     reg
	width int // it has no bits from here on
}

// ibit is a bit of the number of an element: a bit of a variable, or a constant.
type ibit struct {
	v   *ivar
	bit uint8
	one bool
}

// index is the number of an element in a tile, from its lowest bit on.
type index []ibit

// key tells indices apart.
func (ix index) key() string {
	var b []byte
	for _, x := range ix {
		switch {
		case x.v != nil:
			b = append(b, x.v.r.text...)
			b = append(b, '.')
			b = strconv.AppendInt(b, int64(x.bit), 10)
		case x.one:
			b = append(b, '1')
		default:
			b = append(b, '0')
		}
		b = append(b, ' ')
	}
	return string(b)
}

// constantIndex is the number of a known element.
func constantIndex(v int64, bits int) index {
	ix := make(index, bits)
	for i := range ix {
		ix[i].one = v>>i&1 != 0
	}
	return ix
}

// pieces takes an index apart: registers whose sum is its part that varies, outermost scope first, and the rest.
func (e *emitter) pieces(ix index) (parts []reg, rest int64) {
	for i := 0; i < len(ix); {
		x := ix[i]
		if x.v == nil {
			if x.one {
				rest += 1 << i
			}
			i++
			continue
		}
		n := 1
		for i+n < len(ix) && ix[i+n].v == x.v && int(ix[i+n].bit) == int(x.bit)+n {
			n++
		}
		r := x.v.r
		if x.bit > 0 {
			r = e.op(b32, "shr.u32", r, number(b32, int64(x.bit)))
		}
		if int(x.bit)+n < x.v.width {
			r = e.op(b32, "and.b32", r, number(b32, 1<<n-1))
		}
		parts = append(parts, e.mul(32, r, number(b32, 1<<i)))
		i += n
	}
	sortByLevel(parts)
	return parts, rest
}

// linear gives an index as a register, without the number that is to be added.
func (e *emitter) linear(ix index) (r reg, rest int64) {
	parts, rest := e.pieces(ix)
	r = number(b32, 0)
	for _, p := range parts {
		r = e.add(32, r, p)
	}
	return r, rest
}

// value gives an index as a register.
func (e *emitter) value(ix index) reg {
	r, rest := e.linear(ix)
	return e.add(32, r, number(b32, rest))
}

// sortByLevel puts registers in the order of their scopes, outermost first.
func sortByLevel(rs []reg) {
	slices.SortStableFunc(rs, func(a, b reg) int { return a.level - b.level })
}
