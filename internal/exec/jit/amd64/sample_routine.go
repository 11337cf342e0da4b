package amd64

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/exec/jit/abi"
	"github.com/gocuda/cuda/internal/exec/jit/amd64/asm"
	"github.com/gocuda/cuda/internal/exec/texture"
)

// The routine that fetches from textures: it stands once in the code of a function, and gives what texture.Fetch gives
// where texture.Direct describes the texture.
//
//  1. Coordinates become texels and weights, in float64, where all of that is exact.
//  2. The words of the texels of each footprint are loaded.
//  3. Channel by channel, words become numbers. A weighted mean of floats is one of integers: numbers times a power of
//     two, by which the largest has 28 bits (15 of halves), cut to integers, in float64, which adds them exactly. Its
//     rounding to nearest has ties away from zero: the factor of the sum is a little larger than a power of two.
//
// It works on as many lanes at a time as a vector has words. Infinities, NaNs and coordinates beyond what is exact are
// left to Go.

// sampling writes it. RSI points at the abi.Sampling, R9 at the abi.Sampler; all general registers but RBX, R12, R13
// and R15, and vector registers 0 to 15 are changed. RAX is 1 when abi.Sampling.Out has the results, 0 when Go has to
// fetch.
type sampling struct {
	*asm.Asm
	wide  bool
	o     asm.Opt
	bytes int32 // of a vector
	slow  asm.Label
}

// Registers that keep what they hold: lanes that fetch, and negative words where Go has to do it.
const (
	sampleLanes = 15
	sampleBad   = 14
	sampleBase  = 13 // of the layer
)

// Offsets in abi.Sampling.
const (
	samplingOffSamplers = int32(unsafe.Offsetof(abi.Sampling{}.Samplers))
	samplingOffCoord    = int32(unsafe.Offsetof(abi.Sampling{}.Coord))
	samplingOffLayer    = int32(unsafe.Offsetof(abi.Sampling{}.Layer))
	samplingOffOut      = int32(unsafe.Offsetof(abi.Sampling{}.Out))
	samplingOffAxis     = int32(unsafe.Offsetof(abi.Sampling{}.Axis))
	samplingOffOffset   = int32(unsafe.Offsetof(abi.Sampling{}.Offset))
	samplingOffOutside  = int32(unsafe.Offsetof(abi.Sampling{}.Outside))
	samplingOffWeight   = int32(unsafe.Offsetof(abi.Sampling{}.Weight))
	samplingOffRaw      = int32(unsafe.Offsetof(abi.Sampling{}.Raw))
	samplingOffValue    = int32(unsafe.Offsetof(abi.Sampling{}.Value))
	samplingOffTmp      = int32(unsafe.Offsetof(abi.Sampling{}.Tmp))
	samplingOffLanes    = int32(unsafe.Offsetof(abi.Sampling{}.Lanes))
	samplingOffMask     = int32(unsafe.Offsetof(abi.Sampling{}.Mask))
	samplingOffCon      = int32(unsafe.Offsetof(abi.Sampling{}.Con))
)

// Offsets in abi.Sampler.
const (
	samplerOffHandle   = int32(unsafe.Offsetof(abi.Sampler{}.Handle))
	samplerOffWanted   = int32(unsafe.Offsetof(abi.Sampler{}.Wanted))
	samplerOffData     = int32(unsafe.Offsetof(abi.Sampler{}.Data))
	samplerOffAxes     = int32(unsafe.Offsetof(abi.Sampler{}.Axes))
	samplerOffReady    = int32(unsafe.Offsetof(abi.Sampler{}.Ready))
	samplerOffLinear   = int32(unsafe.Offsetof(abi.Sampler{}.Linear))
	samplerOffForm     = int32(unsafe.Offsetof(abi.Sampler{}.Form))
	samplerOffBorder   = int32(unsafe.Offsetof(abi.Sampler{}.Border))
	samplerOffTaps     = int32(unsafe.Offsetof(abi.Sampler{}.Taps))
	samplerOffWords    = int32(unsafe.Offsetof(abi.Sampler{}.Words))
	samplerOffNarrow   = int32(unsafe.Offsetof(abi.Sampler{}.Narrow))
	samplerOffChannels = int32(unsafe.Offsetof(abi.Sampler{}.Channels))
	samplerOffLayers   = int32(unsafe.Offsetof(abi.Sampler{}.Layers))
	samplerOffLayer    = int32(unsafe.Offsetof(abi.Sampler{}.Layer))
	samplerOffBits     = int32(unsafe.Offsetof(abi.Sampler{}.Bits))
	samplerOffOnes     = int32(unsafe.Offsetof(abi.Sampler{}.Ones))
	samplerOffMost     = int32(unsafe.Offsetof(abi.Sampler{}.Most))
	samplerOffLeft     = int32(unsafe.Offsetof(abi.Sampler{}.Left))
	samplerOffLeast    = int32(unsafe.Offsetof(abi.Sampler{}.Least))
	samplerOffScale    = int32(unsafe.Offsetof(abi.Sampler{}.Scale))
	samplerOffUnscale  = int32(unsafe.Offsetof(abi.Sampler{}.Unscale))
	samplerOffColour   = int32(unsafe.Offsetof(abi.Sampler{}.Colour))
	samplerOffAxis     = int32(unsafe.Offsetof(abi.Sampler{}.Axis))
)

