package jit

import (
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// ctaKey names a version of a kernel's code for whole CTAs.
type ctaKey struct {
	dims  [3]uint32
	count bool
}

// ctaVersion is machine code for CTAs; region is nil when there is none for such.
type ctaVersion struct {
	key      ctaKey
	code     *ctaCode
	region   *region
	base     uintptr
	points   map[uintptr]resumePoint
	stops    atomic.Int32
	replaced atomic.Pointer[ctaVersion]
}

// maxStops is how often CTAs may stop before their end for the same code before it is given up.
const maxStops = 64

// maxVersions bounds the versions of a kernel.
const maxVersions = 32

// ctaState is what a code has for CTAs.
type ctaState struct {
	analysis *analysis
	versions map[ctaKey]*ctaVersion
	deny     []bool
	made     int
	off      bool           // there is none
	falls    []*NoCodeError // why there is none, or none for some shapes
	waits    bool           // a loop may wait for other threads
	regions  *[]*region
}

// version returns the code for blocks of the given dimensions, nil when there is none.
func (c *code) ctaVersion(key ctaKey, stop *atomic.Bool) *ctaVersion {
	c.ctaMu.Lock()
	defer c.ctaMu.Unlock()
	s := &c.cta
	if v, ok := s.versions[key]; ok {
		return v
	}
	defer s.guard()
	if !s.off && s.analysis == nil {
		f := c.k.Funcs[0]
		native := make([]emitter, len(f.Ops))
		for i := range f.Ops {
			native[i] = lookup(&f.Ops[i])
		}
		s.analysis = analyse(f, native, true)
		s.analysis.marks = c.e.marks()
		if no := ctaReady(c.k, s.analysis); no != nil {
			s.off = true
			c.note(&s.falls, no)
		}
		s.deny = make([]bool, len(f.Ops))
		s.waits = mayWait(f)
		s.versions = map[ctaKey]*ctaVersion{}
	}
	if s.off {
		return nil
	}
	if s.made >= maxVersions {
		if s.made == maxVersions { // noted once
			s.made++
			c.note(&s.falls, &NoCodeError{Why: WhyShapes})
		}
		return nil
	}
	return c.makeCTA(key, stop)
}

// guard is deferred where code is made: after a panic there is none.
func (s *ctaState) guard() {
	if r := recover(); r != nil {
		s.off = true
		panic(defect.Of(r))
	}
}

// makeCTA makes the code for blocks of the given dimensions; nil when there is none, or stop was set meanwhile.
func (c *code) makeCTA(key ctaKey, stop *atomic.Bool) *ctaVersion {
	s := &c.cta
	v := &ctaVersion{key: key}
	var err error
	if v.code, err = c.generateCTA(key, stop); err == nil && uint64(v.code.v.warps)*uint64(v.code.lay.size) > maxFrames {
		err = &NoCodeError{Why: WhyFrames}
	}
	if err == nil {
		v.region, err = c.e.mapCode(v.code.text)
	}
	if err == errStopped {
		return nil
	}
	s.made++
	if err != nil {
		var no *NoCodeError
		if !errors.As(err, &no) {
			panic(defect.Of(err))
		}
		c.note(&s.falls, no)
		s.versions[key] = nil
		return nil
	}
	c.e.made.Add(1)
	*s.regions = append(*s.regions, v.region)
	v.base = v.region.base()
	v.points = map[uintptr]resumePoint{}
	for _, p := range v.code.points {
		v.points[v.base+uintptr(p.off)] = p
	}
	s.versions[key] = v
	return v
}

// generateCTA writes the code. Operations whose templates do not get along with scalars have their operands in rows.
func (c *code) generateCTA(key ctaKey, stop *atomic.Bool) (*ctaCode, error) {
	s := &c.cta
	a := s.analysis
	a.stop = stop
	defer func() { a.stop = nil }()
	for try := 0; ; try++ {
		val, err := evaluate(a, key.dims, slices.Clone(s.deny))
		if err != nil {
			return nil, err
		}
		cc, err := generateCTA(c.k, a, val, ctaOptions{key.count, c.e.probe != 0, c.e.isa, apart(a, c.e.isa)})
		var no *NoCodeError
		if !errors.As(err, &no) || no.Why != WhyScalar && no.Why != WhyRegisters {
			return cc, err
		}
		if a.plain == nil {
			a.plain = make([]bool, len(a.f.Ops))
		}
		i := no.Ops[0]
		if a.plain[i] {
			return nil, err
		}
		a.plain[i] = true
		for j := range a.plain { // whatever is alike would be the next
			if try >= maxRestarts && a.f.Ops[j].Opcode() == a.f.Ops[i].Opcode() {
				a.plain[j] = true
			}
		}
		c.note(&s.falls, no)
	}
}

// stopped notes that a CTA stopped at an operation, and makes other code when that may help.
func (c *code) stopped(v *ctaVersion, pc int32, stop *atomic.Bool) {
	c.ctaMu.Lock()
	defer c.ctaMu.Unlock()
	s := &c.cta
	defer s.guard()
	if v.replaced.Load() != nil {
		return
	}
	if !s.deny[pc] && c.e.probe == 0 && s.made < maxVersions {
		s.deny[pc] = true
		if n := c.makeCTA(v.key, stop); n != nil {
			v.replaced.Store(n)
		}
		return
	}
	if v.stops.Add(1) > maxStops && c.e.probe == 0 {
		s.versions[v.key] = nil
		c.note(&s.falls, &NoCodeError{Why: WhyStops, Line: c.k.Funcs[0].Ops[pc].Line})
		v.replaced.Store(&ctaVersion{})
	}
}

// mayWait says whether a function has loops that may wait for other threads.
func mayWait(f *ir.Func) bool {
	if !f.Loops {
		return false
	}
	for i := range f.Ops {
		op := &f.Ops[i]
		if op.Ctl != ir.Plain {
			continue
		}
		switch op.Opcode() {
		case optab.OpLd:
			if op.Match.One("volatile", "relaxed", "acquire", "mmio") != "" {
				return true
			}
		case optab.OpAtom:
			return true
		}
	}
	return false
}

// blockRunner implements exec.BlockRunner.
type blockRunner struct {
	c        *code
	v        *ctaVersion
	l        *exec.Launch
	x        *context
	frames   []byte // kept alive
	first    unsafe.Pointer
	shared   []uint64
	memory   unsafe.Pointer // the CTA's shared memory, in shared
	size     int32
	quota    int32  // back edges of a turn
	patience int32  // of a CTA that may wait for others, until it seems to
	most     uint64 // CTAs of a run
	batch    uint32 // CTAs of the run under way
	pc       int32  // where the CTA stopped
	paused   bool
	broken   bool // the CTA did not get to an end
	touched  uint32
}

// Blocks implements exec.BlockCode.
func (c *code) Blocks(l *exec.Launch, had exec.BlockRunner) exec.BlockRunner {
	if l.Mem.Check != nil || uint64(len(l.Params)) < c.k.ParamSize || c.k.ParamSize > maxParams-64 {
		return nil
	}
	key := ctaKey{l.Block, l.Counters != nil}
	r, _ := had.(*blockRunner)
	if r == nil || r.c != c || r.v.key != key || r.v.replaced.Load() != nil {
		v := c.ctaVersion(key, l.Stop)
		if v == nil {
			return nil
		}
		if r == nil || r.c != c {
			r = &blockRunner{c: c, x: new(context)}
			if c.matrix {
				r.x.matrix = newMatrixWork()
			}
		}
		r.setup(v)
	}
	if r.broken {
		r.broken = false
		r.setup(r.v)
	}
	r.begin(l)
	return r
}

// maxFrames is how many bytes of frames a CTA may have that runs as a whole; others run warp by warp, whose memory package exec counts.
const maxFrames = ir.MaxFrame

// A run lets Go look around after turnEdges backward branches, and after so many CTAs that their operations, each executed once, are batchOps.
const (
	turnEdges = 4096
	batchOps  = 1 << 18
)

// begin fills in what a launch decides.
func (r *blockRunner) begin(l *exec.Launch) {
	r.l = l
	r.quota, r.patience = l.Quantum, 2*l.Quantum
	if r.quota <= 0 {
		r.quota, r.patience = exec.Turn(turnEdges, r.c.k), 2*turnEdges
	}
	x, k := r.x, r.c.k
	x.self, x.tables = r.c.e.tables, unsafe.Pointer(r.c.e.tables)
	x.low, x.span = globalRange(l.Mem)
	size := ir.ReservedShared + (k.SharedSize+l.Shared+127)&^127
	if need := int(size+2048)/8 + 128; len(r.shared) < need {
		r.shared = make([]uint64, need)
	}
	sp := unsafe.Pointer(unsafe.SliceData(r.shared))
	r.memory = unsafe.Add(sp, -uintptr(sp)&1023)
	x.shared = uintptr(r.memory)
	for i := range x.sharedTop {
		x.sharedTop[i] = size - 1<<i
	}
	copy(x.paramCopy[:], l.Params)
	x.params = unsafe.Pointer(&x.paramCopy)
	x.sharedGen = l.Mem.Base + l.Mem.SharedOff
	x.block, x.grid = l.Block, l.Grid
	x.launch, x.localGen, x.paramGen, x.paramSize = unsafe.Pointer(l), l.Mem.Base+l.Mem.LocalOff, l.ParamAddr, uint32(len(l.Params))
	x.consts = l.Consts
	x.stream = 0
	if v := r.v.code.v; v.streams {
		threads := uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2]) * uint64(32*v.warps)
		if threads*4 >= r.c.e.stream {
			x.stream = 1
		}
	}
	x.instr, x.op = 0, 0
	if r.v.code.v.shadow && x.shadow == nil {
		x.shadow = unsafe.Pointer(new([shadowSize / 4]uint32))
	}
	x.shadowPage = 0
}

