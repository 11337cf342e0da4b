package interp

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// initRun executes a wrapped operation.
type initRun func(u *undefined, w *exec.Warp, in *inst, m uint32)

// memory is for operations that access memory. Addresses are taken before the handler runs, and undefined bits moved
// after it.
func (t *initOp) memory() initRun {
	op := t.op
	switch t.rule {
	case ruleLoad:
		ac := memoryAccess(op, &op.Args[1], &op.Args[0], op.Mods().LastType())
		regs := t.elements(ac.regs)
		return func(u *undefined, w *exec.Warp, in *inst, m uint32) { t.load(u, w, in, m, &ac, regs) }
	case ruleStore:
		ac := memoryAccess(op, &op.Args[0], &op.Args[1], op.Mods().LastType())
		regs := t.elements(ac.regs)
		return func(u *undefined, w *exec.Warp, in *inst, m uint32) { t.store(u, w, in, m, &ac, regs) }
	case ruleAtomic:
		i := 0
		if op.Arg("d") != nil {
			i = 1
		}
		ac := memoryAccess(op, &op.Args[i], &op.Args[i+1], op.Type(0))
		regs := t.elements(ac.regs)
		return func(u *undefined, w *exec.Warp, in *inst, m uint32) { t.atomic(u, w, in, m, &ac, regs) }
	case ruleCopy:
		dst, src := place(op.Arg("a")), place(op.Arg("b"))
		return func(u *undefined, w *exec.Warp, in *inst, m uint32) { t.copy(u, w, in, m, dst, src) }
	case ruleFromMatrix:
		return t.fromMatrix
	case ruleToMatrix:
		return t.toMatrix
	}
	return t.traced
}

// elements are the registers that an access moves; row -1 for what is none.
func (t *initOp) elements(regs []*ir.Arg) (list []initArg) {
	for _, r := range regs {
		if r.Kind == ir.Row && r.Ref.Sel == 0 {
			list = append(list, t.rows.arg(r))
		} else {
			list = append(list, initArg{a: r, row: -1})
		}
	}
	return list
}

// addresses are those of lanes: of parameters of functions the offset in the frame.
func (ac *access) addresses(w *exec.Warp, m uint32, addrs *[32]uint64) {
	if ac.space != ir.FrameParam {
		ac.all(w, m, addrs)
		return
	}
	for ; m != 0; m &= m - 1 {
		l := first(m) & 31
		addrs[l] = uint64(ac.addr.Ref.Off) + uint64(l)*ac.addr.Bits + ac.disp
	}
}

// ranges calls f for the accesses of lanes; neighbours are one range.
func (u *undefined) ranges(w *exec.Warp, space ir.Space, m uint32, addrs *[32]uint64, n uint64,
	f func(b *checker.Bytes, at, n uint64, lanes uint32) bool) {
	g := u.b.LockGlobal()
	defer u.b.UnlockGlobal()
	var b *checker.Bytes
	var start, size uint64
	lanes := uint32(0)
	for ; m != 0; m &= m - 1 {
		l := first(m) & 31
		x, at, global := u.locate(w, space, l, addrs[l])
		if global {
			x = g
		}
		if x == nil {
			continue
		}
		switch {
		case lanes != 0 && x == b && at == start+size:
			size += n
		case lanes != 0 && x == b && at >= start && at+n <= start+size:
		default:
			if lanes != 0 && !f(b, start, size, lanes) {
				return
			}
			b, start, size, lanes = x, at, n, 0
		}
		lanes |= 1 << l
	}
	if lanes != 0 {
		f(b, start, size, lanes)
	}
}

// undefinedLanes are those whose bytes are not all defined.
func (u *undefined) undefinedLanes(
	w *exec.Warp, space ir.Space, m uint32, addrs *[32]uint64, n uint64,
) (some uint32) {
	switch space {
	case ir.Const, ir.KernelParam:
		return 0
	case ir.FrameParam:
		if u.of(w).slots == nil {
			return 0
		}
	}
	u.ranges(w, space, m, addrs, n, func(b *checker.Bytes, at, n uint64, lanes uint32) bool {
		if !b.Defined(at, n) {
			some |= lanes
		}
		return true
	})
	return some
}