// Offsets in abi.SamplerAxis.
const (
	axisOffUnit       = int32(unsafe.Offsetof(abi.SamplerAxis{}.Unit))
	axisOffScale      = int32(unsafe.Offsetof(abi.SamplerAxis{}.Scale))
	axisOffOffset     = int32(unsafe.Offsetof(abi.SamplerAxis{}.Offset))
	axisOffLimit      = int32(unsafe.Offsetof(abi.SamplerAxis{}.Limit))
	axisOffLast       = int32(unsafe.Offsetof(abi.SamplerAxis{}.Last))
	axisOffLastStep   = int32(unsafe.Offsetof(abi.SamplerAxis{}.LastStep))
	axisOffStep       = int32(unsafe.Offsetof(abi.SamplerAxis{}.Step))
	axisOffMode       = int32(unsafe.Offsetof(abi.SamplerAxis{}.Mode))
	axisOffPeriod     = int32(unsafe.Offsetof(abi.SamplerAxis{}.Period))
	axisOffPeriodLast = int32(unsafe.Offsetof(abi.SamplerAxis{}.PeriodLast))
	axisOffInverse    = int32(unsafe.Offsetof(abi.SamplerAxis{}.Inverse))
)

const (
	sampledAxisSize = int32(unsafe.Sizeof(abi.SampledAxis{}))
	samplerAxisSize = int32(unsafe.Sizeof(abi.SamplerAxis{}))
	samplerSize     = int32(unsafe.Sizeof(abi.Sampler{}))
	tapBytes        = int32(unsafe.Sizeof(abi.Sampling{}.Offset[0]))
	rawBytes        = int32(unsafe.Sizeof(abi.Sampling{}.Raw[0]))
	axisBytes       = int32(unsafe.Sizeof(abi.SampledAxis{}.Weight))
	// offsets in abi.SampledAxis
	sampledAt, sampledOutside, sampledWeight = 0, 2 * axisBytes, 4 * axisBytes
)

// ofSampler is a field of the texture's description, con a constant of the routine, and rows one of the vectors that it
// has for all lanes.
func ofSampler(off int32) asm.Mem { return asm.At(asm.R9, off) }

func samplingCon(i int) asm.Mem { return work(samplingOffCon + 4*int32(i)) }

func samplingRow(off int32) asm.Mem { return asm.Indexed(asm.RSI, asm.R8, 1, off) }

// axisOf is a place in the memory of a coordinate.
func axisOf(axis int, off int32) asm.Mem {
	return work(samplingOffAxis + int32(axis)*sampledAxisSize + off)
}

func tap(n int, off int32) asm.Mem { return samplingRow(off + int32(n)*tapBytes) }

func (t *sampling) load(z asm.Vec, m asm.Mem)    { t.VM(asm.MovU32, t.o, z, 0, m) }
func (t *sampling) store(m asm.Mem, z asm.Vec)   { t.VM(asm.MovU32St, t.o, z, 0, m) }
func (t *sampling) every(z asm.Vec, m asm.Mem)   { t.VM(asm.BroadcastD, t.o, z, 0, m) }
func (t *sampling) every64(z asm.Vec, m asm.Mem) { t.VM(asm.BroadcastQ, t.o, z, 0, m) }
func (t *sampling) op(o asm.Op, d, a, b asm.Vec) { t.V(o, t.o, d, a, b) }
func (t *sampling) zero(z asm.Vec)               { t.V(asm.XorD, t.o, z, z, z) }
func (t *sampling) sra(d, a asm.Vec, n uint8)    { t.VShift(asm.ShiftD, t.o, asm.ShiftSra, d, a, n) }
func (t *sampling) srl(d, a asm.Vec, n uint8)    { t.VShift(asm.ShiftD, t.o, asm.ShiftSrl, d, a, n) }
func (t *sampling) sll(d, a asm.Vec, n uint8)    { t.VShift(asm.ShiftD, t.o, asm.ShiftSll, d, a, n) }