// setup makes the frames that the machine code works on.
func (r *blockRunner) setup(v *ctaVersion) {
	r.v = v
	lay := v.code.lay
	n := v.code.v.warps
	dims := v.key.dims
	r.size = lay.size
	r.most = max(uint64(batchOps)/uint64(n*len(r.c.k.Funcs[0].Ops)), 1)
	if need := n*int(lay.size) + 128; len(r.frames) < need {
		buf := make([]uint64, need/8)
		r.frames = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*8)
	} else {
		clear(r.frames)
	}
	p := unsafe.Pointer(unsafe.SliceData(r.frames))
	r.first = unsafe.Add(p, -uintptr(p)&63)
	r.x.first = r.first
	threads := dims[0] * dims[1] * dims[2]
	for w := range n {
		f := unsafe.Add(r.first, w*int(lay.size))
		next := unsafe.Add(r.first, (w+1)%n*int(lay.size))
		*(*uint64)(unsafe.Add(f, lay.next)) = uint64(uintptr(next))
		init := uint32(0xffffffff)
		if rest := threads - uint32(w)*32; rest < 32 {
			init = 1<<rest - 1
		}
		*(*uint32)(unsafe.Add(f, lay.init)) = init
		*(*uint32)(unsafe.Add(f, lay.warp)) = uint32(w)
		entry := v.code.entries[0]
		if init == 0xffffffff {
			entry = v.code.entries[1]
		}
		*(*uint64)(unsafe.Add(f, lay.entry)) = uint64(v.base) + uint64(entry)
		for lane := range uint32(32) {
			t := uint32(w)*32 + lane
			tid := [3]uint32{t % dims[0], t / dims[0] % dims[1], t / dims[0] / dims[1]}
			for a := range tid {
				*(*uint32)(unsafe.Add(f, lay.tidRows+int32(128*a)+int32(4*lane))) = tid[a]
				if lane%16 == 0 {
					*(*uint32)(unsafe.Add(f, lay.tid+int32(16*a)+int32(lane/2))) = tid[a]
				}
			}
		}
		r.reset(f)
	}
}

