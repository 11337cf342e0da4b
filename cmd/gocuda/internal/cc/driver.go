package cc

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
)

// Driver compiles and links what options ask for.
type Driver struct {
	*Options
	Clang   *Clang
	Include string   // folder of the CUDA headers
	Library string   // bitcode of the device math library, "" for none
	CCCL    []string // folders of CCCL's headers, after all others
	Runtime string   // path of the CUDA runtime library, "" when there is none
	Stdout  io.Writer
	Stderr  io.Writer
	work    string // temporary folder

	mu sync.Mutex // for Stderr
}

// ClangError says that clang, or the linker that it calls, refused a file. What it said has been written to Stderr.
type ClangError struct {
	File string
	Hint string
	Err  error
}

func (e *ClangError) Error() string { return e.File + ": clang refused it" }
func (e *ClangError) Unwrap() error { return e.Err }

// Run does all that the options ask for. Errors are a *ClangError when clang has said what is wrong.
func (d *Driver) Run(ctx context.Context) error {
	var err error
	if d.work, err = os.MkdirTemp("", "gocuda-cc-"); err != nil {
		return err
	}
	defer os.RemoveAll(d.work)
	d.withoutOpenMP()
	switch d.Stage {
	case Preprocess:
		return d.preprocess(ctx)
	case PTX, Fatbin, Go:
		for _, src := range d.sources() {
			if d.kind(src) != cudaSource {
				return &UsageError{Flag: src, Text: "no device code in it", Hint: "-x cu, if it is CUDA C++"}
			}
			if err := d.device(ctx, src); err != nil {
				return err
			}
		}
		return nil
	}
	objects, err := d.objects(ctx)
	if err != nil || d.Stage == Object {
		return err
	}
	return d.link(ctx, objects)
}

// preprocess passes clang's answer on.
func (d *Driver) preprocess(ctx context.Context) error {
	for _, src := range d.sources() {
		args := append(d.hostArgs(src), src)
		if d.Output != "" {
			args = append(args, "-o", d.Output)
		}
		var stderr bytes.Buffer
		err := d.run(ctx, args, d.Stdout, &stderr)
		d.say(stderr.Bytes(), nil)
		if err != nil {
			return &ClangError{File: src, Err: err}
		}
	}
	return nil
}

// device compiles a file's device code alone and writes it in the form that is asked for.
func (d *Driver) device(ctx context.Context, src string) error {
	code, text, err := d.compileDevice(ctx, src)
	if err != nil {
		overlay, e := d.sharedOverlay(text)
		if e != nil {
			return e
		}
		if overlay != nil {
			code, text, err = d.compileDevice(ctx, src, overlay...)
		}
	}
	d.say(text, nil)
	if err != nil || d.DryRun {
		return err
	}
	var out []byte
	ext := ".ptx"
	switch d.Stage {
	case PTX:
		if len(code) > 1 {
			return &UsageError{Flag: "-ptx", Text: "one architecture at a time", Hint: "-fatbin for several"}
		}
		out = code[0].ptx
	case Fatbin:
		ext = ".fatbin"
		if out, err = pack(code); err != nil {
			return err
		}
	case Go:
		return d.writeGo(ctx, src, code)
	}
	name := d.Output
	if name == "" {
		name = base(src) + ext
	}
	if name == "-" {
		_, err := d.Stdout.Write(out)
		return err
	}
	return os.WriteFile(name, out, 0o666)
}

// objects compiles all sources, as many at a time as there are processors, and gives what is to be linked in the order
// of the command line.
func (d *Driver) objects(ctx context.Context) ([]string, error) {
	objects := make([]string, len(d.Inputs))
	errs := make([]error, len(d.Inputs))
	slots := make(chan struct{}, max(1, processors()/2))
	var wg sync.WaitGroup
	for i, in := range d.Inputs {
		if d.kind(in) == linkInput {
			if d.Stage == Link {
				objects[i] = in
			}
			continue
		}
		out := filepath.Join(d.work, fmt.Sprintf("%d.o", i))
		if d.Stage == Object {
			if out = d.Output; out == "" {
				out = filepath.Base(base(in)) + ".o"
			}
		}
		objects[i] = out
		wg.Add(1)
		go func() {
			defer wg.Done()
			slots <- struct{}{}
			defer func() { <-slots }()
			if d.kind(in) == cudaSource {
				errs[i] = d.compile(ctx, in, out)
			} else {
				errs[i] = d.compileHost(ctx, in, out)
			}
		}()
	}
	wg.Wait()
	return slices.DeleteFunc(objects, func(s string) bool { return s == "" }), errors.Join(errs...)
}

func base(file string) string { return strings.TrimSuffix(file, filepath.Ext(file)) }

