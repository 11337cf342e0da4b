package jit

import (
	"errors"
	"math/bits"
	"runtime"
	"slices"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/checker"
	"github.com/gocuda/cuda/internal/defect"
	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/plan"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/mem"
)

// ctaKey names a version of a kernel's code for whole CTAs.
type ctaKey struct {
	dims  [3]uint32
	count bool
}

// ctaVersion is machine code for CTAs; region is nil when there is none for such.
type ctaVersion struct {
	key      ctaKey
	code     *abi.CTACode
	region   *region
	base     uintptr
	points   map[uintptr]abi.ResumePoint
	notes    []noted
	ops      []*checker.Op // for journals; nil where accesses are told at once
	stops    atomic.Int32
	replaced atomic.Pointer[ctaVersion]
	// of code of which a part is left out: what its links lead to, and that part, once there is one
	links []uintptr
	rest  atomic.Pointer[ctaRest]
}

// maxStops is how often CTAs may stop before their end for the same code before it is given up.
const maxStops = 64

// maxVersions bounds the versions of a kernel.
const maxVersions = 32

// ctaState is what a code has for CTAs.
type ctaState struct {
	analysis *plan.Func
	marks    *[]Mark
	versions map[ctaKey]*ctaVersion
	deny     []bool
	made     int
	off      bool                // there is none
	whole    bool                // no part of it is left for later
	falls    []*plan.NoCodeError // why there is none, or none for some shapes
	waits    bool                // a loop may wait for other threads
	regions  *[]*region
	checked  *function // of code for a memory checker: the kernel's entry, with its bounds
}

// version returns the code for blocks of the given dimensions, nil when there is none.
func (c *code) ctaVersion(s *ctaState, key ctaKey, stop *atomic.Bool) *ctaVersion {
	c.ctaMu.Lock()
	defer c.ctaMu.Unlock()
	if v, ok := s.versions[key]; ok {
		return v
	}
	defer s.guard()
	if !s.off && s.analysis == nil {
		f := c.k.Funcs[0]
		s.analysis = analyseWhole(c.e.back, c.k, c.single, s.checked, func(native []bool) []*plan.Told {
			return c.tells(f, native)
		})
		s.analysis.Meets = c.e.check
		s.marks = c.e.marks()
		no := plan.WholeCTA(c.k, s.analysis)
		if no == nil && c.e.init {
			no = s.analysis.Follow()
		}
		if no != nil {
			s.off = true
			c.note(&s.falls, no)
		}
		s.deny = make([]bool, len(f.Ops))
		s.waits = plan.MayWait(f)
		s.versions = map[ctaKey]*ctaVersion{}
	}
	if s.off {
		return nil
	}
	if s.made >= maxVersions {
		if s.made == maxVersions { // noted once
			s.made++
			c.note(&s.falls, &plan.NoCodeError{Why: plan.WhyShapes})
		}
		return nil
	}
	return c.makeCTA(s, key, stop)
}

// guard is deferred where code is made: after a panic there is none.
func (s *ctaState) guard() {
	if r := recover(); r != nil {
		s.off = true
		panic(defect.Of(r))
	}
}

