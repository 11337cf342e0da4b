package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Undefined bits in registers, for exec.Launch.Init. Each handler is wrapped when the kernel is prepared. A wrapper
// takes the usual way when none of its sources has undefined bits: one mask of lanes for each register row says so.
// Else it finds the undefined bits of the results by a rule of the operation (initrule.go) before the handler runs,
// which may write to its sources.
//
// What is a use: the guard of a branch, of a call, or of what writes memory; an address; operands of barriers;
// arguments of printf. Other operations hand on what is undefined, and whether it is more than a copy.

// undefined is what is known of a warp (exec.Warp.Undefined).
type undefined struct {
	c       *code
	b       *checker.InitBlock
	local   *checker.Bytes // lane after lane
	frames  map[*exec.Activation]*undefinedFrame
	act     *exec.Activation // the one of frame
	frame   *undefinedFrame
	carry   undefinedRow // of the carry flag
	scratch []uint64     // a frame for rules that run handlers on undefined bits
	results [][32]checker.Value
}

// undefinedFrame is what is known of an activation.
type undefinedFrame struct {
	rows  []undefinedRow
	slots *checker.Bytes // parameter variables, by offset in the frame; nil: all defined
}

// undefinedRow is what is known of a register.
type undefinedRow struct {
	lanes uint32 // that have undefined bits
	more  *[32]checker.Value
}

// undefinedRows numbers the register rows of a function.
type undefinedRows struct {
	at    map[uint32]int32 // by offset
	width []uint8          // bits
}

func newUndefinedRows(f *ir.Func) *undefinedRows {
	r := &undefinedRows{at: map[uint32]int32{}}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Guard >= 0 {
			r.add(uint32(op.Guard), ir.WPred)
		}
		for j := range op.Args {
			registers(&op.Args[j], func(a *ir.Arg) { r.add(a.Ref.Off, a.Class) })
		}
		if c := op.Call; c != nil {
			if c.Pointer != nil {
				registers(c.Pointer, func(a *ir.Arg) { r.add(a.Ref.Off, a.Class) })
			}
			for _, l := range [][]ir.Copy{c.Args, c.Rets} {
				for j := range l {
					if l[j].Row != nil {
						registers(l[j].Row, func(a *ir.Arg) { r.add(a.Ref.Off, a.Class) })
					}
				}
			}
		}
	}
	for _, l := range [][]*ir.Arg{f.ParamRegs, f.RetRegs} {
		for _, a := range l {
			if a != nil {
				registers(a, func(a *ir.Arg) { r.add(a.Ref.Off, a.Class) })
			}
		}
	}
	return r
}

func (r *undefinedRows) add(off uint32, c ir.Class) {
	if _, ok := r.at[off]; !ok {
		r.at[off] = int32(len(r.width))
		r.width = append(r.width, [...]uint8{ir.W32: 32, ir.W64: 64, ir.W128: 128, ir.WPred: 1}[c])
	}
}

// registers calls f for every register of an operand.
func registers(a *ir.Arg, f func(a *ir.Arg)) {
	switch a.Kind {
	case ir.Row:
		f(a)
	case ir.Vec, ir.List:
		for i := range a.Elems {
			registers(&a.Elems[i], f)
		}
	case ir.Addr:
		if a.Base != nil {
			registers(a.Base, f)
		}
		for i := range a.Extra {
			registers(&a.Extra[i], f)
		}
	}
	if a.Second != nil {
		registers(a.Second, f)
	}
}

// ones are the lowest bits.
func ones(width int) (lo, hi uint64) {
	switch {
	case width >= 128:
		return ^uint64(0), ^uint64(0)
	case width > 64:
		return ^uint64(0), 1<<(width-64) - 1
	case width == 64:
		return ^uint64(0), 0
	}
	return 1<<width - 1, 0
}

// wholly is a value all of whose bits are undefined.
func wholly(width int, o checker.Origin) checker.Value {
	lo, hi := ones(width)
	return checker.Value{Lo: lo, Hi: hi, Origin: o}
}

