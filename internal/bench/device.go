package bench

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/softdev"
)

// Timing bounds the measurement of one case.
type Timing struct {
	Budget   time.Duration // samples are taken until it is used up
	MinReps  int           // but this many at least, unless they take very long
	MaxReps  int           // and this many at most; short samples may be more
	Progress func(string)  // is told what is going on; may be nil
}

// Sample is a measurement of one case by one implementation.
type Sample struct {
	Bench   string  `json:"bench"`
	Impl    string  `json:"impl"`
	Round   int     `json:"round"`
	Size    string  `json:"size"`
	Seconds float64 `json:"seconds_median"` // of one launch with its wait
	Min     float64 `json:"seconds_min"`
	Unit    string  `json:"unit"`
	Work    float64 `json:"work"` // units of one launch
	Reps    int     `json:"reps"`
	OK      bool    `json:"ok"`
	Build   float64 `json:"build_s"` // from the text to the kernel
	First   float64 `json:"first_s"` // of the first launch, in which lazy compilers work
	Note    string  `json:"note,omitempty"`
}

// Engine is the software device with one engine, open.
type Engine struct {
	Name string
	d    *device.Device
	api  cu.API
	dev  cu.CUdevice
}

// OpenEngine opens the software device with an engine: jit, jit-avx512, jit-avx2 or interpreter; with checks behind a
// plus sign each, as in jit+race+init.
func OpenEngine(name string) (*Engine, error) { return openEngine(name, softdev.Options{}) }

func openEngine(name string, o softdev.Options) (*Engine, error) {
	parts := strings.Split(name, "+")
	o.EngineName, o.Check = parts[0], parts[1:]
	d, err := device.Open(device.Options{Kind: device.Software, Software: o})
	if err != nil {
		return nil, err
	}
	e := &Engine{Name: name, d: d, api: *cu.New(d.Table)}
	if e.dev, err = e.api.DeviceGet(0); err == nil {
		var ctx cu.CUcontext
		if ctx, err = e.api.DevicePrimaryCtxRetain(e.dev); err == nil {
			e.api = e.api.In(ctx)
			return e, nil
		}
	}
	return nil, errors.Join(err, d.Close())
}

// ISA is the instruction set of the engine's machine code: "AVX-512" or "AVX2"; empty for the interpreter.
func (e *Engine) ISA() string { return e.d.EngineISA }

// Close ends the device.
func (e *Engine) Close() error {
	return errors.Join(e.api.DevicePrimaryCtxRelease(e.dev), e.d.Close())
}

// Run measures a case.
func (e *Engine) Run(c *Case, size Size, t Timing) (s Sample, err error) {
	s = Sample{Bench: c.Name, Impl: e.Name, Size: size.String(), Unit: c.Unit, Work: c.Work}
	defer func() {
		if err != nil {
			s.Note = err.Error()
			if d := e.d.LastDetail(0); d != "" {
				s.Note += ": " + d
			}
		}
	}()
	text, err := ptx(c.file)
	if err != nil {
		return s, err
	}
	text = append(text, 0)
	var memory []cu.CUdeviceptr
	defer func() {
		for _, p := range memory {
			err = errors.Join(err, e.api.MemFree(p))
		}
	}()
	for _, b := range c.buffers {
		p, err := e.api.MemAlloc(uint64(len(b.init)))
		if err != nil {
			return s, err
		}
		memory = append(memory, p)
		if err := e.api.MemcpyHtoD(p, b.init); err != nil {
			return s, err
		}
	}
	var textures []cu.CUtexObject
	defer func() {
		for _, t := range textures {
			err = errors.Join(err, e.api.TexObjectDestroy(t))
		}
	}()
	values := make([]uint64, len(c.args))
	params := make([]unsafe.Pointer, len(c.args))
	for i, a := range c.args {
		values[i] = a.bits
		switch {
		case a.image > 0:
			t, err := e.texture(memory[a.buffer], uint64(a.image), c.rgba)
			if err != nil {
				return s, err
			}
			textures = append(textures, t)
			values[i] = uint64(t)
		case a.buffer >= 0 && a.size == 0:
			values[i] = uint64(memory[a.buffer])
		}
		params[i] = unsafe.Pointer(&values[i]) // little endian: a value of 4 bytes comes first
	}
	start := time.Now()
	m, err := e.api.ModuleLoadData(text)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, e.api.ModuleUnload(m)) }()
	f, err := e.api.ModuleGetFunction(m, c.entry)
	if err != nil {
		return s, err
	}
	s.Build = time.Since(start).Seconds()
	sample := func() (time.Duration, error) {
		start := time.Now()
		for range c.launches {
			if err := e.api.LaunchKernel(f, c.grid[0], c.grid[1], c.grid[2], c.block[0], c.block[1], c.block[2], 0, 0,
				params, nil); err != nil {
				return 0, err
			}
		}
		err := e.api.CtxSynchronize()
		return time.Since(start), err
	}
	launches := c.launches
	c.launches = 1
	first, err := sample()
	c.launches = launches
	if err != nil {
		return s, err
	}
	s.First = first.Seconds()
	check := func() error {
		got := make([][]byte, len(c.buffers))
		for i, b := range c.buffers {
			if b.dir&out != 0 {
				got[i] = make([]byte, len(b.init))
				if err := e.api.MemcpyDtoH(got[i], memory[i]); err != nil {
					return err
				}
			}
		}
		return c.verify(c, got)
	}
	if err := check(); err != nil {
		return s, err
	}
	runtime.GC() // what the check left behind is not the device's
	most := t.MaxReps
	if c.launches > 1 || c.Work < 1e6 {
		most = max(most, 4096)
	}
	var took []float64
	for begin := time.Now(); len(took) < most; {
		d, err := sample()
		if err != nil {
			return s, err
		}
		took = append(took, d.Seconds()/float64(c.launches))
		if e := time.Since(begin); e > t.Budget && len(took) >= t.MinReps || e > 20*t.Budget+5*time.Second {
			break
		}
	}
	s.Reps, s.Seconds, s.Min = len(took), median(took), slices.Min(took)
	if c.again {
		if err := check(); err != nil {
			return s, fmt.Errorf("after %d launches: %w", len(took), err)
		}
	}
	s.OK = true
	return s, nil
}

// texture makes a texture object; see Case.texture.
func (e *Engine) texture(p cu.CUdeviceptr, width uint64, rgba bool) (cu.CUtexObject, error) {
	res := cu.CUDA_RESOURCE_DESC{ResType: cu.CU_RESOURCE_TYPE_PITCH2D}
	*res.Res.Pitch2D() = cu.CUDA_RESOURCE_DESC_res_pitch2D{
		DevPtr: p, Format: cu.CU_AD_FORMAT_FLOAT, NumChannels: 1, Width: width, Height: width, PitchInBytes: 4 * width,
	}
	desc := cu.CUDA_TEXTURE_DESC{FilterMode: cu.CU_TR_FILTER_MODE_LINEAR}
	for i := range desc.AddressMode {
		desc.AddressMode[i] = cu.CU_TR_ADDRESS_MODE_CLAMP
	}
	if rgba {
		res.Res.Pitch2D().Format, res.Res.Pitch2D().NumChannels = cu.CU_AD_FORMAT_UNSIGNED_INT8, 4
		desc.Flags = cu.CU_TRSF_NORMALIZED_COORDINATES
	}
	return e.api.TexObjectCreate(&res, &desc, nil)
}

func median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	n := len(v)
	return (v[(n-1)/2] + v[n/2]) / 2
}
