package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// memoryOps are the plain loads and stores. Memory order, scope and cache qualifiers ask for nothing more here than
// what every access already gives: see order.go.
var memoryOps = map[optab.Opcode]resolver{
	optab.OpLd: resolveLoad, optab.OpLdu: resolveLoad, optab.OpSt: resolveStore,
	optab.OpPrefetch: resolveNothing, optab.OpPrefetchu: resolveNothing, optab.OpApplypriority: resolveNothing,
	optab.OpDiscard: resolveDiscard, optab.OpCreatepolicy: resolveCreatepolicy,
	optab.OpCreatepolicyCvt: resolveConvertPolicy,
}

// access is a prepared memory operand with the registers that it moves.
type access struct {
	space  ir.Space
	base   *ir.Arg // nil: disp is the address
	disp   uint64
	addr   *ir.Arg
	size   uint32 // bytes of one element
	total  uint32 // bytes of all elements
	signed bool
	regs   []*ir.Arg
}

func memoryAccess(op *ir.Op, addr, value *ir.Arg, typ optab.TypeID) access {
	ac := access{space: addr.Space, base: addr.Base, disp: uint64(addr.Disp), addr: addr, size: typ.Bytes(),
		signed: typ.Signed()}
	if value.Kind == ir.Vec {
		for i := range value.Elems {
			ac.regs = append(ac.regs, &value.Elems[i])
		}
	} else {
		ac.regs = []*ir.Arg{value}
	}
	ac.total = ac.size * uint32(len(ac.regs))
	return ac
}

// at returns a lane's address.
func (ac *access) at(w *exec.Warp, lane int) uint64 {
	if ac.base == nil {
		if ac.space == ir.Local {
			return uint64(w.Act.Local) + ac.disp
		}
		return ac.disp
	}
	if ac.base.Class == ir.W32 {
		return uint64(w.R32(ac.base.Ref)[lane] + uint32(ac.disp))
	}
	return w.R64(ac.base.Ref)[lane] + ac.disp
}

// pointer returns host memory for a lane's access.
func (ac *access) pointer(w *exec.Warp, lane int, write bool) unsafe.Pointer {
	if ac.space == ir.FrameParam {
		w.Lane = lane
		off := ac.disp
		switch n := uint64(ac.total); {
		case off&(n-1) != 0: // slots are as aligned as any access needs
			w.ThrowAddr(exec.FaultMisaligned, lane, "param", off, ac.total, write)
		case n > ac.addr.Hi || off > ac.addr.Hi-n:
			w.ThrowAddr(exec.FaultAddress, lane, "param", off, ac.total, write)
		}
		return unsafe.Add(w.Base[0], uint64(ac.addr.Ref.Off)+uint64(lane)*ac.addr.Bits+off)
	}
	return w.Ptr(ac.space, lane, ac.at(w, lane), ac.total, ac.total, write)
}

func resolveLoad(in *inst, op *ir.Op) error {
	d, a := &op.Args[0], &op.Args[1]
	if a.Kind != ir.Addr {
		return unsupported(op)
	}
	ac := memoryAccess(op, a, d, op.Mods().LastType())
	if ac.space == ir.FrameParam && ac.base != nil {
		return unsupported(op)
	}
	if len(ac.regs) == 1 && d.Kind == ir.Row && ac.base != nil && ac.base.Class == ir.W64 {
		if ac.size == 4 && d.Class == ir.W32 {
			in.fn = func(w *exec.Warp, in *inst, m uint32) {
				dr, ar := w.R32(d.Ref), w.R64(ac.base.Ref)
				for ; m != 0; m &= m - 1 {
					i := bits.TrailingZeros32(m) & 31
					dr[i] = *(*uint32)(w.Ptr(ac.space, i, ar[i]+ac.disp, 4, 4, false))
				}
			}
			return nil
		}
		if ac.size == 8 && d.Class == ir.W64 {
			in.fn = func(w *exec.Warp, in *inst, m uint32) {
				dr, ar := w.R64(d.Ref), w.R64(ac.base.Ref)
				for ; m != 0; m &= m - 1 {
					i := bits.TrailingZeros32(m) & 31
					dr[i] = *(*uint64)(w.Ptr(ac.space, i, ar[i]+ac.disp, 8, 8, false))
				}
			}
			return nil
		}
	}
	if ac.base == nil && ac.space == ir.KernelParam {
		in.fn = ac.loadParam
		return nil
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		var buf [8][2]uint64 // read everything first: a destination may be the address register too
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			p := ac.pointer(w, i, false)
			for j := range ac.regs {
				buf[j] = loadElement(unsafe.Add(p, uint32(j)*ac.size), ac.size, ac.signed)
			}
			for j, r := range ac.regs {
				storeReg(w, r, i, buf[j])
			}
		}
	}
	return nil
}