// at is what is undefined of a lane.
func (r *undefinedRow) at(lane, width int) checker.Value {
	switch {
	case r.lanes>>lane&1 == 0:
		return checker.Value{}
	case r.more == nil:
		return wholly(width, 0)
	}
	v := r.more[lane]
	lo, hi := ones(width)
	v.Lo, v.Hi = v.Lo&lo, v.Hi&hi
	return v
}

func (r *undefinedRow) set(lane int, v checker.Value) {
	if !v.Undefined() {
		r.lanes &^= 1 << lane
		return
	}
	if r.more == nil {
		r.more = new([32]checker.Value)
		for m := r.lanes; m != 0; m &= m - 1 {
			r.more[bits.TrailingZeros32(m)] = wholly(128, 0)
		}
	}
	r.lanes |= 1 << lane
	r.more[lane] = v
}

// undefinedOf is what is known of a warp.
func undefinedOf(w *exec.Warp, c *code) *undefined {
	if u, ok := w.Undefined.(*undefined); ok {
		return u
	}
	u := &undefined{c: c, b: w.CTA.Init(), local: checker.NewBytes(true),
		frames: map[*exec.Activation]*undefinedFrame{}}
	w.Undefined = u
	u.enter(w.Act, w.Live)
	return u
}

// enter begins an activation.
func (u *undefined) enter(a *exec.Activation, lanes uint32) *undefinedFrame {
	f := u.frames[a]
	n := len(u.c.rows[a.Func.Index].width)
	if f == nil || cap(f.rows) < n {
		f = &undefinedFrame{rows: make([]undefinedRow, n)}
		u.frames[a] = f
	}
	f.rows, f.slots = f.rows[:n], nil
	for i := range f.rows {
		f.rows[i] = undefinedRow{lanes: lanes}
	}
	u.act, u.frame = a, f
	return f
}

// of is the frame of the running activation.
func (u *undefined) of(w *exec.Warp) *undefinedFrame {
	if u.act != w.Act {
		u.act, u.frame = w.Act, u.frames[w.Act]
	}
	return u.frame
}

// locate says where an address of a lane lies; nil: in memory all of which is defined. global says that it is global
// memory.
func (u *undefined) locate(w *exec.Warp, space ir.Space, lane int, addr uint64) (
	b *checker.Bytes, at uint64, global bool,
) {
	switch space {
	case ir.Global:
		return nil, addr, true
	case ir.Local:
		return u.local, uint64(lane)*uint64(w.LocalSize) + addr, false
	case ir.Const, ir.KernelParam:
		return nil, addr, false
	case ir.FrameParam:
		return u.of(w).slots, addr, false
	}
	c, at, ok := w.Shared(space, addr)
	switch {
	case ok && c != nil:
		return c.Init().Shared, at, false
	case ok:
		return nil, addr, true
	case space == ir.Generic:
		return u.local, uint64(lane)*uint64(w.LocalSize) + addr - w.CTA.Launch.Mem.Base - w.CTA.Launch.Mem.LocalOff,
			false
	}
	return nil, addr, false
}

// spaceName names the memory that an address lies in.
func (u *undefined) spaceName(w *exec.Warp, space ir.Space, addr uint64) string {
	switch space {
	case ir.Local:
		return "local"
	case ir.Generic, ir.Shared, ir.SharedCluster:
		switch c, _, ok := w.Shared(space, addr); {
		case c != nil:
			return "shared"
		case !ok:
			return "local"
		}
	}
	return "global"
}

// initOp is an operation as the wrapper sees it.
type initOp struct {
	c      *code
	op     *ir.Op
	site   uint32
	rows   *undefinedRows
	guard  int32 // row, -1 without
	src    []initArg
	addr   []initArg // registers of addresses
	dst    []initArg
	rule   rule
	effect bool // writes memory, or makes others wait
	across bool // a lane's result depends on other lanes
	whole  bool // does nothing unless all lanes execute it
	fn     handler
	sh     *shadowOp // how the rule runs handlers
	memo   struct{ from, to checker.Origin }
}