// with is d = op(a, a word of memory in all lanes); tmp is changed.
func (t *sampling) with(o asm.Op, d, a, tmp asm.Vec, m asm.Mem) {
	t.every(tmp, m)
	t.op(o, d, a, tmp)
}

// Roundings of floor and trunc: downward and toward zero, without exceptions.
const (
	roundFloor = 1 | 8
	roundTrunc = 3 | 8
)

// leaveWhere leaves for slow when a word is negative.
func (t *sampling) leaveWhere(z asm.Vec) {
	if t.wide {
		t.zero(0)
		t.VCmp(asm.CmpD, asm.Z, asm.K7, z, 0, asm.CmpLT)
		t.KOrTestW(asm.K7, asm.K7)
	} else {
		t.MovMskPS(asm.RAX, z)
		t.Test32(asm.RAX, asm.RAX)
	}
	t.J(asm.NE, t.slow)
}

// unless branches when a word of the description is not above n.
func (t *sampling) unless(off, n int32, l asm.Label) {
	t.CmpMI32(ofSampler(off), n)
	t.J(asm.LE, l)
}

// repeat writes a loop of as many turns as register r says.
func (t *sampling) repeat(r asm.GPR, body func()) {
	l := t.NewLabel()
	t.Bind(l)
	body()
	t.RI(asm.ArithSub, false, r, 1)
	t.J(asm.NE, l)
}

func (t *sampling) write(begin asm.Label) {
	t.slow = t.NewLabel()
	t.Align(64)
	t.Bind(begin)
	t.groups(func() {
		t.every(sampleLanes, work(samplingOffMask))
		t.VM(asm.SllVD, t.o, sampleLanes, sampleLanes, samplingRow(samplingOffLanes))
		t.sra(sampleLanes, sampleLanes, 31)
		t.zero(sampleBad)
		t.Ld32(asm.R10, ofSampler(samplerOffAxes))
		t.Lea(asm.RCX, ofSampler(samplerOffAxis))
		t.Lea(asm.RDX, axisOf(0, 0))
		t.Lea(asm.RDI, samplingRow(samplingOffCoord))
		t.repeat(asm.R10, func() {
			t.axis()
			t.AddI(asm.RCX, samplerAxisSize)
			t.AddI(asm.RDX, sampledAxisSize)
			t.AddI(asm.RDI, 128)
		})
		t.leaveWhere(sampleBad)
		t.layer()
		t.footprint()
		t.words()
	})
	t.groups(func() { // what is stored word by word takes its time to be there as vectors
		t.zero(sampleBad)
		t.channels()
		t.leaveWhere(sampleBad)
	})
	t.MovI32(asm.RAX, 1)
	t.Ret()
	t.Bind(t.slow)
	t.MovI32(asm.RAX, 0)
	t.Ret()
}

// groups writes a loop over groups of lanes: R8 is four times the first one.
func (t *sampling) groups(body func()) {
	loop := t.NewLabel()
	t.MovI32(asm.R8, 0)
	t.Bind(loop)
	body()
	t.AddI32(asm.R8, t.bytes)
	t.CmpI32(asm.R8, 128)
	t.J(asm.NE, loop)
}

