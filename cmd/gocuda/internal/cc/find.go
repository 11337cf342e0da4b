package cc

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
)

// OldestClang and NewestClang bound the versions that are looked for by name. The oldest is the first whose headers
// and code generator know sm_90 and scoped atomics; a plain clang++ may be newer than the newest.
const (
	OldestClang = 18
	NewestClang = 23
)

// Clang is a clang that compiles CUDA.
type Clang struct {
	Path    string   // of the program
	Args    []string // before all others: "clang" for the one in zig
	Version int      // major
	Headers string   // clang's own include folder
}

// NotFoundError says that no clang was found that compiles CUDA for sm_90.
type NotFoundError struct {
	Tried []string // each with the reason
}

func (e *NotFoundError) Error() string {
	s := fmt.Sprintf("no clang of version %d or later was found; tried", OldestClang)
	for _, t := range e.Tried {
		s += "\n" + t
	}
	return s
}

// Hint says how to get a clang.
func (e *NotFoundError) Hint() string {
	switch runtime.GOOS {
	case "darwin":
		return "brew install llvm, or set GOCUDA_CLANG to a clang++"
	case "windows":
		return "winget install LLVM.LLVM, or set GOCUDA_CLANG to a clang++"
	}
	return "apt install clang-19 (Debian, Ubuntu), dnf install clang (Fedora), pip install ziglang 'clang-tidy==22.*' " +
		"(docs/cc.md), or set GOCUDA_CLANG to a clang++"
}

// Find looks for a clang: the one that is given, else clang++-NN from the newest version down, else clang++. Errors are
// a *NotFoundError.
func Find(ctx context.Context, given string) (*Clang, error) {
	e := &NotFoundError{}
	if given != "" {
		c, err := probe(ctx, given)
		if err == nil {
			return c, nil
		}
		e.Tried = append(e.Tried, given+": "+err.Error())
		return nil, e
	}
	names := make([]string, 0, 16)
	for v := NewestClang; v >= OldestClang; v-- {
		names = append(names, "clang++-"+strconv.Itoa(v))
	}
	names = append(names, "clang++")
	if runtime.GOOS == "darwin" {
		names = append(names, "/opt/homebrew/opt/llvm/bin/clang++", "/usr/local/opt/llvm/bin/clang++")
	}
	for _, n := range names {
		path, err := exec.LookPath(n)
		if err != nil {
			continue
		}
		c, err := probe(ctx, path)
		if err == nil {
			return c, nil
		}
		e.Tried = append(e.Tried, path+": "+err.Error())
	}
	if len(e.Tried) == 0 {
		e.Tried = []string{fmt.Sprintf("clang++-%d to clang++-%d and clang++ in PATH: not there", NewestClang,
			OldestClang)}
	}
	return nil, e
}

// probe asks a clang for its version and whether it can compile CUDA for sm_90 with headers of its own.
func probe(ctx context.Context, path string) (*Clang, error) {
	c := &Clang{Path: path}
	if base := filepath.Base(path); base == "zig" || base == "ziglang" || base == "zig.exe" {
		c.Args = []string{"clang", "--driver-mode=g++"}
		if target, ok := zigTargets[runtime.GOOS+"/"+runtime.GOARCH]; ok {
			c.Args = append(c.Args, "-target", target)
		}
	}
	out, err := c.output(ctx, "-print-resource-dir") // its last part is the version
	if err != nil {
		return nil, err
	}
	dir := strings.TrimSpace(out)
	major, _, _ := strings.Cut(filepath.Base(dir), ".")
	if c.Version, err = strconv.Atoi(major); err != nil {
		return nil, fmt.Errorf("%q is no folder of a clang", dir)
	}
	if c.Version < OldestClang {
		return nil, fmt.Errorf("version %d does not compile for sm_90 as needed, %d does", c.Version, OldestClang)
	}
	c.Headers = filepath.Join(dir, "include")
	if c.hasHeaders() {
		return c, nil
	}
	// The package clang-tidy of PyPI has LLVM's headers whole; ziglang is its neighbour where both are installed.
	if real, err := filepath.EvalSymlinks(path); err == nil {
		dir := filepath.Join(filepath.Dir(real), "..", "clang_tidy", "data", "lib", "clang", major)
		own := c.Headers
		if c.Headers = filepath.Join(dir, "include"); c.hasHeaders() {
			c.Args = append(c.Args, "-resource-dir", dir)
			return c, nil
		}
		c.Headers = own
	}
	return nil, fmt.Errorf("version %d has no CUDA headers (%s); for zig of PyPI: pip install 'clang-tidy==%[1]d.*'",
		c.Version, c.Headers)
}

// zigTargets are the systems that zig's clang compiles for, which are others when none is named.
var zigTargets = map[string]string{"linux/amd64": "x86_64-linux-gnu", "linux/arm64": "aarch64-linux-gnu"}

func (c *Clang) hasHeaders() bool {
	_, err := os.Stat(filepath.Join(c.Headers, "__clang_cuda_builtin_vars.h"))
	return err == nil
}

func (c *Clang) output(ctx context.Context, args ...string) (string, error) {
	cmd := exec.CommandContext(ctx, c.Path, append(append([]string(nil), c.Args...), args...)...)
	out, err := cmd.Output()
	return string(out), err
}

// ptxFeature is the newest PTX version that a clang writes, as its option has it, and the CUDA version that goes with
// it (llvm/lib/Target/NVPTX/NVPTX.td and clang/include/clang/Basic/Cuda.h of each release).
func (c *Clang) ptxFeature() (feature, sdk string) {
	switch {
	case c.Version >= 22:
		return "+ptx90", "12.9"
	case c.Version == 21:
		return "+ptx88", "12.9"
	case c.Version == 20:
		return "+ptx87", "12.8"
	case c.Version == 19:
		return "+ptx85", "12.5"
	}
	return "+ptx83", "12.3"
}
