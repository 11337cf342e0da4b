package interp

import (
	"math/bits"
	"slices"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// What a checked kernel tells the checker of its operations. Each handler is wrapped when the kernel is prepared, so
// that kernels without checks run as they are. Addresses are taken before an operation, which may write to the register
// that holds them, and told after it: an access that faults is none.

// instrument wraps the handler of a function's operation that the checker has to know of.
func instrument(in *inst, s *same, at int, site uint32, ids *uint32) {
	op := &s.f.Ops[at]
	if op.Ctl != ir.Plain {
		return
	}
	o := &checker.Op{Site: site, ID: *ids, Size: 1, Count: 1}
	if op.Effect() != optab.MemNone {
		*ids += 2 // of global and of shared memory
	}
	in.told = &Told{lanes: 1<<32 - 1}
	switch op.Opcode() {
	case optab.OpLd, optab.OpLdu:
		o.Does = checker.Reads
		checkAccess(in, op, o, &op.Args[1], &op.Args[0])
	case optab.OpSt:
		o.Does = checker.Writes
		o.Same, o.Fixed = s.value(at, &op.Args[1])
		checkAccess(in, op, o, &op.Args[0], &op.Args[1])
	case optab.OpAtom, optab.OpRed, optab.OpAtomVec:
		checkAtom(in, op, o)
	case optab.OpLdmatrix:
		o.Does = checker.Reads
		checkTraced(in, o)
		in.told.rows(op, &op.Args[1], &op.Args[0], o)
	case optab.OpStmatrix:
		o.Does = checker.Writes
		checkTraced(in, o)
		in.told.rows(op, &op.Args[0], &op.Args[1], o)
	case optab.OpFence:
		checkFence(in, op)
	case optab.OpBarWarp:
		checkWarpSync(in)
	case optab.OpGriddepcontrol:
		if hasWord(op, "wait") {
			before(in, func(w *exec.Warp, m uint32) { w.CTA.Check().Awaits(w.Index, m) })
		}
	case optab.OpBarrierClusterArrive:
		relaxed := op.Mods().Sem == optab.SemRelaxed
		before(in, func(w *exec.Warp, m uint32) { w.CTA.Check().ClusterArrive(w.Index, m, !relaxed) })
	case optab.OpMbarrierInit, optab.OpMbarrierInval, optab.OpMbarrierExpectTx, optab.OpMbarrierCompleteTx,
		optab.OpMbarrierArrive,
		optab.OpMbarrierArriveDrop, optab.OpCpAsyncMbarrierArrive:
		checkMbarrier(in, op, o)
	case optab.OpMbarrierTestWait, optab.OpMbarrierTryWait:
		checkMbarrierWait(in, op, o)
	case optab.OpCpAsync:
		checkAsync(in, op, o, checker.WorkCopy)
	case optab.OpCpAsyncBulk, optab.OpCpReduceAsyncBulk, optab.OpStAsync, optab.OpRedAsync, optab.OpTmaLoad,
		optab.OpTmaStore, optab.OpTmaReduce:
		checkAsync(in, op, o, checker.WorkBulk)
	case optab.OpWgmmaMma, optab.OpWgmmaSp:
		checkAsync(in, op, o, checker.WorkMatrix)
	case optab.OpCpAsyncCommitGroup, optab.OpCpAsyncWaitGroup:
		work := checker.WorkCopy
		if hasWord(op, "bulk") {
			work = checker.WorkBulk
		}
		checkGroups(in, op, work)
	case optab.OpWgmmaFence:
		checkGroups(in, op, checker.WorkMatrix)
	default:
		in.told = nil
	}
}

func hasWord(op *ir.Op, word string) bool { return slices.Contains(op.Match.Words, word) }

// before does f ahead of a handler.
func before(in *inst, f func(w *exec.Warp, m uint32)) {
	fn := in.fn
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		f(w, m)
		fn(w, in, m)
	}
}