// initArg is a register operand.
type initArg struct {
	a     *ir.Arg
	row   int32
	width int
}

func (r *undefinedRows) arg(a *ir.Arg) initArg {
	n := r.at[a.Ref.Off]
	x := initArg{a, n, int(r.width[n])}
	if a.Width != 0 && int(a.Width) < x.width {
		x.width = int(a.Width)
	}
	return x
}

// watch wraps an operation.
func (c *code) watch(f int, in *inst, op *ir.Op, site uint32) error {
	t := &initOp{c: c, op: op, site: site, rows: c.rows[f], guard: -1, fn: in.fn}
	if op.Guard >= 0 {
		t.guard = t.rows.at[uint32(op.Guard)]
	}
	for i := range op.Args {
		a := &op.Args[i]
		add := func(l *[]initArg) func(a *ir.Arg) {
			return func(a *ir.Arg) {
				if a.Ref.Sel == 0 {
					*l = append(*l, t.rows.arg(a))
				}
			}
		}
		switch {
		case op.Written(i):
			registers(a, add(&t.dst))
			if op.Form().Acc {
				registers(a, add(&t.src))
			}
		case a.Kind == ir.Addr:
			if a.Base != nil {
				registers(a.Base, add(&t.addr))
			}
			for j := range a.Extra {
				registers(&a.Extra[j], add(&t.src))
			}
		default:
			registers(a, add(&t.src))
		}
	}
	switch in.kind {
	case branch, branchx, call, ret, exit:
		t.control(in)
		return nil
	case scheduling:
		t.scheduled(in)
		return nil
	case jump:
		return nil
	}
	if err := t.choose(); err != nil {
		return err
	}
	run := t.plain
	switch {
	case op.Ctl == ir.Call:
		run = t.builtin
	case t.rule >= ruleLoad:
		run = t.memory()
	}
	if t.guard < 0 || in.kind == syncing {
		in.fn = func(w *exec.Warp, in *inst, m uint32) { run(undefinedOf(w, c), w, in, m) }
		return nil
	}
	in.guard = -1
	guard, neg := op.Guard, op.Neg
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		u := undefinedOf(w, c)
		p := *(*uint32)(unsafe.Add(w.Base[0], guard))
		if neg {
			p = ^p
		}
		gate := &u.of(w).rows[t.guard]
		unknown := gate.lanes & m
		if unknown == 0 {
			if m &= p; m != 0 {
				run(u, w, in, m)
			}
			return
		}
		l := first(unknown)
		v := gate.at(l, 1)
		if t.effect {
			t.use(u, w, l, "predicate of a write or barrier", v.Origin)
		}
		o := t.computed(u, w, l, v.Origin)
		if m &= p; m != 0 {
			run(u, w, in, m)
		}
		for _, d := range t.dst { // whether they were written is not known
			for k := unknown; k != 0; k &= k - 1 {
				u.of(w).rows[d.row].set(first(k), wholly(d.width, o))
			}
		}
	}
	return nil
}

func (t *initOp) use(u *undefined, w *exec.Warp, lane int, what string, o checker.Origin) {
	u.b.Use(t.site, w.Thread(lane), what, o)
}

// computed is the origin of what the operation computes with undefined bits.
func (t *initOp) computed(u *undefined, w *exec.Warp, lane int, o checker.Origin) checker.Origin {
	if o.Computed() {
		return o
	}
	if t.memo.to == 0 || t.memo.from != o {
		t.memo.from, t.memo.to = o, u.b.Computed(t.site, w.Thread(lane), o)
	}
	return t.memo.to
}

// any are the lanes of m with undefined bits in operands.
func (f *undefinedFrame) any(l []initArg) (lanes uint32) {
	for i := range l {
		lanes |= f.rows[l[i].row].lanes
	}
	return lanes
}

