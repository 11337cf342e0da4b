package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Hosts are the C programs: native C in two forms, and the OpenCL host for PoCL.
type Hosts struct {
	dir   string
	impls []hostImpl
	// Missing says for each implementation that cannot run why, and what to install.
	Missing map[string]string
}

type hostImpl struct {
	name, program string
	env           []string
}

// The implementations of Hosts.
const (
	Native     = "native"      // gcc -O3 -march=native -fopenmp
	NativeFast = "native-fast" // and -ffast-math -mprefer-vector-width=512
	AVX2       = "avx2"        // as Native, for a processor with AVX2 (-march=x86-64-v3)
	AVX2Fast   = "avx2-fast"   // and -ffast-math
	PoCL       = "pocl"        // the first OpenCL platform with Portable in its name
	PoCLFast   = "pocl-fast"   // and -cl-fast-relaxed-math
)

// CDoor is the C host of the CUDA driver API, which opens the library that $CUDA_LIB names. It is not among HostNames:
// it measures an entry point, not an implementation.
const CDoor = "libcuda"

// HostNames lists the implementations of Hosts.
var HostNames = [...]string{Native, NativeFast, AVX2, AVX2Fast, PoCL, PoCLFast}

// BuildHosts compiles the C programs in a folder, or takes those that are there. big50k says whether that case will
// run, which takes gcc a minute more.
func BuildHosts(dir string, names []string, big50k bool, progress func(string)) (*Hosts, error) {
	h := &Hosts{dir: dir, Missing: map[string]string{}}
	gcc, err := exec.LookPath("gcc")
	if err != nil {
		for _, n := range names {
			h.Missing[n] = "not installed: apt-get install gcc"
		}
		return h, nil
	}
	if err := unpack(dir); err != nil {
		return h, err
	}
	b := &build{dir: dir, gcc: gcc, progress: progress, suffix: "", big: []string{"big5k"}}
	if big50k {
		b.suffix, b.big = "50k", append(b.big, "big50k")
	}
	threads := "OMP_NUM_THREADS=" + strconv.Itoa(runtime.NumCPU())
	noCL := ""
	if slices.Contains(names, PoCL) || slices.Contains(names, PoCLFast) {
		if vendors, _ := filepath.Glob("/etc/OpenCL/vendors/*pocl*"); len(vendors) == 0 {
			noCL = "not installed: apt-get install pocl-opencl-icd ocl-icd-opencl-dev opencl-headers"
		}
	}
	for _, n := range names {
		program, err := "", error(nil)
		var env []string
		switch n {
		case Native:
			program, err = b.native("native", marchNative)
			env = []string{threads}
		case NativeFast:
			program, err = b.native("nativefast", marchNative+" -ffast-math -mprefer-vector-width=512")
			env = []string{threads}
		case AVX2:
			program, err = b.native("avx2", marchAVX2)
			env = []string{threads}
		case AVX2Fast:
			program, err = b.native("avx2fast", marchAVX2+" -ffast-math")
			env = []string{threads}
		case CDoor:
			program, err = b.libcuda()
		case PoCL, PoCLFast:
			if noCL != "" {
				h.Missing[n] = noCL
				continue
			}
			cache := filepath.Join(dir, "cache", n)
			if err := os.MkdirAll(cache, 0o755); err != nil {
				return h, err
			}
			env = []string{"OCL_PLATFORM=Portable", "POCL_CACHE_DIR=" + cache}
			if n == PoCLFast {
				env = append(env, "CLFLAGS=-cl-fast-relaxed-math")
			}
			if program, err = b.opencl(); err != nil {
				h.Missing[n] = "the OpenCL host does not build (apt-get install ocl-icd-opencl-dev opencl-headers): " +
					err.Error()
				continue
			}
		default:
			return h, fmt.Errorf("bench: no implementation %q", n)
		}
		if err != nil {
			h.Missing[n] = err.Error()
			continue
		}
		h.impls = append(h.impls, hostImpl{n, program, env})
	}
	return h, nil
}

// Names lists what can run.
func (h *Hosts) Names() []string {
	var names []string
	for _, i := range h.impls {
		names = append(names, i.name)
	}
	return names
}

// Run measures a case in a process of its own, which ends after limit at the latest.
func (h *Hosts) Run(impl, bench string, size Size, t Timing, limit time.Duration) Sample {
	s := Sample{Bench: bench, Impl: impl, Size: size.String()}
	i := slices.IndexFunc(h.impls, func(x hostImpl) bool { return x.name == impl })
	if i < 0 {
		s.Note = h.Missing[impl]
		return s
	}
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	cmd := exec.CommandContext(ctx, h.impls[i].program, "--impl", impl, "--size", size.String(), "--budget",
		fmt.Sprint(t.Budget.Seconds()), "--minreps", strconv.Itoa(t.MinReps), "--maxreps", strconv.Itoa(t.MaxReps),
		"--only", bench)
	cmd.Dir = h.dir
	cmd.Env = append(os.Environ(), h.impls[i].env...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	text, err := cmd.Output()
	for line := range bytes.Lines(text) {
		if bytes.HasPrefix(line, []byte("{")) && json.Unmarshal(line, &s) == nil {
			return s
		}
	}
	switch {
	case ctx.Err() != nil:
		s.Note = fmt.Sprintf("took longer than %v", limit)
	case err != nil:
		s.Note = strings.TrimSpace(err.Error() + " " + lastLine(stderr.String()))
	default:
		s.Note = "printed no result"
	}
	s.OK = false
	return s
}

func lastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// unpack writes the sources.
func unpack(dir string) error {
	return fs.WalkDir(files, ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		to := filepath.Join(dir, filepath.FromSlash(p))
		if d.IsDir() {
			return os.MkdirAll(to, 0o755)
		}
		b, err := files.ReadFile(p)
		if err != nil {
			return err
		}
		if old, err := os.ReadFile(to); err == nil && bytes.Equal(old, b) {
			return nil // what was built of it stays newer
		}
		return os.WriteFile(to, b, 0o644)
	})
}