// axis writes what becomes of a coordinate: RCX points at the abi.SamplerAxis, RDX at the abi.SampledAxis, RDI at the
// coordinates.
func (t *sampling) axis() {
	of := func(off int32) asm.Mem { return asm.At(asm.RCX, off) }
	to := func(off int32) asm.Mem { return asm.At(asm.RDX, off) }
	t.VM(asm.AndD, t.o, 4, sampleLanes, asm.At(asm.RDI, 0))
	t.with(asm.AndD, 0, 4, 1, samplingCon(abi.SamplingAbs))
	t.every(1, of(axisOffLimit))
	t.op(asm.SubD, 1, 1, 0)
	t.op(asm.OrD, sampleBad, sampleBad, 1)
	t.every64(1, of(axisOffUnit))
	t.every64(2, of(axisOffScale))
	t.every64(3, of(axisOffOffset))
	t.UpperHalf(t.o, 5, 4)
	for z := asm.Vec(4); z < 6; z++ {
		t.V(asm.CvtPS2PD, t.o, z, 0, z)
		t.op(asm.MulPD, z, z, 1)
		t.VI(asm.RndScalePD, t.o, z, 0, z, roundFloor)
		t.op(asm.FMA213PD, z, 2, 3)
		t.VI(asm.RndScalePD, t.o, z, 0, z, roundFloor)
		t.V(asm.CvtTPD2DQ, t.o, z, 0, z)
	}
	t.JoinHalves(t.o, 0, 4, 5)
	// 0 becomes the first texel, 1 the second, 2 the weight.
	point, placed, clamp, border, done := t.NewLabel(), t.NewLabel(), t.NewLabel(), t.NewLabel(), t.NewLabel()
	t.zero(3)
	t.unless(samplerOffLinear, 0, point)
	t.CmpMI32(of(axisOffMode), int32(texture.Clamp))
	inside := t.NewLabel()
	t.J(asm.NE, inside)
	t.op(asm.MaxSD, 0, 0, 3) // beyond the first and the last texel the weight is 0
	t.with(asm.MinSD, 0, 0, 1, of(axisOffLastStep))
	t.Bind(inside)
	t.with(asm.AndD, 2, 0, 1, samplingCon(abi.SamplingByte))
	t.store(to(sampledWeight), 2)
	t.sra(0, 0, 8)
	t.with(asm.AddD, 1, 0, 1, samplingCon(abi.SamplingOne))
	t.Jmp(placed)
	t.Bind(point)
	t.op(asm.OrD, 1, 0, 0)
	t.Bind(placed)
	t.CmpMI32(of(axisOffMode), int32(texture.Clamp))
	t.J(asm.E, done)
	t.CmpMI32(of(axisOffMode), int32(texture.Border))
	t.J(asm.E, border)
	// Wrap and Mirror
	t.every(4, of(axisOffInverse))
	t.every(5, of(axisOffPeriod))
	for i := range asm.Vec(2) {
		t.op(asm.CvtDQ2PS, 6, 0, i)
		t.op(asm.MulPS, 6, 6, 4)
		t.VI(asm.RndScalePS, t.o, 6, 0, 6, roundFloor)
		t.V(asm.CvtTPS2DQ, t.o, 6, 0, 6)
		t.op(asm.MulLD, 6, 6, 5)
		t.op(asm.SubD, i, i, 6) // one period too far at most
		t.sra(6, i, 31)
		t.op(asm.AndD, 6, 6, 5)
		t.op(asm.AddD, i, i, 6)
		t.op(asm.SubD, i, i, 5)
		t.sra(6, i, 31)
		t.op(asm.AndD, 6, 6, 5)
		t.op(asm.AddD, i, i, 6)
	}
	t.CmpMI32(of(axisOffMode), int32(texture.Wrap))
	t.J(asm.E, done)
	t.every(4, of(axisOffPeriodLast))
	for i := range asm.Vec(2) {
		t.op(asm.SubD, 6, 4, i)
		t.op(asm.MinSD, i, i, 6)
	}
	t.Jmp(done)
	t.Bind(border)
	t.every(4, of(axisOffLast))
	for i := range asm.Vec(2) {
		t.op(asm.SubD, 5, 4, i)
		t.op(asm.OrD, 5, 5, i)
		t.sra(5, 5, 31)
		t.store(to(sampledOutside+axisBytes*int32(i)), 5)
	}
	t.Jmp(clamp)
	t.Bind(done)
	for i := range int32(2) {
		t.store(to(sampledOutside+axisBytes*i), 3)
	}
	t.Bind(clamp)
	t.every(4, of(axisOffLast))
	t.every(5, of(axisOffStep))
	for i := range asm.Vec(2) {
		t.op(asm.MaxSD, i, i, 3)
		t.op(asm.MinSD, i, i, 4)
		t.op(asm.MulLD, i, i, 5)
		t.store(to(sampledAt+axisBytes*int32(i)), i)
	}
}

