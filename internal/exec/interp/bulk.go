package interp

import (
	"math/bits"
	"unsafe"

	"github.com/gocuda/cuda/internal/exec"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// bulkOps are bulk copies and reductions, and stores and reductions that complete on an mbarrier (PTX ISA 9.7.9.25.4,
// 9.7.9.12, 9.7.13.8).
var bulkOps = map[optab.Opcode]resolver{
	optab.OpCpAsyncBulk: resolveBulkCopy, optab.OpCpAsyncBulkPrefetch: resolveNothing,
	optab.OpCpReduceAsyncBulk: resolveBulkReduce,
	optab.OpStAsync:           resolveStAsync, optab.OpRedAsync: resolveRedAsync,
}

// ctaOffset is the part of a shared-window address that is an offset in a CTA's shared memory; the CTA's rank stands
// above it.
const ctaOffset = 1<<24 - 1

// eachCTA calls f with what must be added to a shared-window offset to reach each CTA of a multicast mask; without one,
// with 0 for the address as it stands.
func eachCTA(w *exec.Warp, mask *ir.Arg, l int, f func(rank uint64)) {
	if mask == nil {
		f(0)
		return
	}
	for m := get(w, mask, l) & 0xffff; m != 0; m &= m - 1 {
		r := bits.TrailingZeros64(m)
		if r >= len(w.CTA.Group.CTAs) {
			w.Throw(exec.FaultInstruction, l, "the CTA mask names a CTA that is not in the cluster")
		}
		f(uint64(r) << 24)
	}
}

// completeTx is the end of a copy of n bytes at a shared-window address.
func completeTx(w *exec.Warp, l int, addr uint64, n uint32) {
	b := (*mbarrier)(w.Ptr(ir.SharedCluster, l, addr, 8, 8, true))
	*b = b.addTx(-int32(n))
}

// needCluster ends the kernel when it was not launched in clusters: an H200 has the instructions that reach into other
// CTAs end in an illegal instruction then (recorded).
func needCluster(w *exec.Warp, l int) {
	if !w.InCluster() {
		w.Throw(exec.FaultInstruction, l, "an asynchronous operation on shared::cluster in a launch without clusters")
	}
}

// bulkSize reads a bulk copy's size.
func bulkSize(w *exec.Warp, n *ir.Arg, l int) uint32 {
	size := uint32(get(w, n, l))
	if size%16 != 0 {
		w.Throw(exec.FaultInstruction, l, "the size of a bulk copy is no multiple of 16")
	}
	return size
}

// host returns host memory of n bytes for a lane's address, which must be a multiple of 16.
func (ac *access) host(w *exec.Warp, l int, n uint32, write bool) []byte {
	return unsafe.Slice((*byte)(w.Ptr(ac.space, l, ac.at(w, l), n, 16, write)), n)
}

func resolveBulkCopy(in *inst, op *ir.Op) error {
	dst, src, n := place(op.Arg("a")), place(op.Arg("b")), op.Arg("n")
	var mbar *access
	if m := op.Arg("m"); m != nil {
		mbar = place(m)
	}
	mask := op.Arg("k")
	if op.Mods().Mask {
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			size := bulkSize(w, n, l)
			if mbar == nil {
				if size > 0 {
					copy(dst.host(w, l, size, true), src.host(w, l, size, false))
				}
				continue
			}
			da, ma := dst.at(w, l), mbar.at(w, l)
			if mask != nil {
				da, ma = da&ctaOffset, ma&ctaOffset
			}
			eachCTA(w, mask, l, func(rank uint64) {
				if size > 0 {
					d := unsafe.Slice((*byte)(w.Ptr(dst.space, l, da|rank, size, 16, true)), size)
					copy(d, src.host(w, l, size, false))
				}
				completeTx(w, l, ma|rank, size)
			})
		}
	}
	return nil
}

func resolveBulkReduce(in *inst, op *ir.Op) error {
	dst, src, n := place(op.Arg("a")), place(op.Arg("b")), op.Arg("n")
	typ := op.Type(0)
	f, outside, ok := atomFunc(op.Mods().Func, typ)
	if !ok {
		return unsupported(op)
	}
	var mbar *access
	if m := op.Arg("m"); m != nil {
		mbar = place(m)
	} else if outside != nil && typ == optab.F64 {
		f = outside // f32 additions keep subnormals, unlike those of atom and red (recorded on an H200)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			size := bulkSize(w, n, l)
			if mbar != nil {
				needCluster(w, l)
			}
			if size > 0 {
				reduceBytes(dst.host(w, l, size, true), src.host(w, l, size, false), typ.Bytes(), mbar != nil, f)
			}
			if mbar != nil {
				completeTx(w, l, mbar.at(w, l), size)
			}
		}
	}
	return nil
}

// reduceBytes combines elements of src into dst. plain says that nobody else touches dst.
func reduceBytes(dst, src []byte, size uint32, plain bool, f rmw) {
	for i := 0; i+int(size) <= len(src); i += int(size) {
		v := loadElement(unsafe.Pointer(&src[i]), size, false)
		update(unsafe.Pointer(&dst[i]), size, plain, v[0], 0, f)
	}
}

func resolveStAsync(in *inst, op *ir.Op) error {
	ac := memoryAccess(op, op.Arg("a"), op.Arg("b"), op.Mods().LastType())
	mbar := place(op.Arg("m"))
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			needCluster(w, l)
			p := ac.pointer(w, l, true)
			for j, r := range ac.regs {
				storeElement(unsafe.Add(p, uint32(j)*ac.size), ac.size, [2]uint64{get(w, r, l)})
			}
			completeTx(w, l, mbar.at(w, l), ac.total)
		}
	}
	return nil
}

func resolveRedAsync(in *inst, op *ir.Op) error {
	b := op.Arg("b")
	ac := memoryAccess(op, op.Arg("a"), b, op.Mods().LastType())
	mbar := place(op.Arg("m"))
	f, _, ok := atomFunc(op.Mods().Func, op.Mods().LastType())
	if !ok {
		return unsupported(op)
	}
	in.fn = func(w *exec.Warp, in *inst, m uint32) {
		for ; m != 0; m &= m - 1 {
			l := bits.TrailingZeros32(m) & 31
			needCluster(w, l)
			update(ac.pointer(w, l, true), ac.size, true, get(w, b, l), 0, f)
			completeTx(w, l, mbar.at(w, l), ac.size)
		}
	}
	return nil
}
