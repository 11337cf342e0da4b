package asm

// Code for processors without AVX-512. The vocabulary stays that of AVX-512; every vector or mask instruction is
// written as a sequence of AVX2 instructions that has the same result. Registers zmm0 to zmm31 and k0 to k7 stand in
// memory (a File); their halves are held in ymm registers between labels, and stored before control can come together
// with another path. What a branch that is rarely taken needs stored is stored behind the code.
//
// Sequences leave the general registers alone, and all but scatters and masked moves of 8- and 16-bit elements the
// flags. Sticky bits of MXCSR may differ from those of AVX-512: elements that are masked off are computed too.

// FileSize is how many bytes of memory the registers take; 64-byte alignment keeps accesses in one line.
const FileSize = fileEnd

// Places in the file.
const (
	fileMasks   = 32 * 64
	fileSaved   = fileMasks + 8*8
	fileRAX     = fileSaved + 6*8
	fileMXCSR   = fileRAX + 8
	fileScratch = fileMXCSR + 8
	fileEnd     = fileScratch + 64
)

// frame is the register with the frame of rows (Place).
const frame = RBX

// Halves of registers, and masks as vectors, by number.
const (
	halfRegs  = 64      // 2*z + half
	maskD     = 64      // 2*k + half: words of 32 bits
	maskQ     = 64 + 16 // words of 64 bits
	valueEnd  = 64 + 32
	noValue   = -1
	noBlocked = -1
)

// Where a mask's value stands.
const (
	maskInFile = iota
	maskConst  // value
	maskAsD    // its vectors of 32-bit words are in registers
	maskAsQ
)

// Rows has, by register, 1 and the displacement in the frame of the row where its value belongs (Place); 0 for the
// file.
type Rows [32]int32

type maskState struct {
	at    uint8
	loose bool // in the vectors any bit of an element says that the mask's is set
	value uint32
}

type physical struct {
	value int8 // number, or noValue
	dirty bool
	stamp uint32
}

// registers is what the ymm registers hold.
type registers struct {
	phys  [16]physical
	where [valueEnd]int8
	masks [8]maskState
	rows  Rows
}

func (r *registers) reset() {
	for i := range r.phys {
		r.phys[i] = physical{value: noValue}
	}
	for i := range r.where {
		r.where[i] = -1
	}
	r.masks = [8]maskState{}
	r.rows = Rows{}
}

// lowering is the state of an Asm that writes AVX2.
type lowering struct {
	a    *Asm
	base GPR
	disp int32
	registers
	stamp   uint32 // registers that carry it are in use
	i       inst   // that is being lowered
	known   [256]knownOp
	cold    chunks[coldPath]
	joins   chunks[joined]
	paths   []labelPaths // by label
	ended   bool         // nothing comes here but by a branch
	consts  map[[8]uint32]Label
	order   [][8]uint32
	refused bool
	lost    bool // the flags
}

// coldPath brings values on the way of a branch where the target expects them.
type coldPath struct {
	label, target Label
	state         registers
}

// knownOp is an entry of lowerings: most instructions are of a few kinds.
type knownOp struct {
	op Op
	f  lowerFunc
}

// lowerOf is what lowers instructions of a kind, nil for none.
func (w *lowering) lowerOf(op Op) lowerFunc {
	k := &w.known[op.op^op.prefix<<6^op.space<<4]
	if k.f == nil || k.op != op {
		*k = knownOp{op, lowerings[op]}
	}
	return k.f
}

// labelPaths is what is known of a label.
type labelPaths struct {
	first *coldPath // of the branches to it before it was bound
	join  *joined
}

// chunks is a list whose elements stay where they are.
type chunks[T any] struct {
	full [][]T
	last []T
}

func (c *chunks[T]) add(x T) *T {
	if len(c.last) == cap(c.last) {
		if c.last != nil {
			c.full = append(c.full, c.last)
		}
		c.last = make([]T, 0, min(max(8, 2*cap(c.last)), 256))
	}
	c.last = append(c.last, x)
	return &c.last[len(c.last)-1]
}

func (c *chunks[T]) each(f func(*T)) {
	for _, list := range append(c.full, c.last) {
		for i := range list {
			f(&list[i])
		}
	}
}

// of is what is known of a label, and a place to note more.
func (w *lowering) of(l Label) *labelPaths {
	if n := len(w.a.labels); n > len(w.paths) {
		w.paths = append(w.paths, make([]labelPaths, n-len(w.paths))...)
	}
	return &w.paths[l]
}

