// Package answer runs the programs of package ptxgen through the driver's API and keeps what devices answered.
package answer

import (
	"fmt"
	"hash/crc32"
	"runtime"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/ptxgen"
)

// Answer is what a device made of a program.
type Answer struct {
	Load driver.CUresult
	Log  string          // the error log of a program that was refused
	Run  driver.CUresult // of the launch and the wait for its end
	Call string          // the call that Run is of
	Out  []byte          // the output; nil when it did not run
}

// Runner runs programs on a device. A fault may end every use of its context.
type Runner struct {
	T      *driver.Table
	Ctx    driver.CUcontext
	Detail func(driver.CUcontext) string // explains the last failure; may be nil
	Plain  bool                          // without optimisation
}

// Load gives a text to the driver's compiler.
func (r *Runner) Load(text string) (driver.CUmodule, driver.CUresult, string) {
	src := append([]byte(text), 0)
	log := make([]byte, 1<<13)
	var pin runtime.Pinner // the buffer goes to the driver as a number
	pin.Pin(&log[0])
	defer pin.Unpin()
	opts := []driver.CUjit_option{driver.CU_JIT_ERROR_LOG_BUFFER, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES}
	vals := []uintptr{uintptr(unsafe.Pointer(&log[0])), uintptr(len(log))}
	if r.Plain {
		opts, vals = append(opts, driver.CU_JIT_OPTIMIZATION_LEVEL), append(vals, 0)
	}
	var m driver.CUmodule
	code := r.T.ModuleLoadDataEx(r.Ctx, &m, unsafe.Pointer(&src[0]), uint32(len(opts)), &opts[0], &vals[0])
	if code == driver.CUDA_SUCCESS {
		return m, code, ""
	}
	l, _, _ := strings.Cut(string(log), "\x00")
	return 0, code, strings.TrimSpace(l)
}

// callError is a call that failed.
type callError struct {
	call string
	code driver.CUresult
}

func (e *callError) Error() string { return fmt.Sprintf("%s: %v", e.call, e.code) }

// try panics with a *callError when a call failed; Run catches it.
func try(call string, code driver.CUresult) {
	if code != driver.CUDA_SUCCESS {
		panic(&callError{call, code})
	}
}

// Run loads and runs a program.
func (r *Runner) Run(p *ptxgen.Program) (a Answer) {
	m, code, log := r.Load(p.Text)
	a.Load, a.Log = code, log
	if code != driver.CUDA_SUCCESS {
		return a
	}
	var undo []func()
	defer func() {
		if e := recover(); e != nil {
			f, ok := e.(*callError)
			if !ok {
				panic(e)
			}
			a.Run, a.Call, a.Out = f.code, f.call, nil
			if r.Detail != nil {
				a.Call += ": " + r.Detail(r.Ctx)
			}
		}
		for i := len(undo) - 1; i >= 0; i-- {
			undo[i]()
		}
		r.T.ModuleUnload(r.Ctx, m)
	}()
	t := r.T
	var f driver.CUfunction
	name := append([]byte(p.Kernel), 0)
	try("cuModuleGetFunction", t.ModuleGetFunction(r.Ctx, &f, m, &name[0]))
	alloc := func(n int) (d driver.CUdeviceptr) {
		try("cuMemAlloc", t.MemAlloc_v2(r.Ctx, &d, uint64(n)))
		undo = append(undo, func() { t.MemFree_v2(r.Ctx, d) })
		return d
	}
	input := ptxgen.Input(p.Seed)
	in, out := alloc(len(input)), alloc(p.BufferSize())
	try("cuMemcpyHtoD", t.MemcpyHtoD_v2(r.Ctx, in, unsafe.Pointer(&input[0]), uint64(len(input))))
	try("cuMemsetD8", t.MemsetD8_v2(r.Ctx, out, 0, uint64(p.BufferSize())))
	params := make([]unsafe.Pointer, len(p.Params))
	for i := range p.Params {
		q := &p.Params[i]
		switch q.Kind {
		case ptxgen.ParamOut:
			params[i] = unsafe.Pointer(&out)
		case ptxgen.ParamIn:
			params[i] = unsafe.Pointer(&in)
		case ptxgen.ParamBytes:
			b := make([]uint64, len(q.Bytes)/8+1)
			copy(unsafe.Slice((*byte)(unsafe.Pointer(&b[0])), 8*len(b)), q.Bytes)
			params[i] = unsafe.Pointer(&b[0])
		case ptxgen.ParamTensor:
			params[i] = r.tensorMap(q.Map, in, out)
		default:
			h, free := r.image(q.Image, input)
			undo = append(undo, free)
			params[i] = unsafe.Pointer(h)
		}
	}
	try("cuLaunchKernel", t.LaunchKernel(r.Ctx, f, p.Grid[0], p.Grid[1], p.Grid[2], p.Block[0], p.Block[1], p.Block[2],
		p.Shared, 0, &params[0], nil))
	try("cuCtxSynchronize", t.CtxSynchronize(r.Ctx))
	a.Out = make([]byte, p.BufferSize())
	try("cuMemcpyDtoH", t.MemcpyDtoH_v2(r.Ctx, unsafe.Pointer(&a.Out[0]), out, uint64(len(a.Out))))
	a.Out = a.Out[ptxgen.Scratch:]
	return a
}

