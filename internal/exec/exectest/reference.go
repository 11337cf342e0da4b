package exectest

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math/bits"

	"github.com/gocuda/cuda/internal/ptx/check"
)

// Reference runs the kernel of a generated Program thread by thread, straight from the checked instructions in source
// order: no warps, no lowering, no sharing of rows. It knows the instructions that Generate uses.
type Reference struct {
	m     *check.Module
	limit int // steps left

	// Memory of the grid: what the kernel stored, and the sum.
	Out   map[uint64]uint32
	Total uint32
}

// NewReference makes a reference run of a module's kernel k.
func NewReference(m *check.Module) *Reference {
	return &Reference{m: m, limit: 20_000_000, Out: map[uint64]uint32{}}
}

// errTooLong is the error of a program that runs for too many steps.
var errTooLong = errors.New("the program takes too long")

// TooLong says whether a run was given up for its length.
func TooLong(err error) bool { return errors.Is(err, errTooLong) }

// thread is one thread of a block.
type thread struct {
	id     uint32
	frame  *frame
	at     *check.Inst // where it waits; nil when it can run
	done   bool
	local  map[uint64]uint32
	nlocal uint64
}

// frame is a function under way.
type frame struct {
	f     *check.Func
	pc    int
	regs  map[*check.Var]uint64
	param map[*check.Var]uint64
	base  uint64 // of its local variables
	call  *check.Inst
	up    *frame
}

// block is the state of one CTA.
type block struct {
	*Reference
	index, size uint32
	threads     []*thread
	shared      map[uint64]uint32
}

const sharedBase = 0x400

// Addresses of the parameters in the reference run.
const (
	outBase   = 1 << 40
	totalBase = 1 << 41
)

// Word returns out[i].
func (r *Reference) Word(i int) uint32 { return r.Out[outBase+4*uint64(i)] }

// Run runs a grid.
func (r *Reference) Run(grid, size uint32) error {
	var k *check.Func
	for _, f := range r.m.Funcs {
		if f.Name == "k" {
			k = f
		}
	}
	for i := range grid {
		b := &block{Reference: r, index: i, size: size, shared: map[uint64]uint32{}}
		for t := range size {
			f := &frame{f: k, regs: map[*check.Var]uint64{}, param: map[*check.Var]uint64{}}
			f.param[k.Params[0]], f.param[k.Params[1]] = outBase, totalBase
			b.threads = append(b.threads, &thread{id: t, frame: f, local: map[uint64]uint32{}})
		}
		if err := b.run(); err != nil {
			return err
		}
	}
	return nil
}

func (b *block) run() error {
	for {
		live := false
		for _, t := range b.threads {
			for !t.done && t.at == nil {
				if err := b.step(t); err != nil {
					return err
				}
			}
			live = live || !t.done
		}
		if !live {
			return nil
		}
		if !b.meet() {
			return errors.New("reference: the program waits for ever")
		}
	}
}

// meet lets go those who all wait for each other.
func (b *block) meet() (some bool) {
	// Barriers: all threads that have not exited.
	byID := map[uint64][]*thread{}
	live := 0
	for _, t := range b.threads {
		if t.done {
			continue
		}
		live++
		if isBarrier(t.at) {
			id := b.barrier(t)
			byID[id] = append(byID[id], t)
		}
	}
	for _, ts := range byID {
		if len(ts) < live {
			continue
		}
		n := uint64(0)
		for _, t := range ts {
			if in := t.at; len(in.Args) == 3 && b.value(t, &in.Args[2]) != 0 {
				n++
			}
		}
		for _, t := range ts {
			if len(t.at.Args) == 3 {
				t.set(&t.at.Args[0], n)
			}
			t.at = nil
			t.frame.pc++
		}
		return true
	}
	for i, t := range b.threads {
		if t.done || t.at == nil || isBarrier(t.at) {
			continue
		}
		mask := uint32(b.value(t, &t.at.Args[len(t.at.Args)-1]))
		w := b.threads[i&^31 : min(len(b.threads), i&^31+32)]
		var group []*thread
		lanes := uint32(0)
		whole := true
		for l, u := range w {
			if mask>>l&1 == 0 || u.done {
				continue
			}
			if u.at != t.at || uint32(b.value(u, &u.at.Args[len(u.at.Args)-1])) != mask {
				whole = false
				break
			}
			group = append(group, u)
			lanes |= 1 << l
		}
		if whole && len(group) > 0 {
			b.together(t.at, group)
			some = true
		}
	}
	return some
}

func isBarrier(in *check.Inst) bool {
	if in.AST.Name == "barrier" {
		return true
	}
	return in.AST.Name == "bar" && !in.Match.Has("warp")
}

