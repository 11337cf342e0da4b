package driver

import "unsafe"

// perThread replaces the default stream by the per-thread default stream, which is what the _ptsz symbols do.
func perThread(s CUstream) CUstream {
	if s == 0 {
		return CU_STREAM_PER_THREAD
	}
	return s
}

// DerivePerThread makes the table of the _ptds and _ptsz symbols from t, for a device that gives CU_STREAM_PER_THREAD
// its meaning: stream 0 becomes CU_STREAM_PER_THREAD, and a synchronous copy or fill becomes the asynchronous one on
// that stream followed by cuStreamSynchronize. Functions that t does not provide are nil in the result too.
func DerivePerThread(t *Table) *Table {
	p := new(Table)
	derivePTSZ(t, p)
	deriveLaunchEx(t, p)
	derivePTDS(t, p)
	return p
}

// deriveLaunchEx covers the functions whose stream sits in a struct.
func deriveLaunchEx(t, p *Table) {
	if f := t.LaunchKernelEx; f != nil {
		p.LaunchKernelEx = func(cur CUcontext, config *CUlaunchConfig, fn CUfunction, kernelParams *unsafe.Pointer,
			extra *uintptr) CUresult {
			if config == nil || config.HStream != 0 {
				return f(cur, config, fn, kernelParams, extra)
			}
			c := *config
			c.HStream = CU_STREAM_PER_THREAD
			return f(cur, &c, fn, kernelParams, extra)
		}
	}
	if f := t.GraphInstantiateWithParams; f != nil {
		p.GraphInstantiateWithParams = func(cur CUcontext, exec *CUgraphExec, graph CUgraph,
			params *CUDA_GRAPH_INSTANTIATE_PARAMS) CUresult {
			if params == nil || params.HUploadStream != 0 {
				return f(cur, exec, graph, params)
			}
			c := *params
			c.HUploadStream = CU_STREAM_PER_THREAD
			r := f(cur, exec, graph, &c)
			params.HErrNode_out, params.Result_out = c.HErrNode_out, c.Result_out
			return r
		}
	}
}