// reset lets a warp begin anew.
func (r *blockRunner) reset(f unsafe.Pointer) {
	lay := r.v.code.lay
	*(*uint64)(unsafe.Add(f, lay.resume)) = *(*uint64)(unsafe.Add(f, lay.entry))
	*(*uint32)(unsafe.Add(f, lay.live)) = *(*uint32)(unsafe.Add(f, lay.init))
	for i := range int32(r.v.code.v.waits) {
		*(*uint32)(unsafe.Add(f, lay.pend+4*i)) = 0
	}
}

// Run implements exec.BlockRunner.
func (r *blockRunner) Run(index [3]uint32, n uint64, pause func()) (uint64, bool) {
	x := r.x
	if r.c.cta.waits || r.c.e.probe != 0 {
		n = 1
	}
	r.batch = uint32(min(n, r.most))
	x.batch = r.batch
	if n := r.v.replaced.Load(); n != nil {
		if n.code == nil {
			// There is no code any more: the CTA starts where it stopped, at the beginning.
			x.frame, r.pc, r.paused, x.ctaid = r.first, 0, false, index
			x.mask = *(*uint32)(unsafe.Add(r.first, r.v.code.lay.init))
			return 0, false
		}
		r.setup(n)
	}
	x.ctaid = index
	x.frame = r.first
	x.left = uint32(r.v.code.v.warps)
	x.budget = r.quota
	if r.c.e.probe != 0 {
		x.probe = r.c.e.probe
		defer func() { r.c.e.probe = (r.c.e.probe*7 + 5) % 1021 }()
	}
	start := r.v.base + uintptr(r.v.code.start)
	edges := int32(0) // in the pauses of the run
	for {
		ret := enter(start, unsafe.Pointer(x))
		x.op = 0
		why, pc := ret>>exitShift, int32(ret&(1<<exitShift-1))
		switch why {
		case exitDone:
			return uint64(r.batch), true
		case exitBudget:
			edges += r.quota
			r.pc, r.paused = pc, true
			if r.l.Stop != nil && r.l.Stop.Load() || r.c.cta.waits && edges >= r.patience {
				return r.Ended(), false
			}
			x.budget = r.quota
			pause()
		default:
			r.pc, r.paused = pc, false
			return r.Ended(), false
		}
	}
}