// define makes the bytes of lanes defined.
func (u *undefined) define(w *exec.Warp, space ir.Space, m uint32, addrs *[32]uint64, n uint64) {
	if space == ir.FrameParam && u.of(w).slots == nil {
		return
	}
	u.ranges(w, space, m, addrs, n, func(b *checker.Bytes, at, n uint64, lanes uint32) bool {
		if !b.Defined(at, n) {
			b.SetRange(at, n, false)
		}
		return true
	})
}

func (t *initOp) load(u *undefined, w *exec.Warp, in *inst, m uint32, ac *access, regs []initArg) {
	f := u.of(w)
	t.address(u, w, f, m)
	var addrs [32]uint64
	ac.addresses(w, m, &addrs)
	t.fn(w, in, m)
	some := u.undefinedLanes(w, ac.space, m, &addrs, uint64(ac.total))
	f.define(t.dst, m)
	for ; some != 0; some &= some - 1 {
		l := first(some)
		for i := range regs {
			at := addrs[l] + uint64(i)*uint64(ac.size)
			v := u.load(w, ac.space, l, at, uint64(ac.size))
			if !v.Undefined() || regs[i].row < 0 {
				continue
			}
			if ac.space != ir.FrameParam {
				v.Origin = u.b.Loaded(t.site, w.Thread(l), u.spaceName(w, ac.space, at), at, ac.size, v.Origin)
			}
			if ac.signed && ac.size < 8 { // the sign is extended
				s := 64 - 8*ac.size
				v.Lo = uint64(int64(v.Lo<<s) >> s)
			}
			lo, hi := ones(regs[i].width)
			v.Lo, v.Hi = v.Lo&lo, v.Hi&hi
			f.rows[regs[i].row].set(l, v)
		}
	}
}

func (t *initOp) store(u *undefined, w *exec.Warp, in *inst, m uint32, ac *access, regs []initArg) {
	f := u.of(w)
	t.address(u, w, f, m)
	var addrs [32]uint64
	ac.addresses(w, m, &addrs)
	t.fn(w, in, m)
	some := f.any(t.src) & m
	if some == 0 {
		u.define(w, ac.space, m, &addrs, uint64(ac.total))
		return
	}
	if ac.space == ir.FrameParam && f.slots == nil {
		f.slots = checker.NewBytes(false)
	}
	mask, _ := ones(int(min(8*ac.size, 64)))
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		for i := range regs {
			v := checker.Value{}
			if regs[i].row >= 0 {
				v = f.rows[regs[i].row].at(l, regs[i].width)
				v.Lo &= mask
			}
			t.put(u, w, ac.space, l, addrs[l]+uint64(i)*uint64(ac.size), uint64(ac.size), v)
		}
	}
}

// put stores a lane's value. Results in memory that the program reads without a call are uses.
func (t *initOp) put(u *undefined, w *exec.Warp, space ir.Space, lane int, addr, n uint64, v checker.Value) {
	if v.Undefined() && v.Origin.Computed() {
		if _, at, global := u.locate(w, space, lane, addr); global && u.b.HostSees(at) {
			t.use(u, w, lane, "value written to memory that the host reads", v.Origin)
		}
	}
	u.store(w, space, lane, addr, n, v)
}