// scopeOf is the scope of a strong operation or a fence; missing is what it has when none is written.
func scopeOf(op *ir.Op, missing checker.Scope) checker.Scope {
	switch op.Mods().Scope {
	case optab.ScopeCta:
		return checker.ScopeBlock
	case optab.ScopeCluster:
		return checker.ScopeCluster
	case optab.ScopeGpu:
		return checker.ScopeDevice
	case optab.ScopeSys:
		return checker.ScopeSystem
	}
	return missing
}

// order sets what the modifiers of an operation say of its order.
func order(o *checker.Op, op *ir.Op, strong bool) {
	m := op.Mods()
	if strong || m.Strong() {
		missing := checker.ScopeDevice
		if m.Sem == optab.SemVolatile || m.Mmio {
			missing = checker.ScopeSystem // as ld.relaxed.sys (PTX ISA 9.7.9.8)
		}
		o.Scope = scopeOf(op, missing)
	}
	o.Acquire = m.Sem == optab.SemAcquire || m.Sem == optab.SemAcqRel
	o.Release = m.Sem == optab.SemRelease || m.Sem == optab.SemAcqRel
}

// checkAccess is for loads and stores.
func checkAccess(in *inst, op *ir.Op, o *checker.Op, addr, value *ir.Arg) {
	ac := memoryAccess(op, addr, value, op.Mods().LastType())
	switch ac.space {
	case ir.Local, ir.Const, ir.KernelParam, ir.FrameParam: // a thread's own, or never written
		in.told = nil
		return
	}
	order(o, op, false)
	o.Size, o.Count, o.Stale = ac.size, uint32(len(ac.regs)), op.Mods().Nc
	ops := newSpaced(o)
	in.told.ac, in.told.ops = &ac, ops
	fn := in.fn
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var addrs [32]uint64
		ac.all(w, m, &addrs)
		fn(w, in, m)
		ops.tell(w, ac.space, m, m, &addrs)
	}
}

// all are the addresses of lanes.
func (ac *access) all(w *exec.Warp, m uint32, addrs *[32]uint64) {
	for ; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m) & 31
		addrs[l] = ac.at(w, l)
	}
}

// spaced is an operation by the space that its address turns out to lie in.
type spaced struct{ global, shared checker.Op }

func newSpaced(o *checker.Op) *spaced {
	s := &spaced{*o, *o}
	s.global.Space, s.shared.Space = "global", "shared"
	s.shared.ID++
	return s
}

// tell tells of the accesses of lanes.
func (s *spaced) tell(w *exec.Warp, space ir.Space, lanes, wrote uint32, addrs *[32]uint64) {
	b := w.CTA.Check()
	if space == ir.Global {
		b.Access(&s.global, w.Index, lanes, wrote, nil, addrs)
		return
	}
	if c, ok := oneMemory(w, space, lanes, addrs); ok {
		if c == nil {
			b.Access(&s.global, w.Index, lanes, wrote, nil, addrs)
		} else {
			b.Access(&s.shared, w.Index, lanes, wrote, c.Check(), addrs)
		}
		return
	}
	for lanes != 0 {
		first := bits.TrailingZeros32(lanes) & 31
		c, at, ok := w.Shared(space, addrs[first])
		if !ok {
			lanes &= lanes - 1
			continue
		}
		addrs[first] = at
		same := uint32(1) << first
		for k := lanes &^ same; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			if d, at, ok := w.Shared(space, addrs[l]); ok && c == d {
				addrs[l] = at
				same |= 1 << l
			}
		}
		lanes &^= same
		if c == nil {
			b.Access(&s.global, w.Index, same, wrote&same, nil, addrs)
		} else {
			b.Access(&s.shared, w.Index, same, wrote&same, c.Check(), addrs)
		}
	}
}