// code is the device code of a file for one architecture.
type code struct {
	arch sm.Arch
	ptx  []byte
}

// compile makes an object of a CUDA file. Host code is compiled while device code is: clang reads the container last,
// through a pipe with a name where the system has those. more are arguments of both compilations.
func (d *Driver) compile(ctx context.Context, src, out string, more ...string) error {
	parent := ctx
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	id := "-cuid=" + d.unit(src)
	fat := filepath.Join(d.work, d.unit(src)+".fatbin")
	piped := !d.DryRun && makePipe(fat) == nil

	args := append([]string{id, "-c", src, "-o", out, "-Xclang", "-fcuda-include-gpubinary", "-Xclang", fat}, more...)
	var hostText bytes.Buffer
	var hostErr error
	done := make(chan struct{})
	host := func() {
		defer close(done)
		hostErr = d.run(ctx, append(d.hostArgs(src), args...), d.Stdout, &hostText)
	}
	if piped {
		go host()
	}
	code, text, err := d.compileDevice(ctx, src, append([]string{id}, more...)...)
	var container []byte
	if err == nil && !d.DryRun {
		container, err = pack(code)
	}
	if err != nil {
		cancel()
		if piped {
			<-done
		}
		if len(more) == 0 {
			overlay, e := d.sharedOverlay(text)
			if e != nil {
				return e
			}
			if overlay != nil {
				if err := os.Remove(fat); err != nil && !errors.Is(err, os.ErrNotExist) {
					return err
				}
				return d.compile(parent, src, out, overlay...)
			}
		}
		d.say(text, nil)
		return err
	}
	if piped {
		err = feed(fat, container, done)
		<-done
	} else {
		if err = os.WriteFile(fat, container, 0o666); err != nil {
			return err
		}
		host()
	}
	if hostErr != nil && usesManaged(hostText.Bytes()) {
		if d.Relocatable {
			return &UsageError{Flag: "-rdc=true", Text: "clang has no __managed__ variables with it",
				Hint: "whole programs (without -rdc), or cudaMallocManaged"}
		}
		hostText.Reset()
		hostErr, err = d.compileManaged(ctx, args, fat, container, &hostText), nil
	}
	d.say(text, hostText.Bytes())
	if hostErr != nil {
		return &ClangError{File: src, Err: hostErr, Hint: explain(hostText.Bytes())}
	}
	return err
}

// compileHost makes an object of a file without device code.
func (d *Driver) compileHost(ctx context.Context, src, out string) error {
	args := append([]string(nil), d.Common...)
	if filepath.Ext(src) == ".c" {
		args = append(slices.DeleteFunc(args, func(a string) bool {
			return strings.HasPrefix(a, "-std=c++") ||
				strings.HasPrefix(a, "-std=gnu++")
		}), "-x", "c")
	}
	args = append(args, d.versionArgs()...)
	args = append(args, "-O2")
	args = append(args, d.Host...)
	args = append(args, "-isystem", d.Include, "-c", src, "-o", out)
	var text bytes.Buffer
	err := d.run(ctx, args, d.Stdout, &text)
	d.say(nil, text.Bytes())
	if err != nil {
		return &ClangError{File: src, Err: err}
	}
	return nil
}

// unit names a file in symbols and temporary files.
func (d *Driver) unit(src string) string {
	abs, err := filepath.Abs(src)
	if err != nil {
		abs = src
	}
	h := sha256.Sum256([]byte(abs + "\x00" + strings.Join(d.Common, "\x00")))
	return hex.EncodeToString(h[:8])
}

// versionArgs show the version of the API that is asked for.
func (d *Driver) versionArgs() []string {
	if d.CUDA == 12 {
		return []string{"-DCUDART_VERSION=12090"}
	}
	return nil
}

// cudaArgs are the flags of both compilations.
func (d *Driver) cudaArgs(language string) []string {
	_, sdk := d.Clang.ptxFeature()
	// libcu++ declares functions with an ellipsis that nothing calls.
	args := []string{"-x", language, "-nocudainc", "-nocudalib", "-Wno-unknown-cuda-version", "-Wno-linker-warnings",
		"-Xclang", "-target-sdk-version=" + sdk, "-Xclang", "-fcuda-allow-variadic-functions"}
	if d.Relocatable {
		// The newer driver leaves registration to clang's own linker.
		args = append(args, "-fgpu-rdc", "--no-offload-new-driver")
	}
	if d.PerThread {
		args = append(args, "-fgpu-default-stream=per-thread")
	}
	args = append(args, d.versionArgs()...)
	args = append(args, d.Common...)
	args = append(args, "-isystem", d.Include)
	for _, dir := range d.CCCL {
		args = append(args, "-isystem", dir)
	}
	return append(args, "-include", "cuda_runtime.h")
}

