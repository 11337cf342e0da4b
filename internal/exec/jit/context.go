package jit

import (
	"math/bits"
	"runtime/debug"
	"sync/atomic"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// context is what machine code knows of the warp that it runs for; R15 points at it. It belongs to the warp (exec.Warp.Ext).
type context struct {
	frame  unsafe.Pointer
	consts unsafe.Pointer
	mask   uint32
	limit  int32
	budget int32
	op     uint32 // operation of the global access under way (low 24 bits), and its kind; see Locate
	instr  uint64 // operations executed
	out    uint32 // lanes that take a branch that diverges
	live   uint32
	// global memory: addresses from low on for span bytes need no further check but for being mapped
	low, span uint64
	shared    uintptr   // shared memory less sharedLow: what an address of the shared window is added to
	sharedTop [8]uint32 // highest offset in shared memory of an access of 1, 2, 4, 8, 16, 32, 64 bytes
	sharedLow uint64    // address of the CTA's own memory in the shared window; 0 in code of whole CTAs, which run outside clusters
	cta       unsafe.Pointer
	params    unsafe.Pointer
	sharedGen uint64 // generic address of shared memory's window
	released  uint32
	warp      uint32 // index in the CTA
	block     [3]uint32
	ctaid     [3]uint32
	grid      [3]uint32
	_         uint32
	addr      [2]uint64  // of a half warp's lane 0, contiguous accesses
	addrs     [32]uint64 // of each lane, gathers
	scratch   [32]uint32
	tables    unsafe.Pointer
	self      *engineTables
	first     unsafe.Pointer // frame of the CTA's first warp
	left      uint32         // warps that have not ended
	batch     uint32         // CTAs to run, the one under way too
	probe     int32          // operations until a CTA stops, in tests
	// global additions that are put off: the page's address, 0 for none yet, and its shadow
	shadowPage uint64
	shadow     unsafe.Pointer
	launch     unsafe.Pointer
	local      unsafe.Pointer // local memory of lane 0, nil before its first use
	localSize  uint32         // of a lane
	localOff   uint32         // of the running function's variables
	localGen   uint64         // generic address of local memory's window
	paramGen   uint64         // that of the parameters
	paramSize  uint32
	cc         uint32         // carry flags
	tops       unsafe.Pointer // stack pointers of the lanes in the running function
	actTop     uint32         // where its stack begins
	stream     uint32         // not 0: what the launch stores is more than caches hold
	// under a memory checker: the bounds of the running function, those of all by their index, and when they held
	bounds    unsafe.Pointer
	checked   [][]bound
	epoch     uint64
	laneIn    [5][32]uint64
	laneOut   [8][32]uint64
	matrix    *matrixWork     // nil as long as no function needs it
	paramCopy [maxParams]byte // the parameters, with room behind them for vector loads
	_         [registersPad]byte
	registers [asm.FileSize]byte // AVX-512's registers in code for AVX2
}

// registersPad makes context.registers begin at a 64-byte boundary where the allocator puts an object of this size 8 bytes behind one, as Go 1.22 to 1.26 do
// (TestContextAlignment looks). Elsewhere code is slower and as right: nothing that it does with them needs an alignment.
const registersPad = 8

var _ = [1]struct{}{}[unsafe.Offsetof(context{}.registers)%64-56]

// maxParams is how many bytes of parameters CTA code takes, and what a context has for them.
const maxParams = 4096

// Kinds of accesses in context.op: how Locate finds the lane.
const (
	accessNone    = iota
	accessLanes   // addrs has the addresses
	accessHalf0   // lanes 0 to 15 from addr[0] on, element by element
	accessHalf1   // lanes 16 to 31
	accessUniform // every lane the same address
	accessAffine  // a scalar of CTA code: its bases are in addr
	accessLane    // the lane is in addr[0]
)

// slack is how far displacements may lie from a checked address.
const slack = 1 << 16

var (
	offFrame      = int32(unsafe.Offsetof(context{}.frame))
	offConsts     = int32(unsafe.Offsetof(context{}.consts))
	offMask       = int32(unsafe.Offsetof(context{}.mask))
	offLimit      = int32(unsafe.Offsetof(context{}.limit))
	offBudget     = int32(unsafe.Offsetof(context{}.budget))
	offOp         = int32(unsafe.Offsetof(context{}.op))
	offInstr      = int32(unsafe.Offsetof(context{}.instr))
	offOut        = int32(unsafe.Offsetof(context{}.out))
	offLive       = int32(unsafe.Offsetof(context{}.live))
	offLow        = int32(unsafe.Offsetof(context{}.low))
	offSpan       = int32(unsafe.Offsetof(context{}.span))
	offShared     = int32(unsafe.Offsetof(context{}.shared))
	offSharedTop  = int32(unsafe.Offsetof(context{}.sharedTop))
	offSharedLow  = int32(unsafe.Offsetof(context{}.sharedLow))
	offCTA        = int32(unsafe.Offsetof(context{}.cta))
	offParams     = int32(unsafe.Offsetof(context{}.params))
	offSharedGen  = int32(unsafe.Offsetof(context{}.sharedGen))
	offReleased   = int32(unsafe.Offsetof(context{}.released))
	offWarp       = int32(unsafe.Offsetof(context{}.warp))
	offBlock      = int32(unsafe.Offsetof(context{}.block))
	offCTAID      = int32(unsafe.Offsetof(context{}.ctaid))
	offGrid       = int32(unsafe.Offsetof(context{}.grid))
	offAddr       = int32(unsafe.Offsetof(context{}.addr))
	offAddrs      = int32(unsafe.Offsetof(context{}.addrs))
	offScratch    = int32(unsafe.Offsetof(context{}.scratch))
	offTables     = int32(unsafe.Offsetof(context{}.tables))
	offFirst      = int32(unsafe.Offsetof(context{}.first))
	offShadowPage = int32(unsafe.Offsetof(context{}.shadowPage))
	offShadow     = int32(unsafe.Offsetof(context{}.shadow))
	offProbe      = int32(unsafe.Offsetof(context{}.probe))
	offBatch      = int32(unsafe.Offsetof(context{}.batch))
	offLeft       = int32(unsafe.Offsetof(context{}.left))
	offLaunch     = int32(unsafe.Offsetof(context{}.launch))
	offLocal      = int32(unsafe.Offsetof(context{}.local))
	offLocalSize  = int32(unsafe.Offsetof(context{}.localSize))
	offLocalOff   = int32(unsafe.Offsetof(context{}.localOff))
	offLocalGen   = int32(unsafe.Offsetof(context{}.localGen))
	offParamGen   = int32(unsafe.Offsetof(context{}.paramGen))
	offParamSize  = int32(unsafe.Offsetof(context{}.paramSize))
	offCC         = int32(unsafe.Offsetof(context{}.cc))
	offTops       = int32(unsafe.Offsetof(context{}.tops))
	offStream     = int32(unsafe.Offsetof(context{}.stream))
	offBounds     = int32(unsafe.Offsetof(context{}.bounds))
	offActTop     = int32(unsafe.Offsetof(context{}.actTop))
	offLaneIn     = int32(unsafe.Offsetof(context{}.laneIn))
	offLaneOut    = int32(unsafe.Offsetof(context{}.laneOut))
	offParamCopy  = int32(unsafe.Offsetof(context{}.paramCopy))
	offMatrix     = int32(unsafe.Offsetof(context{}.matrix))
	offRegisters  = int32(unsafe.Offsetof(context{}.registers))
)

func inContext(off int32) asm.Mem { return asm.At(asm.R15, off) }

// contextOf returns the warp's context, filled in for its CTA.
func contextOf(w *exec.Warp, t *engineTables, matrix bool) *context {
	c := (*context)(w.Ext)
	switch {
	case c == nil || c.self != t || w.ExtState == exec.ExtStale:
	case w.ExtState == exec.ExtReady:
		return c
	default:
		w.ExtState = exec.ExtReady
		c.ctaid, c.op = w.CTA.Index, 0
		return c
	}
	if c == nil {
		c = new(context)
		w.Ext = unsafe.Pointer(c)
	}
	if matrix && c.matrix == nil {
		c.matrix = newMatrixWork()
	}
	w.ExtState = exec.ExtReady
	l := w.CTA.Launch
	c.self, c.tables = t, unsafe.Pointer(t)
	c.low, c.span = globalRange(l.Mem)
	c.cta, c.sharedLow = unsafe.Pointer(w.CTA), uint64(w.CTA.SharedAddress(0))
	c.shared = uintptr(w.CTA.Shared) - uintptr(c.sharedLow)
	shared := w.CTA.SharedSize
	if l.Mem.Check != nil {
		shared = w.CTA.SharedEnd()
	}
	for i := range c.sharedTop {
		c.sharedTop[i] = shared - 1<<i
	}
	c.checked = nil
	c.params = unsafe.Pointer(unsafe.SliceData(l.Params))
	c.launch, c.localGen, c.paramGen, c.paramSize = unsafe.Pointer(l), l.Mem.Base+l.Mem.LocalOff, l.ParamAddr, uint32(len(l.Params))
	c.sharedGen = l.Mem.Base + l.Mem.SharedOff
	c.warp, c.block, c.ctaid, c.grid = uint32(w.Index), l.Block, w.CTA.Index, l.Grid
	c.consts = w.Base[1]
	c.op = 0
	return c
}

// globalRange is the memory that machine code reaches by itself.
func globalRange(m *exec.Memory) (low, span uint64) {
	if m.Span > 2*slack {
		span = m.Span - 2*slack
	}
	return m.Base + m.Low, span
}

// Locate implements exec.FaultLocator.
func (c *code) Locate(w *exec.Warp, addr uint64) (at uint64, ok bool) {
	x := (*context)(w.Ext)
	if x == nil || x.op>>24 == accessNone {
		return addr, false
	}
	w.Op = int32(x.op & (1<<24 - 1))
	active := w.Cur.Mask
	op := &w.Act.Func.Ops[w.Op]
	if op.Guard >= 0 {
		active &= x.out
	}
	w.Lane, addr = x.locate(x.op>>24, active, addr, op)
	return addr, true
}

// within says whether the access of size bytes at an address fails at addr, and gives the first of its bytes that does. Gathers of less than a word read the word around it.
func within(addr, at, size uint64) (uint64, bool) {
	if addr < at && addr == at&^3 && size < 4 {
		return at, true
	}
	return addr, addr-at < size
}

// locate finds the lane among the active ones whose access failed at addr, and its address.
func (x *context) locate(kind, active uint32, addr uint64, op *ir.Op) (lane int, at uint64) {
	first := bits.TrailingZeros32(active) & 31
	switch kind {
	case accessUniform:
		return first, addr
	case accessLane:
		return int(x.addr[0]) & 31, addr
	}
	a, ok := op.Access()
	if !ok {
		return first, addr
	}
	size, disp := uint64(a.Size), uint64(a.Addr.Disp)
	for m := active; m != 0; m &= m - 1 {
		l := bits.TrailingZeros32(m)
		a := x.addrs[l]
		switch kind {
		case accessHalf0, accessHalf1:
			if h := int(kind - accessHalf0); h != l/16 {
				continue
			}
			a = x.addr[kind-accessHalf0] + uint64(l%16)*size
		}
		if at, ok := within(addr, a+disp, size); ok {
			return l, at
		}
		if kind == accessLanes && x.stores(op, a+disp) {
			return l, a + disp
		}
	}
	return first, addr
}

// stores says whether an operation is a store that fails at an address too: stores begin with the highest lane, and what is told is the lowest one that fails.
func (x *context) stores(op *ir.Op, addr uint64) (fails bool) {
	if op.Opcode() != optab.OpSt {
		return false
	}
	m := (*exec.Launch)(x.launch).Mem
	if addr-m.Base >= m.Size {
		return false
	}
	old := debug.SetPanicOnFault(true)
	defer debug.SetPanicOnFault(old)
	defer func() { fails = recover() != nil }()
	atomic.AddUint32((*uint32)(unsafe.Add(m.Ptr, (addr-m.Base)&^3)), 0)
	return false
}