// layer has sampleBase begin at the layer.
func (t *sampling) layer() {
	done := t.NewLabel()
	t.zero(sampleBase)
	t.unless(samplerOffLayers, 0, done)
	t.load(0, samplingRow(samplingOffLayer))
	t.with(asm.MinUD, 0, 0, 1, ofSampler(samplerOffLayers))
	t.with(asm.MulLD, sampleBase, 0, 1, ofSampler(samplerOffLayer))
	t.Bind(done)
}

// footprint finds the texels of each fetch and their weights.
func (t *sampling) footprint() {
	point, volume, done := t.NewLabel(), t.NewLabel(), t.NewLabel()
	t.unless(samplerOffLinear, 0, point)
	t.load(0, axisOf(0, sampledWeight))
	t.every(2, samplingCon(abi.SamplingWhole))
	t.CmpMI32(ofSampler(samplerOffAxes), 3)
	t.J(asm.E, volume)
	t.op(asm.SubD, 2, 2, 0)
	t.slice(0, 2, 0, sampleBase, -1)
	t.Jmp(done)
	t.Bind(volume)
	t.load(1, axisOf(2, sampledWeight))
	t.op(asm.MAddWD, 3, 0, 1)
	t.round(3, abi.SamplingHalfUp)
	t.op(asm.SubD, 4, 1, 3) // of the far slice: z less x's share, and that share
	t.store(tap(0, samplingOffValue), 4)
	t.store(tap(1, samplingOffValue), 3)
	t.op(asm.SubD, 2, 2, 1)
	t.op(asm.SubD, 0, 0, 3)
	t.op(asm.SubD, 2, 2, 0)
	t.VM(asm.AddD, t.o, 12, sampleBase, axisOf(2, sampledAt))
	t.slice(0, 2, 0, 12, 0)
	t.load(2, tap(0, samplingOffValue))
	t.load(0, tap(1, samplingOffValue))
	t.VM(asm.AddD, t.o, 12, sampleBase, axisOf(2, sampledAt+axisBytes))
	t.slice(4, 2, 0, 12, 1)
	t.Jmp(done)
	t.Bind(point)
	flat := t.NewLabel()
	t.load(0, axisOf(0, sampledAt))
	t.VM(asm.AddD, t.o, 0, 0, axisOf(1, sampledAt))
	t.op(asm.AddD, 0, 0, sampleBase)
	t.load(1, axisOf(0, sampledOutside))
	t.VM(asm.OrD, t.o, 1, 1, axisOf(1, sampledOutside))
	t.unless(samplerOffAxes, 2, flat)
	t.VM(asm.AddD, t.o, 0, 0, axisOf(2, sampledAt))
	t.VM(asm.OrD, t.o, 1, 1, axisOf(2, sampledOutside))
	t.Bind(flat)
	t.store(tap(0, samplingOffOffset), 0)
	t.store(tap(0, samplingOffOutside), 1)
	t.Bind(done)
}

// round divides a word by 256, rounding as a constant says.
func (t *sampling) round(z asm.Vec, con int) {
	t.with(asm.AddD, z, z, 11, samplingCon(con))
	t.sra(z, z, 8)
}

// slice makes four texels from first on: near and far are the shares of the weight at the two texels in x, base where
// the slice begins, z its number or -1.
func (t *sampling) slice(first int, near, far, base asm.Vec, z int) {
	t.load(5, axisOf(1, sampledWeight))
	t.op(asm.MAddWD, 6, near, 5)
	t.round(6, abi.SamplingHalfDown)
	t.op(asm.MAddWD, 7, far, 5)
	t.round(7, abi.SamplingHalfUp)
	t.op(asm.SubD, 8, near, 6)
	t.op(asm.SubD, 9, far, 7)
	for i, w := range []asm.Vec{8, 9, 6, 7} {
		t.store(tap(first+i, samplingOffWeight), w)
	}
	t.VM(asm.AddD, t.o, 5, base, axisOf(0, sampledAt))
	t.VM(asm.AddD, t.o, 6, base, axisOf(0, sampledAt+axisBytes))
	for i := range int32(2) {
		t.load(7, axisOf(1, sampledAt+axisBytes*i))
		t.op(asm.AddD, 8, 5, 7)
		t.op(asm.AddD, 9, 6, 7)
		t.store(tap(first+2*int(i), samplingOffOffset), 8)
		t.store(tap(first+2*int(i)+1, samplingOffOffset), 9)
	}
	done := t.NewLabel()
	t.unless(samplerOffBorder, 0, done)
	for i := range int32(4) {
		t.load(5, axisOf(0, sampledOutside+axisBytes*(i&1)))
		t.VM(asm.OrD, t.o, 5, 5, axisOf(1, sampledOutside+axisBytes*(i>>1)))
		if z >= 0 {
			t.VM(asm.OrD, t.o, 5, 5, axisOf(2, sampledOutside+axisBytes*int32(z)))
		}
		t.store(tap(first+int(i), samplingOffOutside), 5)
	}
	t.Bind(done)
}