func (d *Driver) hostArgs(string) []string {
	args := append(d.cudaArgs("cuda"), "--cuda-host-only")
	if d.Stage != Preprocess {
		args = append(args, "-O2")
	}
	return append(args, d.Host...)
}

func (d *Driver) deviceArgs(arch string) []string {
	feature, _ := d.Clang.ptxFeature()
	args := append(d.cudaArgs("cuda"), "--cuda-device-only", "--cuda-gpu-arch=sm_"+arch, "--cuda-feature="+feature)
	switch {
	case d.Debug:
		args = append(args, "-O0", "-g", "--cuda-noopt-device-debug")
	case d.LineInfo:
		args = append(args, "-O3", "-gline-directives-only")
	default:
		args = append(args, "-O3")
	}
	if d.FastMath {
		args = append(args, "-fgpu-approx-transcendentals")
	}
	if d.FastMath || d.Flush {
		args = append(args, "-fgpu-flush-denormals-to-zero")
	}
	if d.FastMath || d.Approximate.Div {
		args = append(args, "-mllvm", "-nvptx-prec-divf32=0")
	}
	if d.FastMath || d.Approximate.Sqrt {
		args = append(args, "-mllvm", "-nvptx-prec-sqrtf32=0")
	}
	if d.NoContract {
		args = append(args, "-ffp-contract=off")
	}
	// LLVM 19 loads a vector of 16 bytes whole, whatever its alignment: cub sorts bytes at odd addresses.
	args = append(args, "-mllvm", "-slp-max-vf=8")
	if d.Library != "" {
		args = append(args, "-Xclang", "-mlink-builtin-bitcode", "-Xclang", d.Library)
	}
	return append(args, d.Device...)
}

// compileDevice makes PTX of a file for every architecture. text is what clang said.
func (d *Driver) compileDevice(ctx context.Context, src string, more ...string) (all []code, text []byte, err error) {
	all = make([]code, len(d.Archs))
	texts := make([]bytes.Buffer, len(d.Archs))
	errs := make([]error, len(d.Archs))
	var wg sync.WaitGroup
	for i, a := range d.Archs {
		arch, ok := sm.Parse("sm_" + a)
		if !ok {
			return nil, nil, &UsageError{Flag: "-arch=sm_" + a, Text: "no architecture", Hint: "-arch=sm_90"}
		}
		out := filepath.Join(d.work, fmt.Sprintf("%s.%s.ptx", d.unit(src), a))
		wg.Add(1)
		go func() {
			defer wg.Done()
			args := append(append(d.deviceArgs(a), more...), "-S", src, "-o", out)
			if e := d.run(ctx, args, d.Stdout, &texts[i]); e != nil {
				errs[i] = &ClangError{File: src, Err: e, Hint: explain(texts[i].Bytes())}
				return
			}
			if d.DryRun {
				return
			}
			ptx, e := os.ReadFile(out)
			if e != nil {
				errs[i] = e
				return
			}
			all[i] = code{arch, managed(clusterDims(limitRegisters(ptx, d.Registers)))}
			if !d.Relocatable {
				errs[i] = unresolved(src, ptx)
			}
		}()
	}
	wg.Wait()
	for i := range d.Archs {
		if errs[i] != nil {
			return nil, texts[i].Bytes(), errs[i] // the others say the same
		}
	}
	return all, texts[0].Bytes(), nil
}

// pack puts device code into a container.
func pack(all []code) ([]byte, error) {
	var w fatbin.Writer
	for _, c := range all {
		h := image.ScanPTX(c.ptx)
		var major, minor uint16
		if _, err := fmt.Sscanf(h.Version, "%d.%d", &major, &minor); err != nil {
			return nil, fmt.Errorf("clang's PTX has no version: %w", err)
		}
		err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: c.arch, Major: major, Minor: minor, Data: c.ptx})
		if err != nil {
			return nil, err
		}
	}
	return w.Bytes(), nil
}

// run starts clang.
func (d *Driver) run(ctx context.Context, args []string, stdout io.Writer, stderr *bytes.Buffer) error {
	args = append(append([]string(nil), d.Clang.Args...), args...)
	if d.Verbose {
		d.mu.Lock()
		fmt.Fprintln(d.Stderr, d.Clang.Path, strings.Join(args, " "))
		d.mu.Unlock()
	}
	if d.DryRun {
		return nil
	}
	cmd := exec.CommandContext(ctx, d.Clang.Path, args...)
	cmd.Stdout, cmd.Stderr = stdout, stderr
	return cmd.Run()
}
