package abi

import (
	"unsafe"
)

// Context is what machine code knows of the warp that it runs for; R15 points at it. It belongs to the warp
// (exec.Warp.Ext).
type Context struct {
	Frame  unsafe.Pointer
	Consts unsafe.Pointer
	Mask   uint32
	Limit  int32
	Budget int32
	Op     uint32 // operation of the global access under way (low 24 bits), and its kind; see Locate
	Instr  uint64 // operations executed
	Out    uint32 // lanes that take a branch that diverges
	Live   uint32
	// global memory: addresses from low on for span bytes need no further check but for being mapped
	Low, Span uint64
	Shared    uintptr   // shared memory less sharedLow: what an address of the shared window is added to
	SharedTop [8]uint32 // highest offset in shared memory of an access of 1, 2, 4, 8, 16, 32, 64 bytes
	// address of the CTA's own memory in the shared window; 0 in code of whole CTAs, which run outside clusters
	SharedLow uint64
	CTA       unsafe.Pointer
	Params    unsafe.Pointer
	SharedGen uint64 // generic address of shared memory's window
	Released  uint32
	Warp      uint32 // index in the CTA
	Block     [3]uint32
	CTAID     [3]uint32
	Grid      [3]uint32
	_         uint32
	Addr      [2]uint64  // of a half warp's lane 0, contiguous accesses
	Addrs     [32]uint64 // of each lane, gathers
	Scratch   [32]uint32
	Tables    unsafe.Pointer
	Self      unsafe.Pointer
	First     unsafe.Pointer // frame of the CTA's first warp
	Left      uint32         // warps that have not ended
	Batch     uint32         // CTAs to run, the one under way too
	Last      uintptr        // frame of its last warp
	Part      uintptr        // where warps in step go on that have not had their turn yet (plan.Step)
	Probe     int32          // operations until a CTA stops, in tests
	// global additions that are put off: the page's address, 0 for none yet, and its shadow
	ShadowPage uint64
	Shadow     unsafe.Pointer
	Launch     unsafe.Pointer
	Local      unsafe.Pointer // local memory of lane 0, nil before its first use
	LocalSize  uint32         // of a lane
	LocalOff   uint32         // of the running function's variables
	LocalGen   uint64         // generic address of local memory's window
	ParamGen   uint64         // that of the parameters
	ParamSize  uint32
	CC         uint32         // carry flags
	Tops       unsafe.Pointer // stack pointers of the lanes in the running function
	ActTop     uint32         // where its stack begins
	Stream     uint32         // not 0: what the launch stores is more than caches hold
	// under a memory checker: the bounds of the running function, those of all by their index, and when they held
	Bounds    unsafe.Pointer
	Checked   [][]Bound
	Epoch     uint64
	laneIn    [5][32]uint64
	laneOut   [8][32]uint64
	Matrix    unsafe.Pointer  // nil as long as no function needs it
	ParamCopy [MaxParams]byte // the parameters, with room behind them for vector loads
	_         [registersPad]byte
	Registers [RegistersSize]byte // AVX-512's registers in code for AVX2
	Sampling  *Sampling           // nil as long as no function needs it
	// under a checker: where the next access is noted, and the last place for one; see LogEntry
	LogAt, LogEnd uintptr
	Log           *[LogSize]byte
	Allowed       uint32         // Go's answer to ExitBound
	Links         unsafe.Pointer // of code of which a part is written later; see LinkOf
}

// A note of an access for a checker: the operation and the lanes, and behind them the base addresses of all lanes,
// which are of 8 bytes, of 4, or left out where the operation names none. In code of whole CTAs the warp's number
// stands in the highest eight bits of the operation, a barrier that a warp comes to is noted too, without addresses,
// and in place of addresses that are a scalar stands its base, or one for each half (plan.Values.NotesBases), of 8
// bytes each.
type LogEntry struct {
	Op, Lanes uint32
}

// LogHead is the size of a LogEntry, LogSize that of the notes that a context has room for.
const (
	LogHead = 8
	LogSize = 64 * (LogHead + 8*32)
)

// RegistersSize is how much memory the registers of code for AVX2 take.
const RegistersSize = 2240

// registersPad makes context.registers begin at a 64-byte boundary where the allocator puts an object of this size 8
// bytes behind one, as Go 1.22 to 1.26 do (TestContextAlignment looks). Elsewhere code is slower and as right: nothing
// that it does with them needs an alignment.
const registersPad = 56

var _ = [1]struct{}{}[unsafe.Offsetof(Context{}.Registers)%64-56]

// MaxParams is how many bytes of parameters CTA code takes, and what a context has for them.
const MaxParams = 4096

// Kinds of accesses in context.op: how Locate finds the lane.
const (
	AccessNone    = iota
	AccessLanes   // addrs has the addresses
	AccessHalf0   // lanes 0 to 15 from addr[0] on, element by element
	AccessHalf1   // lanes 16 to 31
	AccessUniform // every lane the same address
	AccessAffine  // a scalar of CTA code: its bases are in addr
	AccessLane    // the lane is in addr[0]
	AccessTexture // by a texture; the lane is not known
)