// joined is what code at a label expects.
type joined struct {
	state registers
	regs  uint32 // those whose values are needed
	masks uint8
}

// LowerToAVX2 makes a write AVX2 from here on. The File is at base+disp; base must never change.
func (a *Asm) LowerToAVX2(base GPR, disp int32) {
	a.low = &lowering{a: a, base: base, disp: disp, consts: map[[8]uint32]Label{}}
	a.low.reset()
}

// Lowers says whether a writes AVX2.
func (a *Asm) Lowers() bool { return a.low != nil }

// Refused says whether there was an instruction without AVX2 sequence since it was last asked. The code is not good
// then.
func (a *Asm) Refused() bool {
	if a.low == nil || !a.low.refused {
		return false
	}
	a.low.refused = false
	return true
}

// Dead says that vector registers (bits by number) and masks hold nothing that is needed.
func (a *Asm) Dead(regs uint32, masks uint8) {
	if a.low != nil {
		a.low.dead(regs, masks)
	}
}

func (r *registers) dead(regs uint32, masks uint8) {
	for z := range 32 {
		if regs>>z&1 != 0 {
			r.drop(2 * z)
			r.drop(2*z + 1)
			r.rows[z] = 0
		}
	}
	for k := range 8 {
		if masks>>k&1 != 0 {
			r.setMask(Mask(k), maskInFile)
		}
	}
}

// Clean stores vector registers (bits by number), so that nothing needs to be stored when others take their places.
func (a *Asm) Clean(regs uint32) {
	if w := a.low; w != nil && !w.ended {
		for z := range uint8(32) {
			if regs>>z&1 != 0 {
				w.clean(z, 0)
				w.clean(z, 1)
			}
		}
	}
}

// Place says that what a register held is not needed any more, and that its value stands, or is to stand, in the 64
// bytes at disp of the frame: there it is stored when its place is needed, and loaded from. Nothing else may write
// there until the register is given up (Dead) or gets another place.
func (a *Asm) Place(z Vec, disp int32) {
	if w := a.low; w != nil {
		w.dead(1<<z, 0)
		w.rows[z] = disp + 1
	}
}

// Belong is Place for a register that holds the value already.
func (a *Asm) Belong(z Vec, disp int32) {
	if w := a.low; w != nil {
		w.begin()
		for h := range 2 {
			w.phys[w.use(uint8(z), h)].dirty = true
		}
		w.rows[z] = disp + 1
	}
}

// Load has a register's value in processor registers, if there are such.
func (a *Asm) Load(z Vec) {
	if w := a.low; w != nil {
		w.begin()
		w.use(uint8(z), 0)
		w.use(uint8(z), 1)
	}
}

// Keep stores a register at disp of the frame, where that is not done.
func (a *Asm) Keep(z Vec, disp int32) {
	if w := a.low; w != nil && w.rows[z] == disp+1 {
		if !w.ended {
			w.clean(uint8(z), 0)
			w.clean(uint8(z), 1)
		}
		return
	}
	a.VM(MovU32St, Z, z, 0, At(frame, disp))
}

// Join binds a label as Bind does, but what is in processor registers stays there; code that branches here loads it. Of
// the vector registers and masks those named (bits by number) are needed; rows says where the registers' values belong,
// nil for the file. The label must not be reached but by Jmp and J.
func (a *Asm) Join(l Label, regs uint32, masks uint8, rows *Rows) {
	a.held = 0
	w := a.low
	if w == nil {
		a.Bind(l)
		return
	}
	if w.ended {
		if p := w.of(l).first; p != nil {
			w.registers = p.state
		} else {
			w.reset()
			if rows != nil {
				w.rows = *rows
			}
		}
		w.dead(^regs, ^masks)
		for k := range Mask(8) {
			if w.masks[k].at != maskInFile { // that way stores it
				w.setMask(k, maskInFile)
			}
		}
	} else {
		w.dead(^regs, ^masks)
		w.storeMasks()
	}
	w.of(l).join = w.joins.add(joined{w.registers, regs, masks})
	w.ended = false
	a.labels[l] = int32(len(a.Code))
}

// branchTo returns the label that a branch to l must name: a cold path when values have to move.
func (w *lowering) branchTo(l Label) Label {
	if w.a.labels[l] >= 0 && w.settled(&w.registers, l) {
		return l
	}
	p := w.cold.add(coldPath{w.a.NewLabel(), l, w.registers})
	if x := w.of(l); x.first == nil && w.a.labels[l] < 0 {
		x.first = p
	}
	return p.label
}

