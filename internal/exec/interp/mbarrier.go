package interp

import (
	"math/bits"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// mbarrierOps work on mbarrier objects in shared memory (PTX ISA 9.7.13.15). A cluster runs on one goroutine, so they
// need no atomic access.
var mbarrierOps = map[optab.Opcode]resolver{
	optab.OpMbarrierInit: resolveMbarrierInit, optab.OpMbarrierInval: resolveMbarrierInval,
	optab.OpMbarrierExpectTx: resolveMbarrierTx, optab.OpMbarrierCompleteTx: resolveMbarrierTx,
	optab.OpMbarrierArrive: resolveMbarrierArrive, optab.OpMbarrierArriveDrop: resolveMbarrierArrive,
	optab.OpMbarrierTestWait: resolveMbarrierWait, optab.OpMbarrierTryWait: resolveMbarrierWait,
	optab.OpMbarrierPendingCount:  resolvePendingCount,
	optab.OpCpAsyncMbarrierArrive: resolveCpAsyncArrive,
}

// mbarrier is the opaque object: pending arrivals in bits 0 to 19, expected arrivals of the next phase in 20 to 39, the
// transaction count in 40 to 60 as a signed number, the phase's parity in bit 63. The ranges are those of the ISA; the
// places are this engine's own.
type mbarrier uint64

const (
	mbCount   = 1<<20 - 1
	mbTxShift = 40
	mbTxMask  = 1<<21 - 1
	mbPhase   = 1 << 63
)

func newMbarrier(count uint32) mbarrier {
	n := mbarrier(count & mbCount)
	return n | n<<20
}

func (b mbarrier) pending() uint32 { return uint32(b & mbCount) }

func (b mbarrier) tx() int32 { return int32(b>>mbTxShift<<11) >> 11 }

// addTx changes the transaction count; it may pass below zero when a copy ends before its bytes are announced.
func (b mbarrier) addTx(n int32) mbarrier {
	return (b&^(mbTxMask<<mbTxShift) | mbarrier(uint32(b.tx()+n)&mbTxMask)<<mbTxShift).settle()
}

// arrive counts n arrivals and lowers the expected count of later phases by drop.
func (b mbarrier) arrive(n, drop uint32) mbarrier {
	expected := (uint32(b>>20) - drop) & mbCount
	pending := (b.pending() - n) & mbCount
	return (b&^(mbCount|mbCount<<20) | mbarrier(expected)<<20 | mbarrier(pending)).settle()
}

// settle ends the phase when nothing is pending any more.
func (b mbarrier) settle() mbarrier {
	if b.pending() != 0 || b.tx() != 0 {
		return b
	}
	return (b ^ mbPhase) | b>>20&mbCount
}

// mbarrierAt returns the object that a lane's operand points at.
func mbarrierAt(w *exec.Warp, a *access, l int) *mbarrier {
	return (*mbarrier)(w.Ptr(a.space, l, a.at(w, l), 8, 8, true))
}

// usedObject is mbarrierAt for an operation that needs an initialised object and lowers its pending count by arrivals.
func usedObject(w *exec.Warp, a *access, l int, arrivals uint32) *mbarrier {
	b := mbarrierAt(w, a, l)
	w.Handshake()
	if w.Watched() {
		if c, at, ok := w.Shared(a.space, a.at(w, l)); ok && c != nil {
			w.MbarrierUsed(c, at, l, b.pending(), arrivals)
		}
	}
	return b
}

// madeObject is mbarrierAt for an operation that makes an object, or ends one.
func madeObject(w *exec.Warp, a *access, l int, count uint32, made bool) *mbarrier {
	b := mbarrierAt(w, a, l)
	if w.Watched() {
		if c, at, ok := w.Shared(a.space, a.at(w, l)); ok && c != nil {
			w.MbarrierMade(c, at, l, count, made)
		}
	}
	return b
}

func resolveMbarrierInit(in *inst, op *ir.Op) error {
	a, n := place(op.Arg("a")), op.Arg("b")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			count := uint32(get(w, n, l))
			*madeObject(w, a, l, count, true) = newMbarrier(count)
		}
	}
	return nil
}

func resolveMbarrierInval(in *inst, op *ir.Op) error {
	a := place(op.Arg("a"))
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			*madeObject(w, a, l, 0, false) = 0
		}
	}
	return nil
}

func resolveMbarrierTx(in *inst, op *ir.Op) error {
	a, n := place(op.Arg("a")), op.Arg("b")
	sign := int32(1)
	if op.Opcode() == optab.OpMbarrierCompleteTx {
		sign = -1
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			b := usedObject(w, a, l, 0)
			*b = b.addTx(sign * int32(get(w, n, l)))
		}
	}
	return nil
}

// resolveMbarrierArrive is arrive and arrive_drop; with .expect_tx the operand is a transaction count and the arrivals
// are one.
func resolveMbarrierArrive(in *inst, op *ir.Op) error {
	d, a, n := op.Arg("d"), place(op.Arg("a")), op.Arg("b")
	expect := op.Mods().ExpectTx
	drop := op.Opcode() == optab.OpMbarrierArriveDrop
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			count := uint32(1)
			if n != nil && !expect {
				count = uint32(get(w, n, l))
			}
			b := usedObject(w, a, l, count)
			state := *b
			if n != nil && expect {
				// Announced and arrived in one: nothing can complete in between.
				tx := b.tx() + int32(get(w, n, l))
				*b = *b&^(mbTxMask<<mbTxShift) | mbarrier(uint32(tx)&mbTxMask)<<mbTxShift
			}
			less := uint32(0)
			if drop {
				less = count
			}
			if count > 0 || expect {
				*b = b.arrive(count, less)
			}
			set(w, d, l, uint64(state))
		}
	}
	return nil
}

// resolveMbarrierWait is test_wait and try_wait. When a phase is not over the warp gives way, so that those who are to
// arrive run; the suspend time hint has no meaning here.
func resolveMbarrierWait(in *inst, op *ir.Op) error {
	d, a, b := op.Arg("d"), place(op.Arg("a")), op.Arg("b")
	parity := op.Mods().Parity
	in.ctl = func(w *exec.Warp, in *inst, m uint32, next int32) (exec.Event, bool) {
		done := uint32(0)
		for k := m; k != 0; k &= k - 1 {
			l := bits.TrailingZeros32(k) & 31
			phase := uint64(*usedObject(w, a, l, 0)) >> 63
			waited := get(w, b, l)
			if parity {
				waited &= 1
			} else {
				waited >>= 63
			}
			if phase != waited {
				done |= 1 << l
			}
		}
		setPred(w, d, m, done)
		w.Cur.PC = next
		if done == m {
			return 0, false
		}
		w.GiveWay()
		return exec.EventYield, true
	}
	return nil
}

func resolvePendingCount(in *inst, op *ir.Op) error {
	d, a := op.Arg("d"), op.Arg("a")
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			set(w, d, l, uint64(mbarrier(get(w, a, l)).pending()))
		}
	}
	return nil
}

// resolveCpAsyncArrive is cp.async.mbarrier.arrive: the thread's copies are done, so it arrives at once. Without .noinc
// the pending count is raised first, and nothing changes.
func resolveCpAsyncArrive(in *inst, op *ir.Op) error {
	a := place(op.Arg("a"))
	noinc := op.Mods().NoInc
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			arrivals := uint32(0)
			if noinc {
				arrivals = 1
			}
			b := usedObject(w, a, l, arrivals)
			if noinc {
				*b = b.arrive(1, 0)
			}
		}
	}
	return nil
}