// words loads the words of the texels, one by one: on the processors that were measured gathering instructions take
// three times as long.
func (t *sampling) words() {
	border, done := t.NewLabel(), t.NewLabel()
	of := func(r asm.GPR, off int32) asm.Mem { return asm.At(r, off) }
	taps := func() {
		t.Ld32(asm.R10, ofSampler(samplerOffTaps))
		t.Lea(asm.RDI, samplingRow(0))
	}
	copies := func(load func(asm.GPR, asm.Mem)) {
		for at := int32(0); at < t.bytes; at += 4 {
			t.Ld32(asm.RAX, of(asm.RDI, samplingOffOffset+at))
			load(asm.RAX, asm.Indexed(asm.RDX, asm.RAX, 1, 0))
			t.St32(of(asm.RCX, samplingOffRaw+at), asm.RAX)
		}
	}
	taps()
	for size, load := range []func(asm.GPR, asm.Mem){0: t.Ld32, 1: t.Ld8, 2: t.Ld16} {
		next := t.NewLabel()
		t.CmpMI32(ofSampler(samplerOffNarrow), int32(size))
		t.J(asm.NE, next)
		t.repeat(asm.R10, func() {
			t.Mov(asm.RCX, asm.RDI)
			t.Ld(asm.RDX, ofSampler(samplerOffData))
			if size == 0 {
				t.Ld32(asm.R11, ofSampler(samplerOffWords))
				t.repeat(asm.R11, func() {
					copies(load)
					t.AddI(asm.RDX, 4)
					t.AddI(asm.RCX, rawBytes)
				})
			} else {
				copies(load)
			}
			t.AddI(asm.RDI, tapBytes)
		})
		t.Jmp(border)
		t.Bind(next)
	}
	t.Bind(border)
	t.unless(samplerOffBorder, 0, done)
	taps()
	t.repeat(asm.R10, func() {
		t.load(0, of(asm.RDI, samplingOffOutside))
		t.Mov(asm.RCX, asm.RDI)
		t.Mov(asm.RDX, asm.R9)
		t.Ld32(asm.R11, ofSampler(samplerOffWords))
		t.repeat(asm.R11, func() {
			t.with(asm.AndD, 1, 0, 1, of(asm.RDX, samplerOffColour))
			t.VM(asm.AndND, t.o, 2, 0, of(asm.RCX, samplingOffRaw))
			t.op(asm.OrD, 1, 1, 2)
			t.store(of(asm.RCX, samplingOffRaw), 1)
			t.AddI(asm.RDX, 4)
			t.AddI(asm.RCX, rawBytes)
		})
		t.AddI(asm.RDI, tapBytes)
	})
	t.Bind(done)
}