// settled says whether everything is where the code at a bound label expects it.
func (w *lowering) settled(r *registers, l Label) bool {
	j := w.of(l).join
	if j == nil {
		return !r.pending()
	}
	x := *r
	x.dead(^j.regs, ^j.masks)
	if x.rows != j.state.rows {
		return false
	}
	for k := range x.masks {
		if x.masks[k].at != maskInFile {
			return false
		}
	}
	for p := range x.phys {
		v := j.state.phys[p].value
		if x.phys[p].dirty && (x.phys[p].value != v || !j.state.phys[p].dirty) || v != noValue && x.phys[p].value != v {
			return false
		}
	}
	return true
}

// settle brings everything where the code at a bound label expects it.
func (w *lowering) settle(l Label) {
	j := w.of(l).join
	if j == nil {
		w.flush()
		return
	}
	w.dead(^j.regs, ^j.masks)
	w.storeMasks()
	if w.rows != j.state.rows {
		panic("asm: values do not belong where the code at a label expects them")
	}
	for p := range w.phys {
		x := &w.phys[p]
		if x.value == noValue || !x.dirty {
			continue
		}
		if q := j.state.where[x.value]; q < 0 || !j.state.phys[q].dirty {
			w.store(w.home(int(x.value)), uint8(p))
			x.dirty = false
		}
	}
	// Moves between registers whose old values nothing needs any more, as long as there are such; a circle is broken by
	// way of the file.
	for {
		moved, left := false, -1
		for q := range w.phys {
			v := j.state.phys[q].value
			if v == noValue || w.phys[q].value == v {
				continue
			}
			if o := w.phys[q].value; o != noValue && j.state.where[o] >= 0 {
				left = q
				continue
			}
			if o := w.phys[q].value; o != noValue {
				w.drop(int(o))
			}
			switch p := w.where[v]; {
			case p >= 0:
				w.r(vexMovDQALd, uint8(q), 0, uint8(p))
				w.phys[p].value = noValue
			case v < halfRegs:
				w.load(uint8(q), w.home(int(v)))
			default:
				w.expand(int(v), uint8(q))
			}
			w.phys[q].value, w.where[v] = v, int8(q)
			moved = true
		}
		if moved {
			continue
		}
		if left < 0 {
			break
		}
		o := int(w.phys[left].value)
		if o < halfRegs {
			w.store(w.home(o), uint8(left))
		}
		w.drop(o)
	}
	w.registers = j.state
}

func (w *lowering) storeMasks() {
	for k := range Mask(8) {
		if w.masks[k].at != maskInFile {
			w.begin()
			w.storeMask(k, false)
		}
	}
}

// Pass binds a label to which nothing branches: registers keep what they hold.
func (a *Asm) Pass(l Label) { a.labels[l] = int32(len(a.Code)) }

// meet stores what code at a label expects in memory.
func (w *lowering) meet(l Label) {
	rows := w.rows
	if p := w.of(l).first; p != nil && w.ended {
		rows = p.state.rows
	}
	w.a.empty()
	w.rows, w.ended = rows, false
}

// empty stores all registers.
func (a *Asm) empty() {
	if w := a.low; w != nil {
		w.flush()
		rows := w.rows
		w.reset()
		w.rows = rows
	}
}

// end notes that control does not come here.
func (a *Asm) end() {
	if a.low != nil {
		a.low.reset()
		a.low.ended = true
	}
}

// Registers.

func (w *lowering) file(off int32) Mem { return At(w.base, w.disp+off) }

// home is where a half belongs.
func (w *lowering) home(v int) Mem {
	if row := w.rows[v>>1]; row != 0 {
		return At(frame, row-1+int32(32*(v&1)))
	}
	return w.file(int32(32 * v))
}

func (w *lowering) maskMem(k Mask) Mem { return w.file(fileMasks + 8*int32(k)) }

// begin ends the use of all registers.
func (w *lowering) begin() { w.stamp++ }

func (w *lowering) lock(p uint8) uint8 {
	w.phys[p].stamp = w.stamp
	return p
}

func (w *registers) drop(v int) {
	if p := w.where[v]; p >= 0 {
		w.phys[p].value, w.phys[p].dirty = noValue, false
		w.where[v] = -1
	}
}