var formats = map[string]struct {
	code driver.CUarray_format
	size int
}{
	"u8": {driver.CU_AD_FORMAT_UNSIGNED_INT8, 1}, "u16": {driver.CU_AD_FORMAT_UNSIGNED_INT16, 2},
	"u32": {driver.CU_AD_FORMAT_UNSIGNED_INT32, 4},
	"s8":  {driver.CU_AD_FORMAT_SIGNED_INT8, 1}, "s16": {driver.CU_AD_FORMAT_SIGNED_INT16, 2},
	"s32": {driver.CU_AD_FORMAT_SIGNED_INT32, 4},
	"f16": {driver.CU_AD_FORMAT_HALF, 2}, "f32": {driver.CU_AD_FORMAT_FLOAT, 4},
}

// image makes an array with the mild bytes of the input and an object for it.
func (r *Runner) image(img *ptxgen.Image, input []byte) (handle *uint64, free func()) {
	t := r.T
	f := formats[img.Format]
	d := driver.CUDA_ARRAY3D_DESCRIPTOR{Width: img.Width, Height: img.Height, Depth: img.Depth, Format: f.code,
		NumChannels: img.Channels}
	if img.Layered {
		d.Flags |= driver.CUDA_ARRAY3D_LAYERED
	}
	if img.Cube {
		d.Flags |= driver.CUDA_ARRAY3D_CUBEMAP
	}
	if img.Surface {
		d.Flags |= driver.CUDA_ARRAY3D_SURFACE_LDST
	} else if img.Height > 0 && img.Depth == 0 {
		d.Flags |= driver.CUDA_ARRAY3D_TEXTURE_GATHER
	}
	var arr driver.CUarray
	try("cuArray3DCreate", t.Array3DCreate_v2(r.Ctx, &arr, &d))
	row := img.Width * uint64(img.Channels) * uint64(f.size)
	h, z := max(img.Height, 1), max(img.Depth, 1)
	data := ptxgen.Texels(input)
	var pin runtime.Pinner
	pin.Pin(&data[0])
	defer pin.Unpin()
	c := driver.CUDA_MEMCPY3D{WidthInBytes: row, Height: h, Depth: z, SrcMemoryType: driver.CU_MEMORYTYPE_HOST,
		SrcHost: uintptr(unsafe.Pointer(&data[0])), SrcPitch: row, SrcHeight: h,
		DstMemoryType: driver.CU_MEMORYTYPE_ARRAY, DstArray: arr}
	destroy := func() { t.ArrayDestroy(r.Ctx, arr) }
	try("cuMemcpy3D", t.Memcpy3D_v2(r.Ctx, &c))
	var res driver.CUDA_RESOURCE_DESC
	res.ResType = driver.CU_RESOURCE_TYPE_ARRAY
	res.Res.Array().HArray = arr
	if img.Surface {
		obj := new(driver.CUsurfObject)
		try("cuSurfObjectCreate", t.SurfObjectCreate(r.Ctx, obj, &res))
		return (*uint64)(obj), func() { t.SurfObjectDestroy(r.Ctx, *obj); destroy() }
	}
	var desc driver.CUDA_TEXTURE_DESC
	for i := range desc.AddressMode {
		desc.AddressMode[i] = driver.CUaddress_mode(img.Address)
	}
	if img.Integer {
		desc.Flags |= driver.CU_TRSF_READ_AS_INTEGER
	}
	if img.Cube {
		desc.Flags |= driver.CU_TRSF_NORMALIZED_COORDINATES
	}
	obj := new(driver.CUtexObject)
	try("cuTexObjectCreate", t.TexObjectCreate(r.Ctx, obj, &res, &desc, nil))
	return (*uint64)(obj), func() { t.TexObjectDestroy(r.Ctx, *obj); destroy() }
}

// tensorMap encodes a map of u32 elements.
func (r *Runner) tensorMap(m *ptxgen.Tensor, in, out driver.CUdeviceptr) unsafe.Pointer {
	words := make([]uint64, 16+16)
	p := unsafe.Pointer(unsafe.SliceData(words))
	p = unsafe.Add(p, -uintptr(p)&127)
	base := uintptr(in)
	if m.Output >= 0 {
		base = uintptr(out) + uintptr(m.Output)
	}
	dims32, box := m.Dims()
	var dims, strides []uint64
	ones := make([]uint32, m.Rank)
	at := uint64(4)
	for i, d := range dims32 {
		dims = append(dims, uint64(d))
		at *= uint64(d)
		strides = append(strides, at)
		ones[i] = 1
	}
	const typ = driver.CU_TENSOR_MAP_DATA_TYPE_UINT32
	if m.Im2col {
		lower, upper := make([]int32, m.Rank-2), make([]int32, m.Rank-2)
		for i := range upper {
			upper[i] = -1
		}
		try("cuTensorMapEncodeIm2col", r.T.TensorMapEncodeIm2col(r.Ctx, (*driver.CUtensorMap)(p), typ, uint32(m.Rank),
			base, &dims[0], &strides[0], &lower[0], &upper[0],
			ptxgen.Im2colChannels, ptxgen.Im2colPixels, &ones[0], 0, 0, 0, 0))
		return p
	}
	try("cuTensorMapEncodeTiled", r.T.TensorMapEncodeTiled(r.Ctx, (*driver.CUtensorMap)(p), typ, uint32(m.Rank), base,
		&dims[0], &strides[0], &box[0], &ones[0], 0, 0, 0, 0))
	return p
}

// Sums are checksums of the rows of an output.
func Sums(p *ptxgen.Program, out []byte) []uint32 {
	n := 4 * p.Threads()
	var s []uint32
	for i := 0; i+n <= len(out); i += n {
		s = append(s, crc32.ChecksumIEEE(out[i:i+n]))
	}
	return s
}
