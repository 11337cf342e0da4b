package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// batchStream is the beginning of the batch copies: they take no default stream (cuMemcpyBatchAsync).
func (d *Driver) batchStream(cur driver.CUcontext, h driver.CUstream) (*stream, driver.CUresult) {
	if h == 0 || h == driver.CU_STREAM_LEGACY {
		if r := d.ready(); r != success {
			return nil, r
		}
		return nil, invalidValue
	}
	return d.uncaptured(cur, h)
}

func validOrder(o driver.CUmemcpySrcAccessOrder) bool {
	return o >= driver.CU_MEMCPY_SRC_ACCESS_ORDER_STREAM && o <= driver.CU_MEMCPY_SRC_ACCESS_ORDER_ANY
}

// spread gives each element of a batch the number of its attributes: the last whose index is not above the element's.
type spread struct {
	idxs []uint64
	k    int
}

// newSpread checks the indices: they begin with 0 and rise.
func newSpread(idxs *uint64, n, count uint64) (s spread, ok bool) {
	if idxs == nil || n == 0 || n > count {
		return s, false
	}
	if s.idxs, ok = slice(idxs, n); !ok {
		return s, false
	}
	for k, i := range s.idxs {
		if k == 0 && i != 0 || k > 0 && i <= s.idxs[k-1] || i >= count {
			return s, false
		}
	}
	return s, true
}

// at is asked for elements in their order.
func (s *spread) at(i uint64) int {
	for s.k+1 < len(s.idxs) && s.idxs[s.k+1] <= i {
		s.k++
	}
	return s.k
}

// noCopy is the index of the copy that is wrong when there is none.
const noCopy = ^uint64(0)

// findStream finds the stream of a copy.
type findStream func(driver.CUcontext, driver.CUstream) (*stream, driver.CUresult)