// temp takes a register until begin.
func (w *lowering) temp() uint8 {
	best, authority := -1, -1
	var score uint32
	for p := range w.phys {
		x := &w.phys[p]
		if x.stamp == w.stamp {
			continue
		}
		if x.value == noValue {
			best = p
			break
		}
		if x.value >= halfRegs && w.authority(int(x.value)) {
			authority = p
			continue
		}
		s := x.stamp
		if x.dirty {
			s += 3
		}
		if best < 0 || s < score {
			best, score = p, s
		}
	}
	if best < 0 {
		if authority < 0 {
			panic("asm: no register is free")
		}
		v := int(w.phys[authority].value) - halfRegs
		w.storeMask(Mask(v%16/2), true)
		best = authority
	}
	x := &w.phys[best]
	if x.value != noValue {
		if x.dirty {
			w.store(w.home(int(x.value)), uint8(best))
		}
		w.drop(int(x.value))
	}
	x.stamp = w.stamp
	return uint8(best)
}

// authority says whether a mask's vector is the mask's only place.
func (w *lowering) authority(v int) bool {
	m := w.masks[(v-halfRegs)%16/2].at
	return v < maskQ && m == maskAsD || v >= maskQ && m == maskAsQ
}

// free gives a register back that temp took.
func (w *lowering) free(p uint8) { w.phys[p].stamp-- }

func (w *lowering) load(p uint8, m Mem)  { w.a.vex(MovU32, 1, p, 0, inMem(m)) }
func (w *lowering) store(m Mem, p uint8) { w.a.vex(MovU32St, 1, p, 0, inMem(m)) }

// use returns a register with a half.
func (w *lowering) use(z uint8, h int) uint8 {
	v := 2*int(z) + h
	if p := w.where[v]; p >= 0 {
		return w.lock(uint8(p))
	}
	p := w.temp()
	w.load(p, w.home(v))
	w.phys[p].value = int8(v)
	w.where[v] = int8(p)
	return p
}

// src is use, or the half in memory.
func (w *lowering) src(z uint8, h int) source {
	v := 2*int(z) + h
	if p := w.where[v]; p >= 0 {
		return inReg(w.lock(uint8(p)))
	}
	return inMem(w.home(v))
}

// assign makes a register the place of a half.
func (w *lowering) assign(z uint8, h int, p uint8) {
	v := 2*int(z) + h
	if q := w.where[v]; q != int8(p) {
		w.drop(v)
		w.where[v] = int8(p)
		w.phys[p].value = int8(v)
	}
	w.phys[p].dirty = true
}

// clean stores a half in the file.
func (w *lowering) clean(z uint8, h int) {
	v := 2*int(z) + h
	if p := w.where[v]; p >= 0 && w.phys[p].dirty {
		w.store(w.home(v), uint8(p))
		w.phys[p].dirty = false
	}
}

func (w *lowering) zero(z uint8, h int) {
	w.begin()
	p := w.temp()
	w.e(XorD, p, p, inReg(p))
	w.assign(z, h, p)
}

// flush stores everything; registers keep it.
func (w *lowering) flush() {
	for p := range w.phys {
		if x := &w.phys[p]; x.value != noValue && x.dirty {
			w.store(w.home(int(x.value)), uint8(p))
			x.dirty = false
		}
	}
	w.storeMasks()
}

func (w *registers) pending() bool {
	for p := range w.phys {
		if w.phys[p].dirty {
			return true
		}
	}
	for k := range w.masks {
		if w.masks[k].at != maskInFile {
			return true
		}
	}
	return false
}

// finish writes the cold paths and the constants.
func (w *lowering) finish() {
	a := w.a
	w.cold.each(func(c *coldPath) {
		if w.settled(&c.state, c.target) {
			a.labels[c.label] = a.labels[c.target]
			return
		}
		a.Pass(c.label)
		w.registers = c.state
		w.settle(c.target)
		a.jmp(c.target)
	})
	w.cold, w.joins, w.paths = chunks[coldPath]{}, chunks[joined]{}, nil
	w.reset()
	for len(a.Code)%32 != 0 {
		a.Code = append(a.Code, 0xcc)
	}
	for _, words := range w.order {
		a.Pass(w.consts[words])
		for _, x := range words {
			a.imm32(x)
		}
	}
	w.order, w.consts = nil, map[[8]uint32]Label{}
}

// Writing.