var (
	OffFrame      = int32(unsafe.Offsetof(Context{}.Frame))
	OffConsts     = int32(unsafe.Offsetof(Context{}.Consts))
	OffMask       = int32(unsafe.Offsetof(Context{}.Mask))
	OffLimit      = int32(unsafe.Offsetof(Context{}.Limit))
	OffBudget     = int32(unsafe.Offsetof(Context{}.Budget))
	OffOp         = int32(unsafe.Offsetof(Context{}.Op))
	OffInstr      = int32(unsafe.Offsetof(Context{}.Instr))
	OffOut        = int32(unsafe.Offsetof(Context{}.Out))
	OffLive       = int32(unsafe.Offsetof(Context{}.Live))
	OffLow        = int32(unsafe.Offsetof(Context{}.Low))
	OffSpan       = int32(unsafe.Offsetof(Context{}.Span))
	OffShared     = int32(unsafe.Offsetof(Context{}.Shared))
	OffSharedTop  = int32(unsafe.Offsetof(Context{}.SharedTop))
	OffSharedLow  = int32(unsafe.Offsetof(Context{}.SharedLow))
	OffCTA        = int32(unsafe.Offsetof(Context{}.CTA))
	OffParams     = int32(unsafe.Offsetof(Context{}.Params))
	OffSharedGen  = int32(unsafe.Offsetof(Context{}.SharedGen))
	OffReleased   = int32(unsafe.Offsetof(Context{}.Released))
	OffWarp       = int32(unsafe.Offsetof(Context{}.Warp))
	OffBlock      = int32(unsafe.Offsetof(Context{}.Block))
	OffCTAID      = int32(unsafe.Offsetof(Context{}.CTAID))
	OffGrid       = int32(unsafe.Offsetof(Context{}.Grid))
	OffAddr       = int32(unsafe.Offsetof(Context{}.Addr))
	OffAddrs      = int32(unsafe.Offsetof(Context{}.Addrs))
	OffScratch    = int32(unsafe.Offsetof(Context{}.Scratch))
	OffTables     = int32(unsafe.Offsetof(Context{}.Tables))
	OffFirst      = int32(unsafe.Offsetof(Context{}.First))
	OffShadowPage = int32(unsafe.Offsetof(Context{}.ShadowPage))
	OffShadow     = int32(unsafe.Offsetof(Context{}.Shadow))
	OffProbe      = int32(unsafe.Offsetof(Context{}.Probe))
	OffBatch      = int32(unsafe.Offsetof(Context{}.Batch))
	OffLast       = int32(unsafe.Offsetof(Context{}.Last))
	OffPart       = int32(unsafe.Offsetof(Context{}.Part))
	OffLeft       = int32(unsafe.Offsetof(Context{}.Left))
	OffLaunch     = int32(unsafe.Offsetof(Context{}.Launch))
	OffLocal      = int32(unsafe.Offsetof(Context{}.Local))
	OffLocalSize  = int32(unsafe.Offsetof(Context{}.LocalSize))
	OffLocalOff   = int32(unsafe.Offsetof(Context{}.LocalOff))
	OffLocalGen   = int32(unsafe.Offsetof(Context{}.LocalGen))
	OffParamGen   = int32(unsafe.Offsetof(Context{}.ParamGen))
	OffParamSize  = int32(unsafe.Offsetof(Context{}.ParamSize))
	OffCC         = int32(unsafe.Offsetof(Context{}.CC))
	OffTops       = int32(unsafe.Offsetof(Context{}.Tops))
	OffStream     = int32(unsafe.Offsetof(Context{}.Stream))
	OffBounds     = int32(unsafe.Offsetof(Context{}.Bounds))
	OffActTop     = int32(unsafe.Offsetof(Context{}.ActTop))
	OffLaneIn     = int32(unsafe.Offsetof(Context{}.laneIn))
	OffLaneOut    = int32(unsafe.Offsetof(Context{}.laneOut))
	OffParamCopy  = int32(unsafe.Offsetof(Context{}.ParamCopy))
	OffMatrix     = int32(unsafe.Offsetof(Context{}.Matrix))
	OffRegisters  = int32(unsafe.Offsetof(Context{}.Registers))
	OffSampling   = int32(unsafe.Offsetof(Context{}.Sampling))
	OffAllowed    = int32(unsafe.Offsetof(Context{}.Allowed))
	OffLogAt      = int32(unsafe.Offsetof(Context{}.LogAt))
	OffLogEnd     = int32(unsafe.Offsetof(Context{}.LogEnd))
	OffLinks      = int32(unsafe.Offsetof(Context{}.Links))
)

// Why machine code comes back to Go; in the bits of its result from exitShift on, the operation below.
const (
	ExitStep      = iota // the interpreter has to execute the operation
	ExitLimit            // another split stands here or beyond
	ExitBudget           // the turn is over at this back edge
	ExitDiverge          // lanes part at this branch: context.out take it
	ExitDone             // the CTA has ended
	ExitServe            // Go has to execute the operation; the code goes on behind it
	ExitLog              // there is no room for a note; the code goes on with the operation
	ExitBound            // an address is not in the bound of the operation
	ExitUndefined        // the interpreter has to execute the operation: it loads what nobody has written
	ExitRest             // what comes is not written yet; the code goes on with it
	ExitShift     = 28
)

// DefinedOff is how far behind a byte of shared memory stands whether it is defined, for code that follows what nobody
// has written.
const DefinedOff = 1 << 18

// Answers to ExitBound.
const (
	AllowedBound = iota // there is another bound
	AllowedLanes        // the access of every lane is good
	AllowedNone         // the interpreter has to execute the operation
)

// Bound is where an operation's accesses need not ask: its base addresses from low on for span bytes, the displacement
// and the size of the access taken off. The zero value allows no access.
type Bound struct{ Low, Span uint64 }

// BoundSize is that of a bound in bytes.
const BoundSize = int32(unsafe.Sizeof(Bound{}))

// ShadowSize is the bytes of the shadowed page.
const ShadowSize = 4096

// Mark says which operation's code begins at an offset: outOfLineMark is what all operations before have behind the
// function's end. An operation may have several places.
type Mark struct{ Offset, Op int32 }

// OutOfLine stands for no operation in a mark.
const OutOfLine = -1