func (b *block) barrier(t *thread) uint64 {
	in := t.at
	if in.Match.Has("red") {
		return b.value(t, &in.Args[1])
	}
	return b.value(t, &in.Args[0])
}

// together performs a warp operation for its group.
func (b *block) together(in *check.Inst, group []*thread) {
	results := make([]uint64, len(group))
	if in.AST.Name != "bar" {
		vals := make([]uint64, len(group))
		for i, t := range group {
			vals[i] = b.value(t, &in.Args[1])
		}
		for i := range group {
			switch in.AST.Name {
			case "vote":
				for j, t := range group {
					results[i] |= (vals[j] & 1) << (t.id & 31)
				}
			case "match":
				for j, t := range group {
					if vals[j] == vals[i] {
						results[i] |= 1 << (t.id & 31)
					}
				}
			case "redux":
				v := uint32(vals[0])
				for _, x := range vals[1:] {
					switch in.Match.One("add", "min", "max") {
					case "add":
						v += uint32(x)
					case "min":
						v = min(v, uint32(x))
					default:
						v = max(v, uint32(x))
					}
				}
				results[i] = uint64(v)
			}
		}
	}
	for i, t := range group {
		if in.AST.Name != "bar" {
			t.set(&in.Args[0], results[i])
		}
		t.at = nil
		t.frame.pc++
	}
}

func (t *thread) set(a *check.Arg, v uint64) {
	if a.Kind != check.ArgReg {
		return
	}
	switch n := a.Var.Type.Bits; {
	case n == 1:
		v &= 1
	case n < 64:
		v &= 1<<n - 1
	}
	t.frame.regs[a.Var] = v
}

func (b *block) value(t *thread, a *check.Arg) uint64 {
	switch a.Kind {
	case check.ArgReg:
		v := t.frame.regs[a.Var]
		if a.Neg {
			v ^= 1
		}
		return v
	case check.ArgImm:
		return a.Imm
	case check.ArgSReg:
		switch a.Name {
		case "%tid.x":
			return uint64(t.id)
		case "%ntid.x":
			return uint64(b.size)
		case "%ctaid.x":
			return uint64(b.index)
		case "%laneid":
			return uint64(t.id & 31)
		}
	case check.ArgSym:
		if a.Func != nil {
			return uint64(a.Func.Index) + 1
		}
		if a.Var.Space == "shared" {
			return sharedBase
		}
		return t.frame.base
	}
	panic(fmt.Sprintf("reference: operand %+v", a))
}

// step runs one instruction.
func (b *block) step(t *thread) error {
	if b.limit--; b.limit < 0 {
		return errTooLong
	}
	f := t.frame
	if f.pc >= len(f.f.Insts) {
		return errors.New("reference: ran past the end")
	}
	in := &f.f.Insts[f.pc]
	if in.Guard != nil && (f.regs[in.Guard] != 0) == in.Neg {
		f.pc++
		return nil
	}
	arg := func(i int) uint64 { return b.value(t, &in.Args[i]) }
	u := func(i int) uint32 { return uint32(arg(i)) }
	word := func(v uint32) { t.set(&in.Args[0], uint64(v)) }
	truth := func(c bool) uint64 {
		if c {
			return 1
		}
		return 0
	}
	switch name := in.AST.Name; name {
	case "bar", "barrier", "vote", "match", "redux":
		t.at = in
		return nil
	case "mov":
		t.set(&in.Args[0], arg(1))
	case "add":
		word(u(1) + u(2))
	case "sub":
		word(u(1) - u(2))
	case "mul":
		word(u(1) * u(2))
	case "mad":
		if in.Match.Has("wide") {
			t.set(&in.Args[0], uint64(u(1))*uint64(u(2))+arg(3))
		} else {
			word(u(1)*u(2) + u(3))
		}
	case "rem":
		word(u(1) % u(2))
	case "xor":
		word(u(1) ^ u(2))
	case "and":
		word(u(1) & u(2))
	case "or":
		word(u(1) | u(2))
	case "not":
		word(^u(1))
	case "min":
		word(min(u(1), u(2)))
	case "max":
		word(max(u(1), u(2)))
	case "shl":
		word(u(1) << u(2))
	case "shr":
		word(u(1) >> u(2))
	case "cvt":
		t.set(&in.Args[0], arg(1))
	case "selp":
		v := arg(2)
		if arg(3) != 0 {
			v = arg(1)
		}
		t.set(&in.Args[0], v)
	case "setp":
		x, y := u(1), u(2)
		c := map[string]bool{"lt": x < y, "ge": x >= y, "eq": x == y, "ne": x != y, "gt": x > y,
			"le": x <= y}[in.Match.One("lt", "ge", "eq", "ne", "gt", "le")]
		v := truth(c)
		if in.Match.Has("and") {
			v &= arg(3)
		}
		t.set(&in.Args[0], v)
	case "bra":
		f.pc = in.Args[0].Label.Inst
		return nil
	case "brx":
		f.pc = in.Args[1].Table.Labels[arg(0)].Inst
		return nil
	case "exit":
		t.done = true
		return nil
	case "ret":
		b.ret(t)
		return nil
	case "call":
		b.call(t, in)
		return nil
	case "ld", "st", "red":
		return b.memory(t, in)
	default:
		return fmt.Errorf("reference: the instruction %s", name)
	}
	f.pc++
	return nil
}