func (f *undefinedFrame) define(l []initArg, m uint32) {
	for i := range l {
		f.rows[l[i].row].lanes &^= m
	}
}

// origin is that of the operands of a lane, the one of a computation before others.
func (f *undefinedFrame) origin(l []initArg, lane int) (o checker.Origin, ok bool) {
	for i := range l {
		r := &f.rows[l[i].row]
		if r.lanes>>lane&1 == 0 {
			continue
		}
		if v := r.at(lane, 1); !ok || v.Origin.Computed() {
			o, ok = v.Origin, true
		}
	}
	return o, ok
}

// plain is for operations on registers.
func (t *initOp) plain(u *undefined, w *exec.Warp, in *inst, m uint32) {
	if t.whole && m != full {
		t.fn(w, in, m)
		return
	}
	f := u.of(w)
	some := f.any(t.src) | f.any(t.addr)
	if t.op.Form().Carry {
		some |= u.carry.lanes
	}
	if some&m == 0 {
		t.fn(w, in, m)
		f.define(t.dst, m)
		return
	}
	if t.effect {
		l := first(some & m)
		o, _ := f.origin(t.src, l)
		t.use(u, w, l, "operand", o)
	}
	res := t.transfer(u, w, m)
	t.fn(w, in, m)
	for i, d := range t.dst {
		r := &f.rows[d.row]
		for k := m; k != 0; k &= k - 1 {
			l := first(k)
			r.set(l, res[i][l])
		}
	}
}

// address reports addresses that depend on undefined bits.
func (t *initOp) address(u *undefined, w *exec.Warp, f *undefinedFrame, m uint32) {
	if some := f.any(t.addr) & m; some != 0 {
		l := first(some)
		o, _ := f.origin(t.addr, l)
		t.use(u, w, l, "address", o)
	}
}

// scheduled is for operations that take part in scheduling.
func (t *initOp) scheduled(in *inst) {
	ctl := in.ctl
	c := t.c
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		u := undefinedOf(w, c)
		f := u.of(w)
		if some := (f.any(t.src) | f.any(t.addr)) & m; some != 0 {
			l := first(some)
			o, ok := f.origin(t.src, l)
			if !ok {
				o, _ = f.origin(t.addr, l)
			}
			t.use(u, w, l, "operand of a barrier", o)
		}
		f.define(t.dst, m)
		if a := t.op.Arg("a"); a != nil && a.Kind == ir.Addr {
			t.writes(u, w, m, place(a), 8) // an mbarrier
		}
		return ctl(w, in, m, next)
	}
}

// writes makes n bytes at an address defined.
func (t *initOp) writes(u *undefined, w *exec.Warp, m uint32, ac *access, n uint64) {
	for ; m != 0; m &= m - 1 {
		l := first(m)
		u.store(w, ac.space, l, ac.at(w, l), n, checker.Value{})
	}
}

// store writes up to 16 bytes, or any number of defined ones.
func (u *undefined) store(w *exec.Warp, space ir.Space, lane int, addr, n uint64, v checker.Value) {
	b, at, global := u.locate(w, space, lane, addr)
	if global {
		if v.Undefined() && u.b.HostSees(at) {
			v = checker.Value{}
		}
		b = u.b.LockGlobal()
		defer u.b.UnlockGlobal()
	}
	switch {
	case b == nil:
	case n > 16:
		b.SetRange(at, n, false)
	default:
		b.Store(at, n, v)
	}
}

// load is what is undefined of up to 16 bytes.
func (u *undefined) load(w *exec.Warp, space ir.Space, lane int, addr, n uint64) checker.Value {
	b, at, global := u.locate(w, space, lane, addr)
	if global {
		b = u.b.LockGlobal()
		defer u.b.UnlockGlobal()
	}
	if b == nil {
		return checker.Value{}
	}
	return b.Load(at, n)
}