// oneMemory is Shared for lanes that all access the shared memory of one CTA, or global memory: addrs are made offsets
// in it.
func oneMemory(w *exec.Warp, space ir.Space, lanes uint32, addrs *[32]uint64) (c *exec.CTA, ok bool) {
	const window = 1 << 24 // of a CTA
	if lanes == 0 {
		return nil, false
	}
	first := addrs[bits.TrailingZeros32(lanes)&31]
	switch space {
	case ir.Generic:
		m := w.CTA.Launch.Mem
		for k := lanes; k != 0; k &= k - 1 {
			if addrs[bits.TrailingZeros32(k)&31]-m.Base < m.Special {
				return nil, false
			}
		}
		return nil, true
	case ir.Shared, ir.SharedCluster:
		for k := lanes; k != 0; k &= k - 1 {
			if addrs[bits.TrailingZeros32(k)&31]/window != first/window {
				return nil, false
			}
		}
		if c, _, ok = w.Shared(space, first); ok {
			for k := lanes; k != 0; k &= k - 1 {
				addrs[bits.TrailingZeros32(k)&31] %= window
			}
		}
		return c, ok
	}
	return nil, false
}

// checkAtom is for atom and red, lane by lane as they act.
func checkAtom(in *inst, op *ir.Op, o *checker.Op) {
	i := 0
	if op.Arg("d") != nil {
		i = 1
	}
	ac := memoryAccess(op, &op.Args[i], &op.Args[i+1], op.Type(0))
	order(o, op, true)
	o.Does = checker.Reads | checker.Writes
	o.Swap = op.Mods().Func == optab.FuncCas || op.Mods().Func == optab.FuncExch
	o.Size, o.Count = ac.size, uint32(len(ac.regs))
	var expected *ir.Arg
	if op.Mods().Func == optab.FuncCas && ac.size <= 8 {
		expected = op.Arg("b")
	}
	ops := newSpaced(o)
	if expected == nil {
		in.told.ac, in.told.ops, in.told.each = &ac, ops, o.Release || o.Acquire
	}
	fn := in.fn
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			lane := uint32(1) << l
			wrote := lane
			var addrs [32]uint64
			addrs[l] = ac.at(w, l)
			if expected != nil {
				old := loadElement(ac.pointer(w, l, true), ac.size, false)
				if old[0] != get(w, expected, l)&(^uint64(0)>>(64-8*ac.size)) {
					wrote = 0
				}
			}
			fn(w, in, lane)
			ops.tell(w, ac.space, lane, wrote, &addrs)
		}
	}
}

// traced runs an operation and keeps what it accesses.
type traced struct {
	space ir.Space
	lane  int
	addr  uint64
	p     unsafe.Pointer
	size  uint32
	write bool
	was   uint64 // of eight bytes, before
}

func trace(w *exec.Warp, run func()) (list []traced) {
	outer := w.Trace
	w.Trace = func(space ir.Space, lane int, addr uint64, p unsafe.Pointer, size uint32, write bool) {
		if outer != nil {
			outer(space, lane, addr, p, size, write)
		}
		t := traced{space: space, lane: lane, addr: addr, p: p, size: size, write: write}
		if size == 8 {
			t.was = *(*uint64)(p)
		}
		list = append(list, t)
	}
	run()
	w.Trace = outer
	return list
}

// checkTraced is for operations that access sixteen bytes for each lane.
func checkTraced(in *inst, o *checker.Op) {
	o.Size = 16
	ops := newSpaced(o)
	fn := in.fn
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for _, t := range trace(w, func() { fn(w, in, m) }) {
			var addrs [32]uint64
			addrs[t.lane&31] = t.addr
			ops.tell(w, t.space, 1<<(t.lane&31), 0, &addrs)
		}
	}
}

// rows makes the operation one whose addresses say it all, when each matrix has eight of them.
func (t *Told) rows(op *ir.Op, addr, value *ir.Arg, o *checker.Op) {
	if op.Mods().Shape != (optab.Shape{M: 8, N: 8}) || addr.Kind != ir.Addr {
		return
	}
	ac := memoryAccess(op, addr, value, op.Mods().LastType())
	t.ac, t.ops = &ac, newSpaced(o)
	t.lanes = uint32(1<<(8*len(ac.regs)) - 1)
}