// channels makes numbers of the words: R10 counts channels, RDX points at the results.
func (t *sampling) channels() {
	forms := [...]struct {
		form  texture.Form
		write func()
	}{
		{texture.FormBlend, t.blend}, {texture.FormBlendUnorm, t.blendUnorm}, {texture.FormBlendHalf, t.blendHalf},
		{texture.FormWord, func() { t.load(0, asm.At(asm.RCX, samplingOffRaw)) }},
		{texture.FormUnorm, t.unorm}, {texture.FormHalf, t.half}, {texture.FormSigned, func() { t.channel(0, true) }},
		{texture.FormUnsigned, func() { t.channel(0, false) }},
	}
	loop, stored, rest := t.NewLabel(), t.NewLabel(), t.NewLabel()
	t.MovI32(asm.R10, 0)
	t.Lea(asm.RDX, samplingRow(samplingOffOut))
	t.Bind(loop)
	// RCX: the words that have the channel; tmp: by how much to shift it to the upper end.
	t.Ld32(asm.RAX, ofSampler(samplerOffBits))
	t.Imul32(asm.RAX, asm.R10)
	t.Mov32(asm.RCX, asm.RAX)
	t.ShrI32(asm.RCX, 5)
	t.ImulI(false, asm.RCX, asm.RCX, rawBytes)
	t.Add(asm.RCX, asm.RSI)
	t.Add(asm.RCX, asm.R8)
	t.AndI32(asm.RAX, 31)
	t.Neg32(asm.RAX)
	t.AddLd32(asm.RAX, ofSampler(samplerOffLeft))
	t.St32(work(samplingOffTmp), asm.RAX)
	for i, f := range forms {
		next := t.NewLabel()
		if i < len(forms)-1 {
			t.CmpMI32(ofSampler(samplerOffForm), int32(f.form))
			t.J(asm.NE, next)
		}
		f.write()
		t.store(asm.At(asm.RDX, 0), 0)
		if i < len(forms)-1 {
			t.Jmp(stored)
		}
		t.Bind(next)
	}
	t.Bind(stored)
	t.AddI(asm.RDX, 128)
	t.AddI32(asm.R10, 1)
	t.CmpLd32(asm.R10, ofSampler(samplerOffChannels))
	t.J(asm.NE, loop)
	t.zero(0)
	none := t.NewLabel()
	t.Bind(rest)
	t.CmpI32(asm.R10, 4)
	t.J(asm.E, none)
	t.store(asm.At(asm.RDX, 0), 0)
	t.AddI(asm.RDX, 128)
	t.AddI32(asm.R10, 1)
	t.Jmp(rest)
	t.Bind(none)
}

// channel takes one of 8 or 16 bits out of the words at RCX, into register 0. Register 1 is used.
func (t *sampling) channel(off int32, signed bool) {
	t.every(1, work(samplingOffTmp))
	t.load(0, asm.At(asm.RCX, samplingOffRaw+off))
	t.op(asm.SllVD, 0, 0, 1)
	t.every(1, ofSampler(samplerOffLeft))
	if signed {
		t.op(asm.SraVD, 0, 0, 1)
	} else {
		t.op(asm.SrlVD, 0, 0, 1)
	}
}

func (t *sampling) unorm() {
	t.channel(0, false)
	t.op(asm.CvtDQ2PS, 0, 0, 0)
	t.with(asm.DivPS, 0, 0, 1, ofSampler(samplerOffMost))
}

// half makes a float32 of a half, in register 0. Registers 1 to 3 are used.
func (t *sampling) half() {
	t.channel(0, false)
	t.widen()
}

// widen does so for the half in register 0.
func (t *sampling) widen() {
	t.with(asm.AndD, 2, 0, 1, samplingCon(abi.SamplingMag16))
	t.every(1, samplingCon(abi.SamplingMost16))
	t.op(asm.SubD, 1, 1, 2)
	t.op(asm.OrD, sampleBad, sampleBad, 1)
	t.op(asm.XorD, 0, 0, 2)
	t.sll(0, 0, 16)
	t.sll(2, 2, 13)
	t.with(asm.MulPS, 2, 2, 1, samplingCon(abi.SamplingWidens))
	t.op(asm.OrD, 0, 0, 2)
}

// taps writes a loop over the texels of a footprint, whose number four divides, in which off is added to offsets from
// RDI and RCX: RDI is RSI and what R8 has, RCX goes along.
func (t *sampling) taps(body func(off int32)) {
	t.Ld32(asm.R11, ofSampler(samplerOffTaps))
	t.Lea(asm.RDI, samplingRow(0))
	loop := t.NewLabel()
	t.Bind(loop)
	for i := range int32(4) {
		body(tapBytes * i)
	}
	t.AddI(asm.RDI, 4*tapBytes)
	t.AddI(asm.RCX, 4*tapBytes)
	t.RI(asm.ArithSub, false, asm.R11, 4)
	t.J(asm.NE, loop)
}

// weighted has register 3 be all bits where a texel's weight is not 0.
func (t *sampling) weighted(off int32) {
	t.zero(3)
	t.VM(asm.SubD, t.o, 3, 3, asm.At(asm.RDI, samplingOffWeight+off))
	t.sra(3, 3, 31)
}

// greater keeps the largest magnitude of the values of texels in register 12, and the value of register 0.
func (t *sampling) greater(off int32) {
	t.store(asm.At(asm.RDI, samplingOffValue+off), 0)
	t.with(asm.AndD, 0, 0, 1, samplingCon(abi.SamplingAbs))
	t.op(asm.MaxSD, 12, 12, 0)
}