// memcpyBatch queues the copies one after the other; those before one that is wrong, whose index is fail, are made
// (recorded). The order in which copies of a batch run is not promised; here it is theirs.
func (d *Driver) memcpyBatch(cur driver.CUcontext, dsts, srcs *driver.CUdeviceptr, sizes *uint64, count uint64,
	attrs *driver.CUmemcpyAttributes, idxs *uint64, n uint64, h driver.CUstream, find findStream) (fail uint64,
	r driver.CUresult) {
	fail = noCopy
	if dsts == nil || srcs == nil || sizes == nil || attrs == nil || idxs == nil || n == 0 || n > count {
		return fail, invalidValue
	}
	as, a := slice(attrs, n)
	ds, b := slice(dsts, count)
	if !a || !b {
		return fail, invalidValue
	}
	s, r := find(cur, h)
	if r != success {
		return fail, r
	}
	which, ok := newSpread(idxs, n, count)
	if !ok {
		return fail, invalidValue
	}
	for k := range as {
		unknown := as[k].Flags > uint32(driver.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
		if unknown || !validOrder(as[k].SrcAccessOrder) || !knownPlace(as[k].SrcLocHint) ||
			!knownPlace(as[k].DstLocHint) {
			return fail, invalidValue
		}
	}
	ss, ns := unsafe.Slice(srcs, count), unsafe.Slice(sizes, count)
	for i := range ds {
		dst, a := d.memory.anyEnd(ds[i], ns[i])
		src, b := d.memory.anyEnd(ss[i], ns[i])
		if !a || !b || ns[i] == 0 || !d.memory.writable(dst.p) {
			return uint64(i), invalidValue
		}
		src.pageable = src.pageable &&
			as[which.at(uint64(i))].SrcAccessOrder == driver.CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL
		if r := s.copyLater(dst, src, ns[i]); r != success {
			return uint64(i), r
		}
	}
	return fail, success
}

func (d *Driver) memcpyBatchAsync(cur driver.CUcontext, dsts, srcs *driver.CUdeviceptr, sizes *uint64, count uint64,
	attrs *driver.CUmemcpyAttributes, idxs *uint64, n uint64, h driver.CUstream) driver.CUresult {
	_, r := d.memcpyBatch(cur, dsts, srcs, sizes, count, attrs, idxs, n, h, d.batchStream)
	return r
}

func (d *Driver) memcpyBatchAsync1(cur driver.CUcontext, dsts, srcs *driver.CUdeviceptr, sizes *uint64, count uint64,
	attrs *driver.CUmemcpyAttributes, idxs *uint64, n uint64, fail *uint64, h driver.CUstream) driver.CUresult {
	i, r := d.memcpyBatch(cur, dsts, srcs, sizes, count, attrs, idxs, n, h, d.batchStream)
	tellCopy(fail, i, h)
	return r
}

// tellCopy writes the index of the copy that is wrong, for the first versions of the calls; not where the stream is one
// that they do not take (recorded).
func tellCopy(fail *uint64, i uint64, h driver.CUstream) {
	if fail != nil && h != 0 && h != driver.CU_STREAM_LEGACY {
		*fail = i
	}
}

// operand turns one side of a 3D batch copy into a place; ok is false for what is no side.
func (d *Driver) operand(o *driver.CUmemcpy3DOperand) (p *place, ok bool) {
	switch o.Type {
	case driver.CU_MEMCPY_OPERAND_TYPE_POINTER:
		x := o.Op.Ptr()
		return &place{kind: driver.CU_MEMORYTYPE_UNIFIED, device: x.Ptr, pitch: x.RowLength, height: x.LayerHeight},
			true
	case driver.CU_MEMCPY_OPERAND_TYPE_ARRAY:
		x := o.Op.Array()
		return &place{kind: driver.CU_MEMORYTYPE_ARRAY, array: x.Array, x: x.Offset.X, y: x.Offset.Y, z: x.Offset.Z},
			true
	}
	return nil, false
}

func (d *Driver) memcpy3DBatch(cur driver.CUcontext, n uint64, list *driver.CUDA_MEMCPY3D_BATCH_OP, flags uint64,
	h driver.CUstream, find findStream) (fail uint64, r driver.CUresult) {
	fail = noCopy
	if n == 0 || list == nil || flags != 0 {
		return fail, invalidValue
	}
	ops, ok := slice(list, n)
	if !ok {
		return fail, invalidValue
	}
	s, r := find(cur, h)
	if r != success {
		return fail, r
	}
	var boxes []*boxCopy
	for i := range ops {
		o := &ops[i]
		dst, a := d.operand(&o.Dst)
		src, b := d.operand(&o.Src)
		if !a || !b || !validOrder(o.SrcAccessOrder) ||
			o.Flags > uint32(driver.CU_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE) || o.Extent.Width == 0 ||
			o.Extent.Height == 0 || o.Extent.Depth == 0 {
			return uint64(i), invalidValue
		}
		// With an array the extent is in elements (CUDA_MEMCPY3D_BATCH_OP).
		element := uint64(1)
		for _, side := range []*place{dst, src} {
			if side.kind == driver.CU_MEMORYTYPE_ARRAY {
				a, r := d.array(side.array)
				if r != success {
					return uint64(i), r
				}
				element = a.format.Size() // of blocks where it is compressed
			}
		}
		for _, side := range []*place{dst, src} {
			side.x *= element
			side.pitch *= element
		}
		c, r := s.ctx.box(dst, src, o.Extent.Width*element, o.Extent.Height, o.Extent.Depth)
		if r != success {
			return uint64(i), r
		}
		boxes = append(boxes, c)
	}
	for i, b := range boxes {
		if b == nil {
			continue
		}
		if b.pageable {
			if r := s.perform(&op{kind: opTask, task: b}); r != success {
				return uint64(i), r
			}
			s.copied(b.dst, b.src, true)
		} else {
			s.offer(&op{kind: opTask, task: b}, b.bytes() <= shortCopy)
		}
	}
	return fail, s.ctx.fault()
}

func (d *Driver) memcpy3DBatchAsync(cur driver.CUcontext, n uint64, list *driver.CUDA_MEMCPY3D_BATCH_OP, flags uint64,
	h driver.CUstream) driver.CUresult {
	_, r := d.memcpy3DBatch(cur, n, list, flags, h, d.batchStream)
	return r
}

func (d *Driver) memcpy3DBatchAsync1(cur driver.CUcontext, n uint64, list *driver.CUDA_MEMCPY3D_BATCH_OP, fail *uint64,
	flags uint64, h driver.CUstream) driver.CUresult {
	i, r := d.memcpy3DBatch(cur, n, list, flags, h, d.batchStream)
	tellCopy(fail, i, h)
	return r
}

// memcpyWithAttributesAsync and memcpy3DWithAttributesAsync are batches of one copy that take default streams, too.
// They are of CUDA 13.2 and not recorded.
func (d *Driver) memcpyWithAttributesAsync(cur driver.CUcontext, dst, src driver.CUdeviceptr, size uint64,
	attr *driver.CUmemcpyAttributes, h driver.CUstream) driver.CUresult {
	_, r := d.memcpyBatch(cur, &dst, &src, &size, 1, attr, new(uint64), 1, h, d.uncaptured)
	return r
}

func (d *Driver) memcpy3DWithAttributesAsync(cur driver.CUcontext, op *driver.CUDA_MEMCPY3D_BATCH_OP, flags uint64,
	h driver.CUstream) driver.CUresult {
	_, r := d.memcpy3DBatch(cur, 1, op, flags, h, d.uncaptured)
	return r
}