// build compiles what is missing or older than its source.
type build struct {
	dir, gcc string
	suffix   string
	big      []string
	progress func(string)
}

const (
	nativeFlags = "-O3 -fopenmp"
	marchNative = "-march=native"
	marchAVX2   = "-march=x86-64-v3"
)

func (b *build) path(p string) string { return filepath.Join(b.dir, filepath.FromSlash(p)) }

// gccRun compiles unless the result is newer than its sources.
func (b *build) gccRun(result, flags string, sources ...string) error {
	result = b.path(result)
	paths := make([]string, len(sources))
	for i, s := range sources {
		paths[i] = b.path(s)
	}
	if st, err := os.Stat(result); err == nil {
		fresh := true
		headers, _ := filepath.Glob(b.path("host/*.h"))
		for _, s := range append(headers, paths...) {
			if x, err := os.Stat(s); err != nil || x.ModTime().After(st.ModTime()) {
				fresh = false
			}
		}
		if fresh {
			return nil
		}
	}
	if b.progress != nil {
		b.progress("gcc " + flags + " " + strings.Join(sources, " "))
	}
	var args, libs []string
	for _, f := range strings.Fields(flags) {
		if strings.HasPrefix(f, "-l") {
			libs = append(libs, f)
		} else {
			args = append(args, f)
		}
	}
	args = append(append(args, "-o", result), paths...)
	cmd := exec.Command(b.gcc, append(args, libs...)...)
	text, err := cmd.CombinedOutput()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			first, _, _ := strings.Cut(string(text), "\n")
			return fmt.Errorf("gcc: %s", first)
		}
		return err
	}
	return nil
}

// objects compiles what all programs share.
func (b *build) objects() ([]string, error) {
	if err := os.MkdirAll(b.path("build/gen"), 0o755); err != nil {
		return nil, err
	}
	if err := b.gccRun("build/gen_big", "-O1", "host/gen_big.c"); err != nil {
		return nil, err
	}
	cases := "build/cases" + b.suffix + ".o"
	flags := "-O2 -c"
	if b.suffix != "" {
		flags += " -DBIG50K"
	}
	if err := b.gccRun(cases, flags, "host/cases.c"); err != nil {
		return nil, err
	}
	list := []string{cases}
	for _, name := range [...]string{"common", "cases_matmul", "cases_more", "cases_image"} {
		o := "build/" + name + ".o"
		if err := b.gccRun(o, "-O2 -c", "host/"+name+".c"); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	for _, name := range b.big {
		statements := map[string]string{"big5k": "1430", "big50k": "14000"}[name]
		source := "build/gen/" + name + ".c"
		if _, err := os.Stat(b.path(source)); err != nil {
			if text, err := exec.Command(b.path("build/gen_big"), name, statements,
				b.path("build/gen")).CombinedOutput(); err != nil {
				return nil, fmt.Errorf("gen_big: %w %s", err, text)
			}
			cl, err := os.ReadFile(b.path("build/gen/" + name + ".cl"))
			if err != nil {
				return nil, err
			}
			if err := os.WriteFile(b.path("kernels/opencl/"+name+".cl"), cl, 0o644); err != nil {
				return nil, err
			}
		}
		ref := "build/" + name + "_ref.o"
		if err := b.gccRun(ref, "-O1 -DREF -c", source); err != nil {
			return nil, err
		}
		list = append(list, ref)
	}
	return list, nil
}

// nativeObjects are the native forms, compiled with more flags, and what all programs share.
func (b *build) nativeObjects(name, more string) ([]string, error) {
	list, err := b.objects()
	if err != nil {
		return nil, err
	}
	for _, part := range [...]string{"", "_matmul", "_more", "_image"} {
		o := "build/" + name + part + ".o"
		if err := b.gccRun(o, nativeFlags+" "+more+" -c", "host/native"+part+".c"); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	for _, big := range b.big {
		o := "build/" + big + "_" + name + ".o"
		if err := b.gccRun(o, nativeFlags+" "+more+" -c", "build/gen/"+big+".c"); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// host links a program.
func (b *build) host(name, source, libs string, objects []string) (string, error) {
	program := "build/" + name + b.suffix
	err := b.gccRun(program, "-O2 -fopenmp "+libs, append([]string{source}, objects...)...)
	return b.path(program), err
}

func (b *build) native(name, more string) (string, error) {
	objects, err := b.nativeObjects(name, more)
	if err != nil {
		return "", err
	}
	return b.host(name, "host/native_main.c", "-lmvec -lm", objects)
}

func (b *build) opencl() (string, error) {
	objects, err := b.nativeObjects(Native, marchNative)
	if err != nil {
		return "", err
	}
	return b.host("ocl", "host/ocl_main.c", "-lOpenCL -lm", objects)
}

func (b *build) libcuda() (string, error) {
	for _, name := range b.big {
		text, err := ptx(name)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(b.path("kernels/ptx/"+name+".ptx"), text, 0o644); err != nil {
			return "", err
		}
	}
	objects, err := b.nativeObjects(Native, marchNative)
	if err != nil {
		return "", err
	}
	return b.host("cuda", "host/cuda_main.c", "-ldl -lm", objects)
}