// makeCTA makes the code for blocks of the given dimensions; nil when there is none, or stop was set meanwhile.
func (c *code) makeCTA(s *ctaState, key ctaKey, stop *atomic.Bool) *ctaVersion {
	v := &ctaVersion{key: key}
	var err error
	if v.code, err = c.generateCTA(s, key, stop); err == nil &&
		uint64(v.code.Values.Warps)*uint64(v.code.Frame.Size) > maxFrames {
		err = &plan.NoCodeError{Why: plan.WhyFrames}
	}
	if err == nil {
		v.region, err = c.e.mapCode(v.code.Text)
	}
	if err == plan.ErrStopped {
		return nil
	}
	s.made++
	if err != nil {
		var no *plan.NoCodeError
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
	v.points = pointsAt(v.base, v.code.Points)
	for _, off := range v.code.Links {
		v.links = append(v.links, v.base+uintptr(off))
	}
	v.notes = c.notesOf(v.code.Values)
	v.ops = c.quick(v.notes)
	s.versions[key] = v
	return v
}

// pointsAt are the places at which warps go on, by address, of code that stands at base.
func pointsAt(base uintptr, list []abi.ResumePoint) map[uintptr]abi.ResumePoint {
	points := make(map[uintptr]abi.ResumePoint, len(list))
	for _, p := range list {
		points[base+uintptr(p.Off)] = p
	}
	return points
}

// options are those of a version's code.
func (c *code) options(s *ctaState, key ctaKey) abi.CTAOptions {
	return abi.CTAOptions{Count: key.count, Probe: c.e.probe != 0, Marks: s.marks,
		Later: len(s.analysis.IR.Ops) >= c.e.later && !s.whole && s.marks == nil &&
			key.dims[0]*key.dims[1]*key.dims[2]%32 == 0}
}

// generateCTA writes the code. Operations whose templates do not get along with scalars have their operands in rows.
func (c *code) generateCTA(s *ctaState, key ctaKey, stop *atomic.Bool) (*abi.CTACode, error) {
	a := s.analysis
	a.Stop = stop
	defer func() { a.Stop = nil }()
	for try := 0; ; try++ {
		val, err := plan.Evaluate(a, key.dims, slices.Clone(s.deny))
		if err != nil {
			return nil, err
		}
		cc, err := c.e.back.CompileCTA(c.k, val, c.options(s, key))
		var no *plan.NoCodeError
		if !errors.As(err, &no) || no.Why != plan.WhyScalar && no.Why != plan.WhyRegisters {
			return cc, err
		}
		if a.InRows == nil {
			a.InRows = make([]bool, len(a.IR.Ops))
		}
		i := no.Ops[0]
		if a.InRows[i] {
			return nil, err
		}
		a.InRows[i] = true
		for j := range a.InRows { // whatever is alike would be the next
			if try >= plan.MaxRestarts && a.IR.Ops[j].Opcode() == a.IR.Ops[i].Opcode() {
				a.InRows[j] = true
			}
		}
		c.note(&s.falls, no)
	}
}

// stopped notes that a CTA stopped at an operation, and makes other code when that may help.
func (c *code) stopped(s *ctaState, v *ctaVersion, pc int32, stop *atomic.Bool) {
	c.ctaMu.Lock()
	defer c.ctaMu.Unlock()
	defer s.guard()
	if v.replaced.Load() != nil {
		return
	}
	if !s.deny[pc] && c.e.probe == 0 && s.made < maxVersions {
		s.deny[pc] = true
		if n := c.makeCTA(s, v.key, stop); n != nil {
			v.replaced.Store(n)
		}
		return
	}
	if v.stops.Add(1) > maxStops && c.e.probe == 0 {
		s.versions[v.key] = nil
		c.note(&s.falls, &plan.NoCodeError{Why: plan.WhyStops, Line: c.k.Funcs[0].Ops[pc].Line})
		v.replaced.Store(&ctaVersion{})
	}
}

// blockRunner implements exec.BlockRunner.
type blockRunner struct {
	c           *code
	s           *ctaState
	v           *ctaVersion
	l           *exec.Launch
	x           *context
	frames      []byte // kept alive
	first       unsafe.Pointer
	shared      []uint64
	memory      unsafe.Pointer // the CTA's shared memory, in shared
	size        int32
	quota       int32  // back edges of a turn
	patience    int32  // of a CTA that may wait for others, until it seems to
	most        uint64 // CTAs of a run
	batch       uint32 // CTAs of the run under way
	pc          int32  // where the CTA stopped
	paused      bool
	local       []uint64   // local memory of the CTA's threads
	guest       exec.Guest // does operations in Go for the machine code
	serving     bool       // it does one now, at pc
	samplers    []abi.Sampler
	mem         *exec.Memory // that bounds hold for, under a memory checker
	broken      bool         // the CTA did not get to an end
	sharedBytes uint32       // of a CTA, with the reserved part
	following
	defining
}

// Blocks implements exec.BlockCode.
func (c *code) Blocks(l *exec.Launch, had exec.BlockRunner) exec.BlockRunner {
	if c.e.check && !c.e.init && l.Order != (exec.Order{}) || l.Mem.Check != nil && l.Mem.CheckRange == nil ||
		uint64(len(l.Params)) < c.k.ParamSize || c.k.ParamSize > abi.MaxParams-64 || c.localBytes(l) > maxFrames {
		return nil
	}
	if c.e.init && ir.ReservedShared+c.k.SharedSize+l.Shared > abi.DefinedOff-256 {
		return nil
	}
	s := &c.cta
	if l.Mem.Check != nil {
		s = c.checkedCTA()
	}
	key := ctaKey{l.Block, l.Counters != nil}
	r, _ := had.(*blockRunner)
	if r == nil || r.c != c || r.s != s || r.v.key != key || r.v.replaced.Load() != nil {
		v := c.ctaVersion(s, key, l.Stop)
		if v == nil {
			return nil
		}
		if r == nil || r.c != c || r.s != s {
			r = &blockRunner{c: c, s: s, x: new(context)}
			if c.matrix != nil {
				r.x.Matrix = c.matrix()
			}
			if n := len(c.samplers); n > 0 {
				r.samplers = make([]abi.Sampler, n)
				r.x.Sampling = abi.NewSampling(r.samplers)
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

// maxFrames is how many bytes of frames a CTA may have that runs as a whole; others run warp by warp, whose memory
// package exec counts.
const maxFrames = ir.MaxFrame

// A run lets Go look around after turnEdges backward branches, and after so many CTAs that their operations, each
// executed once, are batchOps.
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
	x.Self, x.Tables = r.c.e.layout.Tables, r.c.e.layout.Tables
	x.Low, x.Span = globalRange(l.Mem)
	size := ir.ReservedShared + (k.SharedSize+l.Shared+127)&^127
	need := int(size+2048)/8 + 128
	if r.c.e.init {
		need += abi.DefinedOff / 8
	}
	if len(r.shared) < need {
		r.shared = make([]uint64, need)
	}
	sp := unsafe.Pointer(unsafe.SliceData(r.shared))
	r.memory = unsafe.Add(sp, -uintptr(sp)&1023)
	x.Shared = uintptr(r.memory)
	shared := size
	if r.s.checked != nil {
		shared = r.beginChecked(size)
	}
	r.sharedBytes = shared
	for i := range x.SharedTop {
		x.SharedTop[i] = shared - 1<<i
	}
	copy(x.ParamCopy[:], l.Params)
	x.Params = unsafe.Pointer(&x.ParamCopy)
	x.SharedGen = l.Mem.Base + l.Mem.SharedOff
	x.Block, x.Grid = l.Block, l.Grid
	x.Launch, x.LocalGen, x.ParamGen, x.ParamSize = unsafe.Pointer(l), l.Mem.Base+l.Mem.LocalOff, l.ParamAddr,
		uint32(len(l.Params))
	x.Consts = l.Consts
	x.Stream = 0
	if v := r.v.code.Values; v.Streams > 0 {
		threads := uint64(l.Grid[0]) * uint64(l.Grid[1]) * uint64(l.Grid[2]) * uint64(32*v.Warps)
		if threads*4*uint64(v.Streams) >= r.c.e.stream {
			x.Stream = 1
		}
	}
	x.Instr, x.Op = 0, 0
	clear(r.samplers) // textures may have changed
	if r.c.e.check {
		r.beginJournal()
	}
	if r.c.e.init {
		r.beginDefined()
	}
	if r.s.analysis.Serves > 0 || r.c.e.notes() {
		r.guest.Begin(l, x.Consts, r.memory)
	}
	if r.c.usesLocal() {
		r.giveLocal()
	}
	if r.v.code.Values.Shadow && x.Shadow == nil {
		x.Shadow = unsafe.Pointer(new([abi.ShadowSize / 4]uint32))
	}
	x.ShadowPage = 0
}

// setup makes the frames that the machine code works on.
func (r *blockRunner) setup(v *ctaVersion) {
	r.v = v
	lay := v.code.Frame
	n := v.code.Values.Warps
	dims := v.key.dims
	r.size = lay.Size
	r.most = max(uint64(batchOps)/uint64(n*len(r.c.k.Funcs[0].Ops)), 1)
	if need := n*int(lay.Size) + 128; len(r.frames) < need {
		buf := make([]uint64, need/8)
		r.frames = unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(buf))), len(buf)*8)
	} else {
		clear(r.frames)
	}
	p := unsafe.Pointer(unsafe.SliceData(r.frames))
	r.first = unsafe.Add(p, -uintptr(p)&63)
	r.x.First = r.first
	r.x.Last = uintptr(r.first) + uintptr((n-1)*int(lay.Size))
	r.x.Links = unsafe.Pointer(unsafe.SliceData(v.links))
	threads := dims[0] * dims[1] * dims[2]
	for w := range n {
		f := unsafe.Add(r.first, w*int(lay.Size))
		next := unsafe.Add(r.first, (w+1)%n*int(lay.Size))
		*(*uint64)(unsafe.Add(f, lay.Next)) = uint64(uintptr(next))
		init := uint32(0xffffffff)
		if rest := threads - uint32(w)*32; rest < 32 {
			init = 1<<rest - 1
		}
		*(*uint32)(unsafe.Add(f, lay.Init)) = init
		*(*uint32)(unsafe.Add(f, lay.Warp)) = uint32(w)
		*(*uint32)(unsafe.Add(f, lay.Tag)) = uint32(w) << 24
		entry := v.code.Entries[0]
		if init == 0xffffffff {
			entry = v.code.Entries[1]
		}
		*(*uint64)(unsafe.Add(f, lay.Entry)) = uint64(v.base) + uint64(entry)
		for lane := range uint32(32) {
			t := uint32(w)*32 + lane
			tid := [3]uint32{t % dims[0], t / dims[0] % dims[1], t / dims[0] / dims[1]}
			for a := range tid {
				*(*uint32)(unsafe.Add(f, lay.TidRows+int32(128*a)+int32(4*lane))) = tid[a]
				if lane%16 == 0 {
					*(*uint32)(unsafe.Add(f, lay.Tid+int32(16*a)+int32(lane/2))) = tid[a]
				}
			}
		}
		r.reset(f)
	}
}

// reset lets a warp begin anew.
func (r *blockRunner) reset(f unsafe.Pointer) {
	lay := r.v.code.Frame
	*(*uint64)(unsafe.Add(f, lay.Resume)) = *(*uint64)(unsafe.Add(f, lay.Entry))
	*(*uint32)(unsafe.Add(f, lay.Live)) = *(*uint32)(unsafe.Add(f, lay.Init))
	for i := range int32(r.v.code.Values.Reconvergences) {
		*(*uint32)(unsafe.Add(f, lay.Pend+4*i)) = 0
	}
	if lay.Tops != 0 {
		for lane := range (*[32]uint32)(unsafe.Add(f, lay.Tops)) {
			(*[32]uint32)(unsafe.Add(f, lay.Tops))[lane] = uint32(r.c.k.Funcs[0].Local.Size)
		}
	}
}

// Run implements exec.BlockRunner.
func (r *blockRunner) Run(index [3]uint32, n uint64, pause func()) (uint64, bool) {
	x := r.x
	if r.s.waits || r.c.e.probe != 0 || r.c.e.notes() {
		n = 1
	}
	r.batch = uint32(min(n, r.most))
	x.Batch = r.batch
	if v, last := r.v.replaced.Load(), r.trips > maxTrips; v != nil || last {
		if last || v.code == nil {
			// There is no code any more: the CTA starts where it stopped, at the beginning.
			for w := range r.v.code.Values.Warps {
				r.reset(unsafe.Add(r.first, w*int(r.size)))
			}
			x.Frame, r.pc, r.paused, x.CTAID = r.first, 0, false, index
			if r.c.e.notes() {
				r.follow(index)
			}
			x.Mask = *(*uint32)(unsafe.Add(r.first, r.v.code.Frame.Init))
			return 0, false
		}
		r.setup(v)
		if r.c.usesLocal() {
			r.giveLocal()
		}
	}
	x.CTAID = index
	x.Frame = r.first
	if lay := r.v.code.Frame; r.v.code.InStep {
		entry := *(*uint64)(unsafe.Add(r.first, lay.Entry))
		*(*uint64)(unsafe.Add(r.first, lay.Resume)) = entry
		x.Part = uintptr(entry)
	}
	x.Left = uint32(r.v.code.Values.Warps)
	x.Budget = r.quota
	if r.c.e.probe != 0 {
		x.Probe = r.c.e.probe
		defer func() { r.c.e.probe = (r.c.e.probe*7 + 5) % 1021 }()
	}
	start := r.v.base + uintptr(r.v.code.Start)
	if r.c.e.notes() {
		r.follow(index)
	}
	edges := int32(0) // in the pauses of the run
	for {
		if r.s.checked != nil {
			x.useBounds(r.l.Mem, r.l.Init, r.c, r.s.checked)
		}
		ret := enter(start, unsafe.Pointer(x))
		x.Op = 0
		why, pc := ret>>abi.ExitShift, int32(ret&(1<<abi.ExitShift-1))
		switch why {
		case abi.ExitDone:
			if r.c.e.notes() {
				r.unfollowed()
			}
			return uint64(r.batch), true
		case abi.ExitBudget:
			edges += r.quota
			r.pc, r.paused, r.undone = pc, true, -1
			if r.l.Stop != nil && r.l.Stop.Load() || r.s.waits && edges >= r.patience {
				return r.Ended(), false
			}
			x.Budget = r.quota
			pause()
		case abi.ExitServe:
			r.serve(pc)
		case abi.ExitRest:
			if !r.c.complete(r.s, r.v, r.l.Stop) {
				r.pc, r.paused, r.undone = pc, true, -1
				return r.Ended(), false
			}
		case abi.ExitLog:
			r.tellNotes(-1)
			x.Allowed = abi.AllowedBound
		case abi.ExitBound:
			x.Allowed = r.bound(pc)
			r.kept = x.Allowed == abi.AllowedNone
		case abi.ExitUndefined:
			r.tripped = true
			r.pc, r.paused, r.undone, r.kept = pc, false, -1, false
			return r.Ended(), false
		default:
			r.pc, r.paused = pc, false
			if r.undone = pc; r.kept {
				r.undone, r.kept = -1, false
			}
			return r.Ended(), false
		}
	}
}

// Ended implements exec.BlockRunner.
func (r *blockRunner) Ended() uint64 { return uint64(r.batch - r.x.Batch) }

// Restore implements exec.BlockRunner.
func (r *blockRunner) Restore(c *exec.CTA) {
	lay, v := r.v.code.Frame, r.v.code.Values
	copy(unsafe.Slice((*byte)(c.Shared), c.SharedSize), unsafe.Slice((*byte)(r.memory), c.SharedSize))
	if r.c.e.notes() {
		r.unfollow(c, r.undone)
	}
	cur := int(uintptr(r.x.Frame)-uintptr(r.first)) / int(r.size)
	for i, w := range c.Warps {
		f := unsafe.Add(r.first, i*int(r.size))
		copy(unsafe.Slice((*byte)(w.Frame()), v.Func.IR.FrameSize), unsafe.Slice((*byte)(f), v.Func.IR.FrameSize))
		var at []exec.Standing
		begun := true
		resume := uintptr(*(*uint64)(unsafe.Add(f, lay.Resume)))
		if r.v.code.InStep && i > cur {
			resume = r.x.Part
		}
		point, known := r.v.points[resume]
		if rest := r.v.rest.Load(); !known && rest != nil {
			point, known = rest.points[resume]
		}
		switch {
		case !r.v.code.Waits && i < cur: // it has ended
		case i == cur && !r.paused:
			at = append(at, exec.Standing{PC: r.pc, Mask: r.x.Mask})
		case known:
			mask := uint32(0xffffffff)
			if point.Masked {
				mask = *(*uint32)(unsafe.Add(f, lay.Mask))
			}
			pc := point.Op
			if point.Bar && i < cur {
				pc-- // it has come to the barrier, and waits
			}
			at = append(at, exec.Standing{PC: pc, Mask: mask})
		case resume == r.v.base+uintptr(r.v.code.Skip):
		default:
			at = append(at, exec.Standing{PC: 0, Mask: *(*uint32)(unsafe.Add(f, lay.Init))})
			begun = false
		}
		if r.c.usesLocal() {
			r.restoreLocal(i, w, begun)
		}
		for b := range v.Func.Blocks {
			if p := v.Reconverge[b]; p >= 0 {
				if m := *(*uint32)(unsafe.Add(f, lay.Pend+4*p)); m != 0 {
					at = append(at, exec.Standing{PC: v.Func.Blocks[b].Start, Mask: m})
				}
			}
		}
		for _, x := range at {
			r.materialize(f, w.Frame(), x)
		}
		w.Place(at)
		w.CC = *(*uint32)(unsafe.Add(f, lay.CC))
		r.reset(f)
	}
	if r.tripped {
		r.trips++
		r.tripped = false
	} else if !r.paused && r.v.replaced.Load() == nil && r.trips <= maxTrips {
		r.c.stopped(r.s, r.v, r.pc, r.l.Stop)
	}
	if ctr := r.l.Counters; ctr != nil {
		ctr.Fallbacks.Add(1)
	}
}

// materialize writes the rows of scalars for lanes that stand at an operation.
func (r *blockRunner) materialize(f, to unsafe.Pointer, s exec.Standing) {
	v := r.v.code.Values
	b := v.InBlock[s.PC]
	cur := map[uint32]int32{}
	for _, x := range v.Entry[b] {
		cur[x.Row] = x.Web
	}
	for i := v.Func.Blocks[b].Start; i < s.PC; i++ {
		for _, d := range v.Ops[i].Defs {
			cur[d.Row] = d.Web
		}
	}
	for row, w := range cur {
		x := &v.Webs[w]
		if !x.Variation.Scalar() || x.Class == ir.WPred || x.At.Base == plan.Nowhere {
			continue
		}
		base := r.placed(f, x.At)
		for m := s.Mask; m != 0; m &= m - 1 {
			lane := bits.TrailingZeros32(m)
			p, n := laneOf(base, &x.Variation, lane)
			d := unsafe.Add(to, row)
			if x.Class == ir.W64 {
				*(*uint64)(unsafe.Add(d, 8*lane)) = *(*uint64)(p) + uint64(n)
			} else {
				*(*uint32)(unsafe.Add(d, 4*lane)) = *(*uint32)(p) + uint32(n)
			}
		}
	}
}

// placed is where a scalar of the warp with a frame stands.
func (r *blockRunner) placed(f unsafe.Pointer, at plan.Location) unsafe.Pointer {
	switch at.Base {
	case plan.InContext:
		f = unsafe.Pointer(r.x)
	case plan.InConstants:
		f = r.x.Consts
	}
	return unsafe.Add(f, at.Disp)
}

// laneOf says where the base of a lane's value stands, of a scalar at base, and how much more the value is.
func laneOf(base unsafe.Pointer, s *plan.Variation, lane int) (p unsafe.Pointer, more int64) {
	p, n := base, int64(lane)
	if s.Halves {
		p, n = unsafe.Add(base, lane/16*8), int64(lane%16)
	}
	return p, n*s.Stride + int64(lane/16)*s.Skew
}

// Faulted implements exec.BlockRunner.
func (r *blockRunner) Faulted(c *exec.CTA, addr uint64) (*exec.Warp, uint64) {
	r.broken = true
	x := r.x
	w := c.Warps[int(uintptr(x.Frame)-uintptr(r.first))/int(r.size)]
	w.Lane = -1
	kind, op := x.Op>>24, int32(x.Op&(1<<24-1))
	x.Op = 0
	if r.c.e.notes() {
		undone := op
		if r.serving {
			undone = -1
		}
		r.unfollow(c, undone)
	}
	if r.serving {
		r.serving = false
		w.Op = r.pc
		w.Lane, addr = r.guest.Missed(addr)
		return w, addr
	}
	if kind == abi.AccessNone {
		return w, addr
	}
	w.Op, w.Lane = op, 0
	if kind == abi.AccessTexture {
		w.Lane = bits.TrailingZeros32(x.Sampling.Mask)
		return w, addr
	}
	v := r.v.code.Values
	o := &v.Func.IR.Ops[op]
	if kind != abi.AccessAffine {
		active := uint32(0xffffffff)
		if o.Guard >= 0 {
			active &= x.Out
		}
		w.Lane, addr = x.locate(kind, active, addr, o)
		return w, addr
	}
	a, ok := o.Access()
	if !ok {
		return w, addr
	}
	s := v.Webs[v.UseWeb(op, a.Addr.Base.Ref.Off)].Variation
	for lane := range 32 {
		at := x.Addr[0] + uint64(int64(lane)*s.Stride+int64(lane/16)*s.Skew)
		if s.Halves {
			at = x.Addr[lane/16] + uint64(int64(lane%16)*s.Stride)
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
	if x.ShadowPage == 0 {
		return
	}
	page := unsafe.Add(r.l.Mem.Ptr, x.ShadowPage-r.l.Mem.Base)
	words := (*[abi.ShadowSize / 4]uint32)(x.Shadow)
	for i, n := range words {
		if n != 0 {
			mem.AddUint32((*uint32)(unsafe.Add(page, 4*i)), n)
			words[i] = 0
		}
	}
}

// Close implements exec.BlockRunner.
func (r *blockRunner) Close() {
	if ctr := r.l.Counters; ctr != nil {
		ctr.WarpInstructions.Add(r.x.Instr)
	}
	r.guest.End()
	clear(r.samplers)
	r.l, r.x.Launch, r.x.ShadowPage = nil, nil, 0
	runtime.KeepAlive(r.c)
}