// control is for branches, calls, and ends of functions: their guards are uses. The wrapper does what code.Run does
// for them.
func (t *initOp) control(in *inst) {
	c, kind, op := t.c, in.kind, t.op
	guard, neg := op.Guard, op.Neg
	var index []initArg
	switch {
	case kind == branchx:
		index = t.src
	case kind == call && op.Call.Pointer != nil && op.Call.Pointer.Kind == ir.Row:
		index = []initArg{t.rows.arg(op.Call.Pointer)}
	}
	in.kind, in.guard = scheduling, -1
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		u := undefinedOf(w, c)
		f := u.of(w)
		if guard >= 0 {
			if gate := &f.rows[t.guard]; gate.lanes&m != 0 {
				l := first(gate.lanes & m)
				t.use(u, w, l, "branch", gate.at(l, 1).Origin)
			}
			p := *(*uint32)(unsafe.Add(w.Base[0], guard))
			if neg {
				p = ^p
			}
			if m &= p; m == 0 {
				w.Cur.PC = next
				return exec.EventReschedule, false
			}
		}
		if some := f.any(index) & m; some != 0 {
			l := first(some)
			o, _ := f.origin(index, l)
			t.use(u, w, l, "branch", o)
		}
		s := w.Cur
		switch kind {
		case branch:
			if m != s.Mask {
				return w.Diverge(m, in.target, next), true
			}
			back := in.target < next && w.BackEdge()
			s.PC = in.target
			return exec.EventReschedule, back
		case branchx:
			return c.indexed(w, in, m, next), true
		case call:
			ev := c.call(w, in, m, next)
			u.called(w, f, op.Call, t.rows)
			return ev, true
		case ret:
			u.returned(w, f, m)
			return w.Return(m, next), true
		default:
			w.Exit(m, next)
			return exec.EventReschedule, true
		}
	}
}

// argumentPlace is where an argument or result stands.
type argumentPlace struct {
	f    *undefinedFrame
	row  *initArg // nil: slot
	imm  bool
	slot ir.Slot
}

func newArgumentPlace(f *undefinedFrame, rows *undefinedRows, reg *ir.Arg, slot ir.Slot) argumentPlace {
	p := argumentPlace{f: f, slot: slot}
	if reg != nil {
		p.imm = reg.Kind != ir.Row || reg.Ref.Sel != 0
		if !p.imm {
			x := rows.arg(reg)
			p.row = &x
		}
	}
	return p
}

// move copies what is undefined of n lanes' arguments.
func (p *argumentPlace) move(from *argumentPlace, lanes uint32) {
	if p.imm {
		return
	}
	for m := lanes; m != 0; m &= m - 1 {
		l := first(m)
		switch {
		case p.row != nil:
			v := checker.Value{}
			if from.row != nil {
				v = from.f.rows[from.row.row].at(l, from.row.width)
			} else if s := from.f.slots; s != nil && !from.imm {
				v = s.Load(from.slot.Off+uint64(l)*from.slot.Stride, min(from.slot.Size, uint64(p.row.width+7)/8))
			}
			if p.row.width == 1 && v.Undefined() {
				v.Lo, v.Hi = 1, 0
			}
			p.f.rows[p.row.row].set(l, v)
		default:
			v, n := checker.Value{}, p.slot.Size
			at := p.slot.Off + uint64(l)*p.slot.Stride
			if from.row != nil {
				v = from.f.rows[from.row.row].at(l, from.row.width)
				n = min(n, uint64(from.row.width+7)/8)
			}
			if from.row == nil && !from.imm && from.f.slots != nil {
				if p.f.slots == nil {
					p.f.slots = checker.NewBytes(false)
				}
				n = min(n, from.slot.Size)
				p.f.slots.Copy(at, from.f.slots, from.slot.Off+uint64(l)*from.slot.Stride, n)
				continue
			}
			if v.Undefined() && p.f.slots == nil {
				p.f.slots = checker.NewBytes(false)
			}
			if p.f.slots != nil && n > 0 {
				if v.Undefined() {
					p.f.slots.Store(at, n, v)
				} else {
					p.f.slots.SetRange(at, n, false)
				}
			}
		}
	}
}