// e is an instruction of 256 bits.
func (w *lowering) e(op Op, d, a uint8, b source, imm ...byte) { w.a.vex(op, 1, d, a, b, imm...) }

// r is e of registers.
func (w *lowering) r(op Op, d, a, b uint8, imm ...byte) { w.a.vex(op, 1, d, a, inReg(b), imm...) }

// compareFloat puts ones into d where a stands in a relation to b. The encoding but for the destination is that of the
// EVEX instruction.
func (w *lowering) compareFloat(op CompareOp, d, a uint8, b source, p Predicate) {
	w.e(Op(op), d, a, b, uint8(p))
}

// blend is d = mask m ? b : a.
func (w *lowering) blend(d, a uint8, b source, m uint8) { w.e(vexBlendVB, d, a, b, m<<4) }

// constant is a vector that stands behind the code.
func (w *lowering) constant(words [8]uint32) source {
	l, ok := w.consts[words]
	if !ok {
		l = w.a.NewLabel()
		w.consts[words] = l
		w.order = append(w.order, words)
	}
	return source{kind: fromLabel, label: l}
}

// splatD and splatQ are constants with one word throughout.
func (w *lowering) splatD(x uint32) source { return w.constant([8]uint32{x, x, x, x, x, x, x, x}) }

func (w *lowering) splatQ(x uint64) source {
	l, h := uint32(x), uint32(x>>32)
	return w.constant([8]uint32{l, h, l, h, l, h, l, h})
}

func (w *lowering) not(p uint8) { w.e(XorD, p, p, w.splatD(0xffffffff)) }

// extract is the upper 128 bits of s.
func (w *lowering) extract(d, s uint8) { w.a.vex(vexExtract128, 1, s, 0, inReg(d), 1) }

// shift is a shift by a constant.
func (w *lowering) shiftD(kind Shift, d, s, n uint8) {
	w.a.vex(vexShiftDI, 1, uint8(kind), d, inReg(s), n)
}
func (w *lowering) shiftQ(kind Shift, d, s, n uint8) {
	w.a.vex(vexShiftQI, 1, uint8(kind), d, inReg(s), n)
}

// scratch are general registers that a sequence saves. A saved register is free until restore.
var scratch = [...]GPR{RAX, RCX, RDX, R8, RDI, RSI}

// save frees n general registers that are none of those named.
func (w *lowering) save(n int, not ...GPR) []GPR {
	var out []GPR
next:
	for _, r := range scratch {
		for _, x := range not {
			if x == r {
				continue next
			}
		}
		if len(out) == n {
			break
		}
		w.a.St(w.file(fileSaved+8*int32(len(out))), r)
		out = append(out, r)
	}
	return out
}

func (w *lowering) restore(rs []GPR) {
	for i, r := range rs {
		w.a.Ld(r, w.file(fileSaved+8*int32(i)))
	}
}

// inst is an instruction being lowered.
type inst struct {
	op        Op
	o         Opt
	reg, vvvv uint8
	rm        source
	imm       uint8
	halves    int
	length    uint8 // of a half: 0 for 128 bits
	q         bool  // its mask has bits for elements of 64 bits
	bcast     int8  // register with the broadcast operand, or noBlocked
}

type lowerFunc func(w *lowering, i *inst)

// vector lowers a vector instruction.
func (w *lowering) vector(op Op, o Opt, reg, vvvv uint8, rm source, imm uint8) {
	f := w.lowerOf(op)
	if f == nil {
		w.refuse(op)
		return
	}
	w.i = inst{op: op, o: o, reg: reg, vvvv: vvvv, rm: rm, imm: imm, halves: 1, length: 1, q: op.w == 1,
		bcast: noBlocked}
	i := &w.i
	w.begin()
	if rounding := o.Bcast && rm.kind == fromReg; rounding {
		i.o.LL, i.o.Bcast, i.halves = 2, false, 2
		w.a.vex(vexMXCSR, 0, 3, 0, inMem(w.file(fileMXCSR)))
		mx := uint32(0x1f80) | uint32(o.LL)<<13
		w.a.vex(vexMXCSR, 0, 2, 0, w.splatD(mx))
		f(w, i)
		w.a.vex(vexMXCSR, 0, 2, 0, inMem(w.file(fileMXCSR)))
		return
	}
	switch o.LL {
	case 2:
		i.halves = 2
	case 0:
		i.length = 0
	}
	f(w, i)
}