// Ended implements exec.BlockRunner.
func (r *blockRunner) Ended() uint64 { return uint64(r.batch - r.x.batch) }

// Restore implements exec.BlockRunner.
func (r *blockRunner) Restore(c *exec.CTA) {
	lay, v := r.v.code.lay, r.v.code.v
	copy(unsafe.Slice((*byte)(c.Shared), c.SharedSize), unsafe.Slice((*byte)(r.memory), c.SharedSize))
	cur := int(uintptr(r.x.frame)-uintptr(r.first)) / int(r.size)
	for i, w := range c.Warps {
		f := unsafe.Add(r.first, i*int(r.size))
		copy(unsafe.Slice((*byte)(w.Frame()), v.a.f.FrameSize), unsafe.Slice((*byte)(f), v.a.f.FrameSize))
		var at []exec.Standing
		resume := uintptr(*(*uint64)(unsafe.Add(f, lay.resume)))
		point, known := r.v.points[resume]
		switch {
		case i == cur && !r.paused:
			at = append(at, exec.Standing{PC: r.pc, Mask: r.x.mask})
		case known:
			mask := uint32(0xffffffff)
			if point.masked {
				mask = *(*uint32)(unsafe.Add(f, lay.mask))
			}
			pc := point.op
			if point.bar && i < cur {
				pc-- // it has come to the barrier, and waits
			}
			at = append(at, exec.Standing{PC: pc, Mask: mask})
		case resume == r.v.base+uintptr(r.v.code.skip):
		default:
			at = append(at, exec.Standing{PC: 0, Mask: *(*uint32)(unsafe.Add(f, lay.init))})
		}
		for b := range v.a.blocks {
			if p := v.pending[b]; p >= 0 {
				if m := *(*uint32)(unsafe.Add(f, lay.pend+4*p)); m != 0 {
					at = append(at, exec.Standing{PC: v.a.blocks[b].start, Mask: m})
				}
			}
		}
		for _, x := range at {
			r.materialize(f, w.Frame(), x)
		}
		w.Place(at)
		w.CC = *(*uint32)(unsafe.Add(f, lay.cc))
		r.reset(f)
	}
	if !r.paused && r.v.replaced.Load() == nil {
		r.c.stopped(r.v, r.pc, r.l.Stop)
	}
	if ctr := r.l.Counters; ctr != nil {
		ctr.Fallbacks.Add(1)
	}
}

