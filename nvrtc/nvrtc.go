// Package nvrtc compiles CUDA C++ to PTX while the program runs, with NVIDIA's compiler library (libnvrtc) where there
// is one. The library comes with the CUDA toolkit and as a package of its own; it needs neither driver nor GPU, so what
// it makes runs on the software device too:
//
//	rtc, err := nvrtc.Open("")
//	if err != nil {
//		return err // *nvrtc.LoadError: no library
//	}
//	p, err := rtc.Compile(source, nvrtc.Options{Arch: "compute_90"})
//	if err != nil {
//		return err // *nvrtc.CompileError: with the compiler's messages
//	}
//	mod, err := c.Load(p.PTX)
package nvrtc

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/env"
	internal "github.com/gocuda/cuda/internal/nvrtc"
)

// LoadError is the error when no usable compiler library is found. It lists those that were tried.
type LoadError = internal.LoadError

// MissingError names a function that the library is too old for.
type MissingError = internal.MissingError

// Result is a code of NVRTC.
type Result = internal.Result

// PathVariable is the environment variable that gives the path of the library.
const PathVariable = env.NVRTC

// Compiler is an open compiler library. It may be used from several goroutines.
type Compiler struct{ l *internal.Library }

// Open opens the library at a path. An empty path stands for the environment variable GOCUDA_NVRTC, or else for the
// places where CUDA and pip install the library: the active Python environment (VIRTUAL_ENV, CONDA_PREFIX), the names
// known to the system's loader, CUDA toolkits, and the packages of the python3 on PATH. Libraries that it depends on
// are opened too. The error is a [*LoadError]. A library stays loaded until the process ends.
func Open(path string) (*Compiler, error) {
	l, err := internal.Open(path)
	if err != nil {
		return nil, err
	}
	return &Compiler{l}, nil
}

// Path returns the name under which the library was opened.
func (c *Compiler) Path() string { return c.l.Path() }

// HeaderFolders returns the folders with CUDA's headers that belong to the library, in a toolkit or in NVIDIA's Python
// packages (nvidia-cuda-runtime, nvidia-cuda-cccl). [Compiler.Compile] searches them last, so that cuda_fp16.h and
// cooperative_groups.h are found.
func (c *Compiler) HeaderFolders() []string { return c.l.Headers() }

// Version returns the CUDA version of the compiler.
func (c *Compiler) Version() (major, minor int, err error) { return c.l.Version() }

// Architectures returns the compute capabilities that the library compiles for, as 10*major+minor (CUDA 11.2).
func (c *Compiler) Architectures() ([]int, error) { return c.l.Architectures() }

// Options are the options of [Compiler.Compile]; the zero value compiles for the compiler's default architecture.
type Options struct {
	// Name is the name of the text in messages; default is "kernel.cu".
	Name string
	// Arch is the architecture: compute_90 makes PTX, sm_90 machine code as well.
	Arch string
	// Headers are texts that the program can include, by the names in its #include lines.
	Headers map[string]string
	// Names are C++ expressions, for example "scale<float>", whose mangled names are wanted; a template is instantiated
	// by that.
	Names []string
	// Tile compiles the program's tile kernels (__tile_global__, cuda_tile.h) to Tile IR: NVRTC 13.1 and later, with
	// the headers of the CUDA toolkit, C++20 and an Arch of sm_80 or later. A library that is too old gives a
	// [*MissingError].
	Tile bool
	// Flags are further options as for nvcc, for example "--use_fast_math" or "-DN=4".
	Flags []string
}

// Program is the result of a compilation.
type Program struct {
	PTX   []byte // text, without a NUL at the end
	CUBIN []byte // machine code; empty unless Options.Arch is an sm_
	Log   string // warnings
	// TileIR is the bytecode of the tile kernels, for Context.Load; empty unless Options.Tile.
	TileIR []byte
	// Names are the mangled names of Options.Names, for Module.Kernel.
	Names map[string]string
}

// CompileError is the error for a program that the compiler rejects.
type CompileError struct {
	Code Result
	Log  string // the compiler's messages
}

func (e *CompileError) Error() string {
	if e.Log == "" {
		return "nvrtc: " + e.Code.Error()
	}
	return "nvrtc: " + e.Code.Error() + "\n" + strings.TrimRight(e.Log, "\n")
}

// Unwrap returns the code.
func (e *CompileError) Unwrap() error { return e.Code }

// Compile compiles CUDA C++. Kernels declared extern "C" keep their names; for others see [Options].Names. Errors in
// the source are a [*CompileError].
func (c *Compiler) Compile(source string, o Options) (_ *Program, err error) {
	if o.Name == "" {
		o.Name = "kernel.cu"
	}
	for _, s := range slices.Concat([]string{source, o.Name, o.Arch}, o.Flags, o.Names) {
		if strings.IndexByte(s, 0) >= 0 {
			return nil, errors.New("nvrtc: a text with a NUL byte")
		}
	}
	if o.Tile {
		if err := c.l.HasTileIR(); err != nil {
			return nil, err
		}
	}
	var headers, includes []string
	for name := range o.Headers {
		includes = append(includes, name)
	}
	slices.Sort(includes)
	for _, name := range includes {
		if strings.IndexByte(name+o.Headers[name], 0) >= 0 {
			return nil, fmt.Errorf("nvrtc: header %q has a NUL byte", name)
		}
		headers = append(headers, o.Headers[name])
	}
	p, err := c.l.Create(source, o.Name, headers, includes)
	if err != nil {
		return nil, wrap("nvrtcCreateProgram", err)
	}
	defer func() { err = errors.Join(err, wrap("nvrtcDestroyProgram", p.Destroy())) }()
	for _, n := range o.Names {
		if err := p.AddName(n); err != nil {
			return nil, wrap("nvrtcAddNameExpression", err)
		}
	}
	flags := slices.Clone(o.Flags)
	if o.Arch != "" {
		flags = append(flags, "--gpu-architecture="+o.Arch)
	}
	if o.Tile {
		flags = append(flags, "--enable-tile")
	}
	for _, dir := range c.l.Headers() { // after the program's own
		flags = append(flags, "--include-path="+dir)
	}
	compiled := p.Compile(flags)
	log, err := p.Log()
	if err != nil {
		return nil, wrap("nvrtcGetProgramLog", errors.Join(compiled, err))
	}
	out := &Program{Log: text(log), Names: map[string]string{}}
	var code Result
	if errors.As(compiled, &code) {
		return nil, &CompileError{Code: code, Log: out.Log}
	}
	if compiled != nil {
		return nil, compiled
	}
	if out.PTX, err = p.PTX(); err != nil {
		return nil, wrap("nvrtcGetPTX", err)
	}
	out.PTX = bytes.TrimRight(out.PTX, "\x00")
	if strings.HasPrefix(o.Arch, "sm_") {
		if out.CUBIN, err = p.CUBIN(); err != nil {
			return nil, wrap("nvrtcGetCUBIN", err)
		}
	}
	if o.Tile {
		if out.TileIR, err = p.TileIR(); err != nil {
			return nil, wrap("nvrtcGetTileIR", err)
		}
	}
	for _, n := range o.Names {
		if out.Names[n], err = p.LoweredName(n); err != nil {
			return nil, wrap("nvrtcGetLoweredName: "+n, err)
		}
	}
	return out, nil
}

func wrap(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("nvrtc: %s: %w", op, err)
}

func text(b []byte) string { return string(bytes.TrimRight(b, "\x00")) }