func (t *sampling) blend() {
	t.zero(12)
	t.taps(func(off int32) {
		t.weighted(off)
		t.VM(asm.AndD, t.o, 0, 3, asm.At(asm.RCX, samplingOffRaw+off))
		t.greater(off)
	})
	t.mean()
}

func (t *sampling) blendHalf() {
	t.zero(12)
	t.taps(func(off int32) {
		t.channel(off, false)
		t.weighted(off)
		t.op(asm.AndD, 0, 0, 3)
		t.widen()
		t.greater(off)
	})
	t.mean()
	// The sum has 23 bits at most: the last of its 24 bits breaks ties.
	t.with(asm.AndD, 1, 0, 1, samplingCon(abi.SamplingAbs))
	t.with(asm.MinUD, 1, 1, 2, samplingCon(abi.SamplingOne))
	t.op(asm.OrD, 0, 0, 1)
	t.VI(asm.CvtPS2PH, t.o, 0, 0, 1, 0) // register field: source
	t.V(asm.CvtPH2PS, t.o, 0, 0, 1)
}

// mean is the weighted mean of the values, into register 0.
func (t *sampling) mean() {
	half := t.bytes / 2
	t.srl(12, 12, 23)
	t.every(1, samplingCon(abi.SamplingTop))
	t.op(asm.SubD, 1, 1, 12)
	t.op(asm.OrD, sampleBad, sampleBad, 1)
	t.with(asm.MaxSD, 12, 12, 1, ofSampler(samplerOffLeast))
	t.every(0, ofSampler(samplerOffScale))
	t.op(asm.SubD, 4, 0, 12)
	t.UpperHalf(t.o, 5, 4)
	for h := range 2 {
		t.V(asm.MovZXDQ, t.o, asm.Vec(4+h), 0, asm.Vec(4+h))
		t.VShift(asm.ShiftQ, t.o, asm.ShiftSll, asm.Vec(4+h), asm.Vec(4+h), 52)
		t.zero(asm.Vec(8 + h))
	}
	t.with(asm.AddD, 12, 12, 1, ofSampler(samplerOffUnscale))
	t.taps(func(off int32) {
		for h := range int32(2) {
			x, w := asm.Vec(2*h), asm.Vec(2*h+1)
			t.VM(asm.CvtPS2PD, t.o, x, 0, asm.At(asm.RDI, samplingOffValue+off+h*half))
			t.VM(asm.CvtDQ2PD, t.o, w, 0, asm.At(asm.RDI, samplingOffWeight+off+h*half))
			t.op(asm.MulPD, x, x, asm.Vec(4+h))
			t.VI(asm.RndScalePD, t.o, x, 0, x, roundTrunc)
			t.op(asm.FMA231PD, asm.Vec(8+h), x, w)
		}
	})
	t.every64(1, samplingCon(abi.SamplingTies))
	t.op(asm.OrD, 2, 12, 12)
	t.UpperHalf(t.o, 3, 12)
	for h := range 2 {
		z := asm.Vec(2 + h)
		t.V(asm.MovZXDQ, t.o, z, 0, z)
		t.VShift(asm.ShiftQ, t.o, asm.ShiftSll, z, z, 52)
		t.op(asm.OrQ, z, z, 1)
		t.op(asm.MulPD, z, z, asm.Vec(8+h))
		t.V(asm.CvtPD2PS, t.o, z, 0, z)
	}
	t.JoinHalves(t.o, 0, 2, 3)
}

// blendUnorm is texture's blendUnorm.
func (t *sampling) blendUnorm() {
	wide := t.NewLabel()
	t.zero(12)
	t.taps(func(off int32) {
		t.channel(off, false)
		t.VM(asm.MulLD, t.o, 0, 0, asm.At(asm.RDI, samplingOffWeight+off))
		t.op(asm.AddD, 12, 12, 0)
	})
	t.CmpMI32(ofSampler(samplerOffBits), 8)
	t.J(asm.NE, wide)
	t.sll(0, 12, 8)
	t.op(asm.AddD, 12, 12, 0)
	t.Bind(wide)
	t.round(12, abi.SamplingHalfUp)
	t.op(asm.CvtDQ2PS, 0, 0, 12)
	t.with(asm.DivPS, 0, 0, 1, samplingCon(abi.SamplingMost))
}