// materialize writes the rows of scalars for lanes that stand at an operation.
func (r *blockRunner) materialize(f, to unsafe.Pointer, s exec.Standing) {
	v := r.v.code.v
	b := v.inBlock[s.PC]
	cur := map[uint32]int32{}
	for _, x := range v.entry[b] {
		cur[x.row] = x.web
	}
	for i := v.a.blocks[b].start; i < s.PC; i++ {
		for _, d := range v.ops[i].defs {
			cur[d.row] = d.web
		}
	}
	for row, w := range cur {
		x := &v.webs[w]
		if !x.shape.scalar() || x.class == ir.WPred || !x.at.set {
			continue
		}
		var base unsafe.Pointer
		switch x.at.base {
		case asm.R15:
			base = unsafe.Pointer(r.x)
		case asm.R12:
			base = r.x.consts
		default:
			base = f
		}
		base = unsafe.Add(base, x.at.disp)
		for m := s.Mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			p, n := base, int64(lane)
			if x.shape.halves {
				p, n = unsafe.Add(base, lane/16*8), int64(lane%16)
			}
			d := unsafe.Add(to, row)
			if x.class == ir.W64 {
				*(*uint64)(unsafe.Add(d, 8*lane)) = *(*uint64)(p) + uint64(n*x.shape.stride)
			} else {
				*(*uint32)(unsafe.Add(d, 4*lane)) = *(*uint32)(p) + uint32(n*x.shape.stride)
			}
		}
	}
}

// Faulted implements exec.BlockRunner.
func (r *blockRunner) Faulted(c *exec.CTA, addr uint64) (*exec.Warp, uint64) {
	r.broken = true
	x := r.x
	w := c.Warps[int(uintptr(x.frame)-uintptr(r.first))/int(r.size)]
	w.Lane = -1
	kind, op := x.op>>24, int32(x.op&(1<<24-1))
	x.op = 0
	if kind == accessNone {
		return w, addr
	}
	w.Op, w.Lane = op, 0
	v := r.v.code.v
	o := &v.a.f.Ops[op]
	if kind != accessAffine {
		active := uint32(0xffffffff)
		if o.Guard >= 0 {
			active &= x.out
		}
		w.Lane, addr = x.locate(kind, active, addr, o)
		return w, addr
	}
	a, ok := o.Access()
	if !ok {
		return w, addr
	}
	s := v.webs[v.useWeb(op, a.Addr.Base.Ref.Off)].shape
	for lane := range 32 {
		at := x.addr[0] + uint64(int64(lane)*s.stride)
		if s.halves {
			at = x.addr[lane/16] + uint64(int64(lane%16)*s.stride)
		}
		if at, ok := within(addr, at+uint64(a.Addr.Disp), uint64(a.Size)); ok {
			w.Lane, addr = lane, at
			break
		}
		if at += uint64(a.Addr.Disp); x.stores(o, at) {
			w.Lane, addr = lane, at
			break
		}
	}
	return w, addr
}

// Publish implements exec.BlockRunner.
func (r *blockRunner) Publish() {
	x := r.x
	if x.shadowPage == 0 {
		return
	}
	page := unsafe.Add(r.l.Mem.Ptr, x.shadowPage-r.l.Mem.Base)
	// A page that is gone shows here: under the race detector atomic operations are made in C, where a fault ends the process.
	r.touched = *(*uint32)(page)
	words := (*[shadowSize / 4]uint32)(x.shadow)
	for i, n := range words {
		if n != 0 {
			atomic.AddUint32((*uint32)(unsafe.Add(page, 4*i)), n)
			words[i] = 0
		}
	}
}

// Close implements exec.BlockRunner.
func (r *blockRunner) Close() {
	if ctr := r.l.Counters; ctr != nil {
		ctr.WarpInstructions.Add(r.x.instr)
	}
	r.l, r.x.launch, r.x.shadowPage = nil, nil, 0
	runtime.KeepAlive(r.c)
}