// loadParam loads a kernel parameter by its name, which is the same for all lanes.
func (ac *access) loadParam(w *exec.Warp, in *inst, m uint32) {
	p := ac.pointer(w, first(m), false)
	for j, r := range ac.regs {
		v := loadElement(unsafe.Add(p, uint32(j)*ac.size), ac.size, ac.signed)
		switch {
		case r.Kind != ir.Row:
		case m == full && r.Class == ir.W64:
			d := w.R64(r.Ref)
			for i := range d {
				d[i] = v[0]
			}
		default:
			for k := m; k != 0; k &= k - 1 {
				storeReg(w, r, bits.TrailingZeros32(k)&31, v)
			}
		}
	}
}

// loadElement reads one element; signed ones come sign-extended to 64 bits.
func loadElement(p unsafe.Pointer, size uint32, signed bool) [2]uint64 {
	switch size {
	case 1:
		if signed {
			return [2]uint64{uint64(int64(*(*int8)(p)))}
		}
		return [2]uint64{uint64(*(*uint8)(p))}
	case 2:
		if signed {
			return [2]uint64{uint64(int64(*(*int16)(p)))}
		}
		return [2]uint64{uint64(*(*uint16)(p))}
	case 4:
		if signed {
			return [2]uint64{uint64(int64(*(*int32)(p)))}
		}
		return [2]uint64{uint64(*(*uint32)(p))}
	case 8:
		return [2]uint64{*(*uint64)(p)}
	}
	return *(*[2]uint64)(p)
}

func storeElement(p unsafe.Pointer, size uint32, v [2]uint64) {
	switch size {
	case 1:
		*(*uint8)(p) = uint8(v[0])
	case 2:
		*(*uint16)(p) = uint16(v[0])
	case 4:
		*(*uint32)(p) = uint32(v[0])
	case 8:
		*(*uint64)(p) = v[0]
	default:
		*(*[2]uint64)(p) = v
	}
}

// storeReg writes a loaded element to a register. Registers of fewer than 32 bits (Arg.Width) keep their upper bits
// zero.
func storeReg(w *exec.Warp, a *ir.Arg, lane int, v [2]uint64) {
	if a.Kind != ir.Row {
		return
	}
	switch a.Class {
	case ir.W32:
		x := uint32(v[0])
		if a.Width != 0 && a.Width < 32 {
			x &= 1<<a.Width - 1
		}
		w.R32(a.Ref)[lane] = x
	case ir.W64:
		w.R64(a.Ref)[lane] = v[0]
	case ir.W128:
		r := w.R128(a.Ref)
		r[2*lane], r[2*lane+1] = v[0], v[1]
	}
}

func resolveStore(in *inst, op *ir.Op) error {
	a, v := &op.Args[0], &op.Args[1]
	if a.Kind != ir.Addr {
		return unsupported(op)
	}
	ac := memoryAccess(op, a, v, op.Mods().LastType())
	if ac.space == ir.FrameParam && ac.base != nil {
		return unsupported(op)
	}
	phase := exec.StorePhase(int(ac.total), op.Mods().Mmio)
	if len(ac.regs) == 1 && ac.base != nil && ac.base.Class == ir.W64 && ac.size == 4 && v.Class == ir.W32 {
		in.fn = func(w *exec.Warp, in *inst, m uint32) {
			vr, ar := w.R32(v.Ref), w.R64(ac.base.Ref)
			lanes := exec.StoresOf(phase)
			for ; m != 0; m &= m - 1 {
				i := bits.TrailingZeros32(m) & 31
				if p := w.Ptr(ac.space, i, ar[i]+ac.disp, 4, 4, true); lanes.Writes(i, p) {
					*(*uint32)(p) = vr[i]
				}
			}
		}
		return nil
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		lanes := exec.StoresOf(phase)
		for ; m != 0; m &= m - 1 {
			i := bits.TrailingZeros32(m) & 31
			p := ac.pointer(w, i, true)
			if !lanes.Writes(i, p) {
				continue
			}
			for j, r := range ac.regs {
				var x [2]uint64
				if r.Class == ir.W128 {
					x[0], x[1] = get128(w, r, i)
				} else if r.Reg() {
					x[0] = get(w, r, i)
				}
				storeElement(unsafe.Add(p, uint32(j)*ac.size), ac.size, x)
			}
		}
	}
	return nil
}