// atomic is for atom and red: the lanes act in their order.
func (t *initOp) atomic(u *undefined, w *exec.Warp, in *inst, m uint32, ac *access, regs []initArg) {
	f := u.of(w)
	t.address(u, w, f, m)
	var addrs [32]uint64
	ac.addresses(w, m, &addrs)
	some := f.any(t.src) & m
	var operands [32]checker.Value
	for k := some; k != 0; k &= k - 1 {
		l := first(k)
		o, _ := f.origin(t.src, l)
		operands[l] = wholly(64, o)
	}
	t.fn(w, in, m)
	f.define(t.dst, m)
	if some|u.undefinedLanes(w, ac.space, m, &addrs, uint64(ac.total)) == 0 {
		return
	}
	exchange := t.op.Mods().Func == optab.FuncExch
	for k := m; k != 0; k &= k - 1 {
		l := first(k)
		for i := range regs {
			at := addrs[l] + uint64(i)*uint64(ac.size)
			v := u.load(w, ac.space, l, at, uint64(ac.size))
			if v.Undefined() {
				v.Origin = u.b.Loaded(t.site, w.Thread(l), u.spaceName(w, ac.space, at), at, ac.size, v.Origin)
			}
			if i < len(t.dst) {
				f.rows[t.dst[i].row].set(l, v)
			}
			n := v
			switch {
			case exchange:
				n = operands[l]
				if regs[i].row >= 0 && n.Undefined() {
					n.Lo, n.Hi = ones(int(8 * ac.size))
				}
			case v.Undefined() || operands[l].Undefined():
				if !n.Undefined() || operands[l].Origin.Computed() {
					n.Origin = operands[l].Origin
				}
				n = wholly(int(8*ac.size), t.computed(u, w, l, n.Origin))
			}
			t.put(u, w, ac.space, l, at, uint64(ac.size), n)
		}
	}
}

// copy is cp.async: what is not copied is zero.
func (t *initOp) copy(u *undefined, w *exec.Warp, in *inst, m uint32, dst, src *access) {
	f := u.of(w)
	t.address(u, w, f, m)
	if some := f.any(t.src) & m; some != 0 {
		l := first(some)
		o, _ := f.origin(t.src, l)
		t.use(u, w, l, "size of a copy", o)
	}
	n := t.op.Arg("n").Bits
	s, ignore := t.op.Arg("s"), t.op.Arg("i")
	t.fn(w, in, m)
	skip := uint32(0)
	if ignore != nil {
		skip = pred(w, ignore)
	}
	var to, from [32]uint64
	dst.addresses(w, m, &to)
	src.addresses(w, m, &from)
	u.define(w, dst.space, m, &to, n)
	for k := m &^ skip; k != 0; k &= k - 1 {
		l := first(k)
		size := n
		if s != nil {
			size = min(uint64(uint32(get(w, s, l))), n)
		}
		if size == 0 {
			continue
		}
		if v := u.load(w, src.space, l, from[l], size); v.Undefined() {
			u.store(w, dst.space, l, to[l], size, v)
		}
	}
}

// traced is for operations whose accesses are seen when they are made. A bulk copy hands on what is undefined where it
// reads as many bytes as it writes, or several times as many; what others write counts as defined.
func (t *initOp) traced(u *undefined, w *exec.Warp, in *inst, m uint32) {
	f := u.of(w)
	t.address(u, w, f, m)
	code := t.op.Opcode()
	var res [][32]checker.Value
	if f.any(t.src)&m != 0 && len(t.dst) > 0 {
		res = t.transfer(u, w, m)
	}
	for k := m; k != 0; k &= k - 1 {
		lanes := k & -k
		if t.across || code == optab.OpWgmmaMma || code == optab.OpWgmmaSp {
			lanes, k = m, 1
		}
		list := trace(w, func() { t.fn(w, in, lanes) })
		var reads, writes []traced
		for _, x := range list {
			switch {
			case code == optab.OpCpAsyncBulk && x.size == 8 && x.space == ir.SharedCluster && x.write: // the mbarrier
				u.store(w, x.space, x.lane, x.addr, 8, checker.Value{})
			case x.write:
				writes = append(writes, x)
				u.store(w, x.space, x.lane, x.addr, uint64(x.size), checker.Value{})
			default:
				reads = append(reads, x)
			}
		}
		if code == optab.OpCpAsyncBulk && len(reads) == 1 {
			for _, x := range writes {
				u.copyRange(w, &x, &reads[0])
			}
		}
	}
	f.define(t.dst, m)
	for i, d := range t.dst {
		if res == nil {
			break
		}
		for k := m; k != 0; k &= k - 1 {
			f.rows[d.row].set(first(k), res[i][first(k)])
		}
	}
}