// checkFence is for fence and membar.
func checkFence(in *inst, op *ir.Op) {
	switch {
	case hasWord(op, "proxy"):
		if hasWord(op, "async") {
			before(in, func(w *exec.Warp, m uint32) { w.CTA.Check().ProxyFence(w.Index, m) })
		}
		return
	case hasWord(op, "mbarrier_init"):
		before(in, func(w *exec.Warp, m uint32) { w.CTA.Check().Fence(w.Index, m, checker.ScopeCluster, false, true) })
		return
	}
	scope := scopeOf(op, checker.ScopeDevice)
	acquire, release := true, true
	switch op.Mods().Sem {
	case optab.SemAcquire:
		release = false
	case optab.SemRelease:
		acquire = false
	}
	before(in, func(w *exec.Warp, m uint32) { w.CTA.Check().Fence(w.Index, m, scope, acquire, release) })
}

// checkWarpSync is for bar.warp.sync.
func checkWarpSync(in *inst) {
	members := in.members
	before(in, func(w *exec.Warp, m uint32) {
		for m != 0 {
			l := bits.TrailingZeros32(m) & 31
			mask, same := in.mask, m
			if !in.uniform {
				masks := w.R32(members.Ref)
				mask, same = masks[l], 0
				for k := m; k != 0; k &= k - 1 {
					if j := bits.TrailingZeros32(k) & 31; masks[j] == mask {
						same |= 1 << j
					}
				}
			}
			m &^= same
			w.CTA.Check().WarpSync(w.Index, same, w.Partners(mask, same))
		}
	})
}

// target is the mbarrier that a lane's operand names.
func target(w *exec.Warp, a *access, l int) (b *checker.Block, at uint64, p *mbarrier) {
	c, at, ok := w.Shared(a.space, a.at(w, l))
	if !ok || c == nil {
		return nil, 0, nil
	}
	return c.Check(), at, mbarrierAt(w, a, l)
}

// tellObject tells of the access to an mbarrier itself.
func tellObject(w *exec.Warp, o *checker.Op, l int, b *checker.Block, at uint64) {
	var addrs [32]uint64
	addrs[l] = at
	w.CTA.Check().Access(o, w.Index, 1<<l, 1<<l, b, &addrs)
}

// objectOp is an access to an mbarrier: strong, unless it makes or ends one.
func objectOp(o *checker.Op, strong bool) {
	o.Size, o.Space, o.Does = 8, "shared", checker.Writes
	if strong {
		o.Does, o.Scope, o.Barrier = checker.Reads|checker.Writes, checker.ScopeSystem, true
	}
}

// checkMbarrier is for operations on mbarriers but the waits, lane by lane.
func checkMbarrier(in *inst, op *ir.Op, o *checker.Op) {
	a := place(op.Arg("a"))
	code := op.Opcode()
	making := code == optab.OpMbarrierInit || code == optab.OpMbarrierInval
	objectOp(o, !making)
	scope := scopeOf(op, checker.ScopeBlock)
	release := op.Mods().Sem != optab.SemRelaxed
	fn := in.fn
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			b, at, p := target(w, a, l)
			if b == nil {
				fn(w, in, 1<<l)
				continue
			}
			me := w.CTA.Check()
			tellObject(w, o, l, b, at)
			switch code {
			case optab.OpMbarrierInit, optab.OpMbarrierInval:
				b.ObjectInit(at)
			case optab.OpMbarrierArrive, optab.OpMbarrierArriveDrop:
				me.ObjectArrive(w.Index, l, b, at, scope, release)
			case optab.OpCpAsyncMbarrierArrive:
				me.ObjectCopies(w.Index, l, b, at)
			}
			was := *p
			fn(w, in, 1<<l)
			if (was^*p)&mbPhase != 0 && !making {
				b.ObjectFlip(at)
			}
		}
	}
}

// checkMbarrierWait is for test_wait and try_wait.
func checkMbarrierWait(in *inst, op *ir.Op, o *checker.Op) {
	a, phase := place(op.Arg("a")), op.Arg("b")
	objectOp(o, true)
	o.Does = checker.Reads
	scope := scopeOf(op, checker.ScopeBlock)
	acquire := op.Mods().Sem != optab.SemRelaxed
	parity := op.Mods().Parity
	ctl := in.ctl
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			b, at, p := target(w, a, l)
			if b == nil {
				continue
			}
			tellObject(w, o, l, b, at)
			waited := get(w, phase, l)
			if !parity {
				waited >>= 63
			}
			if uint64(*p)>>63 != waited&1 {
				w.CTA.Check().ObjectWait(w.Index, l, b, at, scope, acquire)
			}
		}
		return ctl(w, in, m, next)
	}
}