// derivePTDS covers the functions that take no stream.
func derivePTDS(t, p *Table) {
	sync := t.StreamSynchronize
	if sync == nil {
		return
	}
	done := func(cur CUcontext, r CUresult) CUresult {
		if r != CUDA_SUCCESS {
			return r
		}
		return sync(cur, CU_STREAM_PER_THREAD)
	}
	const s = CU_STREAM_PER_THREAD
	if f := t.MemcpyAsync; f != nil {
		p.Memcpy = func(cur CUcontext, dst, src CUdeviceptr, n uint64) CUresult {
			return done(cur, f(cur, dst, src, n, s))
		}
	}
	if f := t.MemcpyPeerAsync; f != nil {
		p.MemcpyPeer = func(cur CUcontext, dst CUdeviceptr, dctx CUcontext, src CUdeviceptr, sctx CUcontext,
			n uint64) CUresult {
			return done(cur, f(cur, dst, dctx, src, sctx, n, s))
		}
	}
	if f := t.MemcpyHtoDAsync_v2; f != nil {
		p.MemcpyHtoD_v2 = func(cur CUcontext, dst CUdeviceptr, src unsafe.Pointer, n uint64) CUresult {
			return done(cur, f(cur, dst, src, n, s))
		}
	}
	if f := t.MemcpyDtoHAsync_v2; f != nil {
		p.MemcpyDtoH_v2 = func(cur CUcontext, dst unsafe.Pointer, src CUdeviceptr, n uint64) CUresult {
			return done(cur, f(cur, dst, src, n, s))
		}
	}
	if f := t.MemcpyDtoDAsync_v2; f != nil {
		p.MemcpyDtoD_v2 = func(cur CUcontext, dst, src CUdeviceptr, n uint64) CUresult {
			return done(cur, f(cur, dst, src, n, s))
		}
	}
	if f := t.MemcpyHtoAAsync_v2; f != nil {
		p.MemcpyHtoA_v2 = func(cur CUcontext, dst CUarray, off uint64, src unsafe.Pointer, n uint64) CUresult {
			return done(cur, f(cur, dst, off, src, n, s))
		}
	}
	if f := t.MemcpyAtoHAsync_v2; f != nil {
		p.MemcpyAtoH_v2 = func(cur CUcontext, dst unsafe.Pointer, src CUarray, off, n uint64) CUresult {
			return done(cur, f(cur, dst, src, off, n, s))
		}
	}
	if f := t.GLMapBufferObjectAsync_v2; f != nil {
		p.GLMapBufferObject_v2 = func(cur CUcontext, dptr *CUdeviceptr, size *uint64, buffer GLuint) CUresult {
			return done(cur, f(cur, dptr, size, buffer, s))
		}
	}
	// Copies between arrays and device memory have no asynchronous form with a plain signature; the 2D copy has.
	if f := t.Memcpy2DAsync_v2; f != nil {
		copy1 := func(cur CUcontext, c *CUDA_MEMCPY2D, n uint64) CUresult {
			c.WidthInBytes, c.Height = n, 1
			return done(cur, f(cur, c, s))
		}
		p.MemcpyDtoA_v2 = func(cur CUcontext, dst CUarray, off uint64, src CUdeviceptr, n uint64) CUresult {
			return copy1(cur, &CUDA_MEMCPY2D{SrcMemoryType: CU_MEMORYTYPE_DEVICE, SrcDevice: src,
				DstMemoryType: CU_MEMORYTYPE_ARRAY, DstArray: dst, DstXInBytes: off}, n)
		}
		p.MemcpyAtoD_v2 = func(cur CUcontext, dst CUdeviceptr, src CUarray, off, n uint64) CUresult {
			return copy1(cur, &CUDA_MEMCPY2D{SrcMemoryType: CU_MEMORYTYPE_ARRAY, SrcArray: src, SrcXInBytes: off,
				DstMemoryType: CU_MEMORYTYPE_DEVICE, DstDevice: dst}, n)
		}
		p.MemcpyAtoA_v2 = func(cur CUcontext, dst CUarray, doff uint64, src CUarray, soff, n uint64) CUresult {
			return copy1(cur, &CUDA_MEMCPY2D{SrcMemoryType: CU_MEMORYTYPE_ARRAY, SrcArray: src, SrcXInBytes: soff,
				DstMemoryType: CU_MEMORYTYPE_ARRAY, DstArray: dst, DstXInBytes: doff}, n)
		}
		p.Memcpy2D_v2 = func(cur CUcontext, c *CUDA_MEMCPY2D) CUresult { return done(cur, f(cur, c, s)) }
		p.Memcpy2DUnaligned_v2 = p.Memcpy2D_v2
	}
	if f := t.Memcpy3DAsync_v2; f != nil {
		p.Memcpy3D_v2 = func(cur CUcontext, c *CUDA_MEMCPY3D) CUresult { return done(cur, f(cur, c, s)) }
	}
	if f := t.Memcpy3DPeerAsync; f != nil {
		p.Memcpy3DPeer = func(cur CUcontext, c *CUDA_MEMCPY3D_PEER) CUresult { return done(cur, f(cur, c, s)) }
	}
	if f := t.MemsetD8Async; f != nil {
		p.MemsetD8_v2 = func(cur CUcontext, dst CUdeviceptr, v uint8, n uint64) CUresult {
			return done(cur, f(cur, dst, v, n, s))
		}
	}
	if f := t.MemsetD16Async; f != nil {
		p.MemsetD16_v2 = func(cur CUcontext, dst CUdeviceptr, v uint16, n uint64) CUresult {
			return done(cur, f(cur, dst, v, n, s))
		}
	}
	if f := t.MemsetD32Async; f != nil {
		p.MemsetD32_v2 = func(cur CUcontext, dst CUdeviceptr, v uint32, n uint64) CUresult {
			return done(cur, f(cur, dst, v, n, s))
		}
	}
	if f := t.MemsetD2D8Async; f != nil {
		p.MemsetD2D8_v2 = func(cur CUcontext, dst CUdeviceptr, pitch uint64, v uint8, w, h uint64) CUresult {
			return done(cur, f(cur, dst, pitch, v, w, h, s))
		}
	}
	if f := t.MemsetD2D16Async; f != nil {
		p.MemsetD2D16_v2 = func(cur CUcontext, dst CUdeviceptr, pitch uint64, v uint16, w, h uint64) CUresult {
			return done(cur, f(cur, dst, pitch, v, w, h, s))
		}
	}
	if f := t.MemsetD2D32Async; f != nil {
		p.MemsetD2D32_v2 = func(cur CUcontext, dst CUdeviceptr, pitch uint64, v uint32, w, h uint64) CUresult {
			return done(cur, f(cur, dst, pitch, v, w, h, s))
		}
	}
}