func (w *lowering) refuse(Op) { w.refused = true }

// next begins a half.
func (w *lowering) next(i *inst) {
	w.begin()
	if i.bcast != noBlocked {
		w.lock(uint8(i.bcast))
	}
}

// safe says whether memory can be read without regard to the mask: what stands there is the program's own.
func (w *lowering) safe(s source) bool {
	return s.kind == fromLabel || s.kind == fromMem &&
		(s.mem.Base == w.base || s.mem.Base == frame || s.mem.Base == R12)
}

// b is the last operand of a half.
func (i *inst) b(w *lowering, h int) source {
	if i.rm.kind == fromReg {
		return w.src(i.rm.reg, h)
	}
	masked := i.o.K != 0 && !w.safe(i.rm)
	if i.o.Bcast {
		if i.bcast == noBlocked {
			q := i.op.w == 1
			if masked {
				m := i.anyLane(w, q)
				t := w.temp()
				w.r(XorD, t, t, t)
				w.gatherOne(t, m, i.rm.mem, q)
				i.bcast = int8(t)
			} else {
				t := w.temp()
				w.e(broadcastOf(q), t, 0, i.rm)
				i.bcast = int8(t)
			}
		}
		return inReg(w.lock(uint8(i.bcast)))
	}
	s := i.rm.at(int32(32 * h))
	if masked {
		m := w.mask(i.o.K, i.q, h)
		t := w.temp()
		w.a.vexW(vexMaskMovLd, bit(i.q), i.length, t, m, s)
		return inReg(t)
	}
	return s
}

// anyLane is a vector with all bits where any lane of the mask is set, in a register of its own.
func (i *inst) anyLane(w *lowering, q bool) uint8 {
	t := w.temp()
	w.r(AndD, t, w.mask(i.o.K, q, 0), w.mask(i.o.K, q, 0))
	if i.halves == 2 {
		w.r(OrD, t, t, w.mask(i.o.K, q, 1))
	}
	u := w.temp()
	for _, n := range []uint8{0x4e, 0xb1} {
		w.r(vexPermQI, u, 0, t, n)
		w.r(OrD, t, t, u)
	}
	w.r(vexShufD, u, 0, t, 0xb1)
	w.r(OrD, t, t, u)
	w.free(u)
	return t
}

// gatherOne loads the element at m for the lanes of mask t, which is used up.
func (w *lowering) gatherOne(d, t uint8, m Mem, q bool) {
	x := w.temp()
	w.r(XorD, x, x, x)
	base := m.Base
	var saved []GPR
	if m.Index != None || base == None {
		saved = w.save(1)
		base = saved[0]
		w.a.Lea(base, m)
		m = At(base, 0)
	}
	w.a.vexW(vexGatherD, bit(q), 1, d, t, inMem(Mem{Base: base, Index: GPR(x), Scale: 1, Disp: m.Disp}))
	w.restore(saved)
	w.free(x)
}

func broadcastOf(q bool) Op {
	if q {
		return Op{1, 2, 0, 0x59, vector}
	}
	return BroadcastD
}

// breg is b in a register.
func (i *inst) breg(w *lowering, h int) uint8 {
	if i.rm.kind == fromReg {
		return w.use(i.rm.reg, h)
	}
	s := i.b(w, h)
	if s.kind == fromReg {
		return s.reg
	}
	t := w.temp()
	w.a.vex(MovU32, i.length, t, 0, s)
	return t
}

// target is the register in which one instruction can leave the result of a half of register z: the half's own, or a
// new one.
func (i *inst) target(w *lowering, z uint8, h int) uint8 {
	if p := w.where[2*int(z)+h]; i.o.K == 0 && p >= 0 {
		return w.lock(uint8(p))
	}
	return w.temp()
}

// finish sets a half of register z to what is in p, as the mask says.
func (i *inst) finish(w *lowering, z uint8, h int, p uint8) {
	if i.o.K != 0 {
		m := w.mask(i.o.K, i.q, h)
		if i.o.Zero {
			w.a.vex(AndD, i.length, p, p, inReg(m))
		} else {
			w.a.vex(vexBlendVB, i.length, p, w.use(z, h), inReg(p), m<<4)
		}
	}
	w.assign(z, h, p)
}

// short clears what a vector shorter than 512 bits leaves of register z.
func (i *inst) short(w *lowering, z uint8) {
	if i.halves == 1 {
		w.zero(z, 1)
	}
}