// copyRange makes what was written what was read.
func (u *undefined) copyRange(w *exec.Warp, dst, src *traced) {
	if dst.size != src.size {
		return
	}
	to, at, global := u.locate(w, dst.space, dst.lane, dst.addr)
	from, start, other := u.locate(w, src.space, src.lane, src.addr)
	g := u.b.LockGlobal()
	defer u.b.UnlockGlobal()
	if global {
		to = g
	}
	if other {
		from = g
	}
	if to != nil && from != nil {
		to.Copy(at, from, start, uint64(src.size))
	}
}

// fromMatrix is for matrices that a warp loads: the handler is run on the undefined bits.
func (t *initOp) fromMatrix(u *undefined, w *exec.Warp, in *inst, m uint32) {
	f := u.of(w)
	t.address(u, w, f, m)
	base := u.shadowFrame(t.sh.size)
	t.sh.fill(u, w, base, undefinedBits)
	list := trace(w, func() { t.fn(w, in, m) })
	f.define(t.dst, m)
	var origin checker.Origin
	var where *traced
	for i := range list {
		x := &list[i]
		for at := uint64(0); at < uint64(x.size); at += 16 {
			v := u.load(w, x.space, x.lane, x.addr+at, min(16, uint64(x.size)-at))
			if v.Undefined() && (where == nil || v.Origin.Computed()) {
				where, origin = x, v.Origin
			}
		}
	}
	if where == nil {
		return
	}
	name := u.spaceName(w, where.space, where.addr)
	origin = u.b.Loaded(t.site, w.Thread(where.lane), name, where.addr, where.size, origin)
	saved := make([][]byte, len(list))
	masks := make([][]byte, len(list))
	for i := range list {
		x := &list[i]
		saved[i] = append([]byte(nil), unsafe.Slice((*byte)(x.p), x.size)...)
		masks[i] = make([]byte, x.size)
		for at := uint64(0); at < uint64(x.size); at++ {
			masks[i][at] = byte(u.load(w, x.space, x.lane, x.addr+at, 1).Lo)
		}
	}
	for i := range list {
		copy(unsafe.Slice((*byte)(list[i].p), list[i].size), masks[i])
	}
	t.sh.run(w, base, m)
	for i := range list {
		copy(unsafe.Slice((*byte)(list[i].p), list[i].size), saved[i])
	}
	for i, d := range t.dst {
		for k := m; k != 0; k &= k - 1 {
			l := first(k)
			v := checker.Value{Origin: origin}
			v.Lo, v.Hi = t.sh.result(w, base, i, l)
			f.rows[d.row].set(l, v)
		}
	}
}

// toMatrix is for matrices that a warp stores.
func (t *initOp) toMatrix(u *undefined, w *exec.Warp, in *inst, m uint32) {
	f := u.of(w)
	t.address(u, w, f, m)
	some := f.any(t.src) & m
	list := trace(w, func() { t.fn(w, in, m) })
	for _, x := range list {
		u.store(w, x.space, x.lane, x.addr, uint64(x.size), checker.Value{})
	}
	if some == 0 {
		return
	}
	o, _ := f.origin(t.src, first(some))
	base := u.shadowFrame(t.sh.size)
	t.sh.fill(u, w, base, undefinedBits)
	saved := make([][]byte, len(list))
	for i := range list {
		saved[i] = append([]byte(nil), unsafe.Slice((*byte)(list[i].p), list[i].size)...)
	}
	t.sh.run(w, base, m)
	for i := range list {
		x := &list[i]
		b := unsafe.Slice((*byte)(x.p), x.size)
		for at := range b {
			if b[at] != 0 {
				t.put(u, w, x.space, x.lane, x.addr+uint64(at), 1, checker.Value{Lo: uint64(b[at]), Origin: o})
			}
		}
	}
	for i := range list {
		copy(unsafe.Slice((*byte)(list[i].p), list[i].size), saved[i])
	}
}
