// Command devlibgen compiles the device math library, internal/devlib/src, to the bitcode that package devlib embeds.
//
//	go run ./internal/tools/devlibgen           # writes internal/devlib/devmath.bc and sources.sum
//	go run ./internal/tools/devlibgen -check    # says whether they are what would be written
//
// The compiler is clang 17.0.6 out of zig 0.12.1, the oldest that later ones can read and the only one used, so that
// the result is the same everywhere, bit by bit: `pip install ziglang==0.12.1`, found as GOCUDA_ZIG, as zig in PATH, or
// as Python's module ziglang. Without it -check still compares the sources with sources.sum.
package main

import (
	"bytes"
	"crypto/sha256"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
)

const (
	version = "0.12.1"
	folder  = "internal/devlib"
	bitcode = "devmath.bc"
	sums    = "sources.sum"
)

func main() {
	check := flag.Bool("check", false, "compare instead of writing")
	flag.Parse()
	if err := run(*check); err != nil {
		fmt.Fprintln(os.Stderr, "devlibgen:", err)
		os.Exit(1)
	}
}

func run(check bool) error {
	sum, err := sourcesSum()
	if err != nil {
		return err
	}
	zig, err := compiler()
	if err != nil && !check {
		return err
	}
	if check {
		old, err := os.ReadFile(filepath.Join(folder, sums))
		if err != nil {
			return err
		}
		if string(old) != sum {
			return fmt.Errorf("the sources of %s have changed since it was compiled", folder)
		}
		if zig == nil {
			fmt.Println("devlibgen: no zig", version+": the sources are compared, the bitcode is not")
			return nil
		}
	}
	code, err := build(zig)
	if err != nil {
		return err
	}
	if check {
		old, err := os.ReadFile(filepath.Join(folder, bitcode))
		if err != nil {
			return err
		}
		if !bytes.Equal(old, code) {
			return fmt.Errorf("%s/%s is not what its sources compile to", folder, bitcode)
		}
		return nil
	}
	if err := os.WriteFile(filepath.Join(folder, bitcode), code, 0o644); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(folder, sums), []byte(sum), 0o644)
}

// sourcesSum returns a line with the SHA-256 sum of each source.
func sourcesSum() (string, error) {
	names, err := filepath.Glob(filepath.Join(folder, "src", "*.[ch]"))
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			return "", err
		}
		fmt.Fprintf(&b, "%x  %s\n", sha256.Sum256(data), filepath.Base(name))
	}
	return b.String(), nil
}

// compiler returns the command line of the pinned zig.
func compiler() ([]string, error) {
	candidates := [][]string{{"zig"}, {"python3", "-m", "ziglang"}}
	if p := os.Getenv("GOCUDA_ZIG"); p != "" {
		candidates = [][]string{{p}}
	}
	for _, c := range candidates {
		out, err := exec.Command(c[0], append(c[1:], "version")...).Output()
		if err == nil && strings.TrimSpace(string(out)) == version {
			return c, nil
		}
	}
	return nil, fmt.Errorf("zig %s not found (pip install ziglang==%s; GOCUDA_ZIG names it)", version, version)
}

// build compiles to text, makes that neutral, and lets the same compiler write it as bitcode.
func build(zig []string) ([]byte, error) {
	tmp, err := os.MkdirTemp("", "devlib")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(tmp)
	clang := func(args ...string) error {
		args = append(append(zig[1:len(zig):len(zig)], "clang", "--target=nvptx64-nvidia-cuda"), args...)
		c := exec.Command(zig[0], args...)
		c.Stdout, c.Stderr = os.Stderr, os.Stderr
		if err := c.Run(); err != nil {
			return fmt.Errorf("%s %s: %w", zig[0], strings.Join(args, " "), err)
		}
		return nil
	}
	text := filepath.Join(tmp, "devmath.ll")
	err = clang("-x", "c", "-std=gnu17", "-O2", "-ffreestanding", "-nostdinc", "-march=sm_70", "-Xclang",
		"-target-feature", "-Xclang", "+ptx70", "-ffp-contract=off", "-fvisibility=hidden", "-Wall", "-Wextra",
		"-Wno-unused-function", "-S", "-emit-llvm", filepath.Join(folder, "src", "devlib.c"), "-o", text)
	if err != nil {
		return nil, err
	}
	b, err := os.ReadFile(text)
	if err != nil {
		return nil, err
	}
	if err := os.WriteFile(text, neutral(b), 0o644); err != nil {
		return nil, err
	}
	out := filepath.Join(tmp, bitcode)
	err = clang("-x", "ir", "-c", "-emit-llvm", "-Xclang", "-disable-llvm-passes", text, "-o", out)
	if err != nil {
		return nil, err
	}
	return os.ReadFile(out)
}

var edits = []struct {
	re *regexp.Regexp
	to string
}{
	// the name that the pass NVVMReflect of whoever links the library knows
	{regexp.MustCompile(`@devlib_reflect\b`), "@__nvvm_reflect"},
	{regexp.MustCompile(`(?m)^; ModuleID.*\n`), ""},
	{regexp.MustCompile(`(?m)^source_filename.*$`), `source_filename = "` + bitcode + `"`},
	// what the program's own options decide
	{regexp.MustCompile(` "(target-cpu|target-features|frame-pointer|no-trapping-math|stack-protector-buffer-size)"` +
		`(="[^"]*")?`), ""},
	{regexp.MustCompile(`(?m)^!llvm\.(module\.flags|ident).*\n`), ""},
}

// neutral takes out of the module what would bind it to a processor, a set of options or a folder.
func neutral(b []byte) []byte {
	for _, e := range edits {
		b = e.re.ReplaceAll(b, []byte(e.to))
	}
	return b
}