// lists returns the parts of a call: results, callee and arguments.
func lists(in *check.Inst) (rets, args []check.Arg, callee *check.Arg) {
	for i := range in.Args {
		a := &in.Args[i]
		switch {
		case a.Kind == check.ArgList && callee == nil:
			rets = a.Elems
		case a.Kind == check.ArgList:
			args = a.Elems
		case callee == nil && (a.Kind == check.ArgSym || a.Kind == check.ArgReg):
			callee = a
		}
	}
	return rets, args, callee
}

func (b *block) call(t *thread, in *check.Inst) {
	_, args, callee := lists(in)
	fn := callee.Func
	if callee.Kind == check.ArgReg {
		fn = b.m.Funcs[b.value(t, callee)-1]
	}
	g := &frame{f: fn, regs: map[*check.Var]uint64{}, param: map[*check.Var]uint64{}, call: in, up: t.frame,
		base: t.nlocal}
	for i := range args {
		p := fn.Params[i]
		var v uint64
		if a := &args[i]; a.Kind == check.ArgSym {
			v = t.frame.param[a.Var]
		} else {
			v = b.value(t, a)
		}
		if p.Space == "reg" {
			g.regs[p] = v
		} else {
			g.param[p] = v
		}
	}
	t.nlocal += 64
	t.frame = g
}

func (b *block) ret(t *thread) {
	g := t.frame
	if g.up == nil {
		t.done = true
		return
	}
	rets, _, _ := lists(g.call)
	t.frame = g.up
	t.nlocal -= 64
	for i := range rets {
		p := g.f.Returns[i]
		v := g.param[p]
		if p.Space == "reg" {
			v = g.regs[p]
		}
		if a := &rets[i]; a.Kind == check.ArgSym {
			t.frame.param[a.Var] = v
		} else {
			t.set(a, v)
		}
	}
	t.frame.pc++
}

func (b *block) memory(t *thread, in *check.Inst) error {
	mi, vi := 0, 1
	if in.AST.Name == "ld" {
		mi, vi = 1, 0
	}
	a, v := &in.Args[mi], &in.Args[vi]
	f := t.frame
	defer func() { f.pc++ }()
	if in.Match.Has("param") {
		p := a.Base.Var
		if in.AST.Name == "ld" {
			t.set(v, f.param[p])
		} else {
			f.param[p] = b.value(t, v)
		}
		return nil
	}
	addr := b.value(t, a.Base) + uint64(a.Off)
	mem := b.Out
	switch {
	case in.Match.Has("shared"):
		mem = b.shared
	case in.Match.Has("local"):
		mem = t.local
	}
	switch in.AST.Name {
	case "ld":
		t.set(v, uint64(mem[addr]))
	case "st":
		mem[addr] = uint32(b.value(t, v))
	default:
		if addr != totalBase {
			return fmt.Errorf("reference: red at %#x", addr)
		}
		b.Total += uint32(b.value(t, v))
	}
	return nil
}

// Compare says how what a device computed differs from the reference; "" when it does not.
func (r *Reference) Compare(out, total []byte) string {
	if len(r.Out) > len(out)/4 {
		return fmt.Sprintf("the reference stored %d words, out has %d", len(r.Out), len(out)/4)
	}
	bad, first := 0, -1
	words := Words(out)
	for i, got := range words {
		if got != r.Word(i) {
			if bad++; first < 0 {
				first = i
			}
		}
	}
	if bad > 0 {
		return fmt.Sprintf("%d of %d words differ, first out[%d] (thread %d): %#x, want %#x", bad, len(words), first,
			first/2, words[first], r.Word(first))
	}
	if got := binary.LittleEndian.Uint32(total); got != r.Total {
		return fmt.Sprintf("the sum is %#x, want %#x (%d bits differ)", got, r.Total, bits.OnesCount32(got^r.Total))
	}
	return ""
}