// called hands arguments to a function that lanes have just entered.
func (u *undefined) called(w *exec.Warp, caller *undefinedFrame, info *ir.CallInfo, rows *undefinedRows) {
	a, lanes := w.Cur.Act, w.Cur.Mask
	f := u.enter(a, lanes)
	to := u.c.rows[a.Func.Index]
	for i := range info.Args {
		c := &info.Args[i]
		if c.Row == nil && c.Slot.Size == 0 || c.To >= len(a.Func.Params) {
			continue
		}
		slot := a.Func.Params[c.To]
		at := min(c.At, slot.Size)
		slot = ir.Slot{Off: slot.Off + at, Stride: slot.Stride, Size: slot.Size - at}
		dst := newArgumentPlace(f, to, a.Func.ParamRegs[c.To], slot)
		src := newArgumentPlace(caller, rows, c.Row, c.Slot)
		dst.move(&src, lanes)
	}
	if n := a.Func.Local.Size; n > 0 { // another function's variables lay there before
		for m := lanes; m != 0; m &= m - 1 {
			u.local.SetRange(uint64(first(m))*uint64(w.LocalSize)+uint64(a.Local), n, true)
		}
	}
	u.act = nil // the engine changes activations
}

// returned hands results to the caller.
func (u *undefined) returned(w *exec.Warp, f *undefinedFrame, lanes uint32) {
	a := w.Cur.Act
	if a.Caller == nil {
		return
	}
	caller := u.frames[a.Caller]
	rows, to := u.c.rows[a.Func.Index], u.c.rows[a.Caller.Func.Index]
	for i := range a.Call.Rets {
		c := &a.Call.Rets[i]
		if c.To >= len(a.Func.Returns) {
			break
		}
		if c.Row == nil && c.Slot.Size == 0 || c.Row != nil && c.Row.Kind != ir.Row {
			continue
		}
		slot := a.Func.Returns[c.To]
		at := min(c.At, slot.Size)
		slot = ir.Slot{Off: slot.Off + at, Stride: slot.Stride, Size: slot.Size - at}
		src := newArgumentPlace(f, rows, a.Func.RetRegs[c.To], slot)
		dst := newArgumentPlace(caller, to, c.Row, c.Slot)
		dst.move(&src, lanes)
	}
	u.act = nil
}

// builtin is for system functions.
func (t *initOp) builtin(u *undefined, w *exec.Warp, in *inst, m uint32) {
	f := u.of(w)
	name := t.op.Call.Builtin
	list := trace(w, func() { t.fn(w, in, m) })
	for _, x := range list {
		if x.write {
			u.store(w, x.space, x.lane, x.addr, uint64(x.size), checker.Value{})
		} else if name == "vprintf" && x.size <= 16 {
			if v := u.load(w, x.space, x.lane, x.addr, uint64(x.size)); v.Undefined() {
				o := u.b.Loaded(t.site, w.Thread(x.lane), u.spaceName(w, x.space, x.addr), x.addr, x.size, v.Origin)
				t.use(u, w, x.lane, "printf", o)
			}
		}
	}
	for i := range t.op.Call.Rets {
		c := &t.op.Call.Rets[i]
		if c.Row != nil && c.Row.Kind == ir.Row {
			f.rows[t.rows.arg(c.Row).row].lanes &^= m
		} else if c.Row == nil && f.slots != nil {
			for k := m; k != 0; k &= k - 1 {
				f.slots.SetRange(c.Slot.Off+uint64(first(k))*c.Slot.Stride, c.Slot.Size, false)
			}
		}
	}
}

// carries says whether the operation reads the carry flag, and whether it writes it.
func carries(op *ir.Op) (in, out bool) {
	if !op.Form().Carry {
		return false, false
	}
	switch op.Opcode() {
	case optab.OpAddc, optab.OpMadc, optab.OpSubc:
		in = true
	}
	return in, op.Mods().Cc
}