// checkGroups is for the groups of asynchronous operations.
func checkGroups(in *inst, op *ir.Op, work checker.Work) {
	read := hasWord(op, "read")
	all := hasWord(op, "wait_all")
	left := 0
	if a := op.Arg("a"); a != nil {
		left = int(min(a.Bits, 1<<20))
	}
	commit := hasWord(op, "commit_group")
	if !commit && !all && !hasWord(op, "wait_group") {
		return // wgmma.fence orders registers
	}
	before(in, func(w *exec.Warp, m uint32) {
		if work == checker.WorkMatrix { // the warp's, which lane 0 stands for
			if commit {
				w.CTA.Check().Commit(w.Index, 0, work)
			} else {
				w.CTA.Check().Wait(w.Index, 0, m, work, left, read, all)
			}
			return
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			if commit {
				w.CTA.Check().Commit(w.Index, l, work)
			} else {
				w.CTA.Check().Wait(w.Index, l, 1<<l, work, left, read, all)
			}
		}
	})
}

// checkAsync is for asynchronous operations, lane by lane: what they access is seen when they do.
func checkAsync(in *inst, op *ir.Op, o *checker.Op, work checker.Work) {
	var mbar *access
	if m := op.Arg("m"); m != nil && work == checker.WorkBulk {
		mbar = place(m)
	}
	code := op.Opcode()
	switch code {
	case optab.OpCpReduceAsyncBulk, optab.OpTmaReduce, optab.OpRedAsync:
		// relaxed, element by element (PTX ISA 9.7.9.25.4.2)
		o.Does, o.Scope = checker.Reads|checker.Writes, checker.ScopeDevice
		if o.Size = op.Mods().LastType().Bytes(); o.Size == 0 {
			o.Size = 4
		}
	}
	tensor := code == optab.OpTmaLoad || code == optab.OpTmaStore || code == optab.OpTmaReduce
	fn := in.fn
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		step := func(l int, mask uint32) {
			at := uint64(1)
			if mbar != nil {
				_, at, _ = w.Shared(mbar.space, mbar.at(w, l))
			}
			list := trace(w, func() { fn(w, in, mask) })
			var dst, src []checker.Range
			for i, t := range list {
				c, off, ok := w.Shared(t.space, t.addr)
				if !ok || tensor && i == 0 || mbar != nil && c != nil && t.size == 8 && off == at {
					continue
				}
				r := checker.Range{Addr: off, Size: t.size}
				if c != nil {
					r.Shared = c.Check()
				}
				to := &src
				if t.write {
					to = &dst
				}
				if n := len(*to); n > 0 && (*to)[n-1].Shared == r.Shared &&
					(*to)[n-1].Addr+uint64((*to)[n-1].Size) == r.Addr {
					(*to)[n-1].Size += r.Size
					continue
				}
				*to = append(*to, r)
			}
			me := w.CTA.Check()
			if mbar == nil {
				me.Async(o, w.Index, l, work, dst, src)
				return
			}
			for _, t := range list {
				c, off, ok := w.Shared(t.space, t.addr)
				if !ok || c == nil || t.size != 8 || off != at {
					continue
				}
				mine := dst
				if len(dst) > 1 { // of a multicast each CTA's own part
					mine = slices.DeleteFunc(slices.Clone(dst), func(r checker.Range) bool {
						return r.Shared != c.Check()
					})
				}
				me.ObjectWork(o, w.Index, l, c.Check(), off, mine, src)
				if (t.was^*(*uint64)(t.p))&mbPhase != 0 {
					c.Check().ObjectFlip(off)
				}
			}
		}
		if work == checker.WorkMatrix {
			step(0, m)
			return
		}
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			step(l, 1<<l)
		}
	}
}
