package cc

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

func processors() int { return runtime.GOMAXPROCS(0) }

// NoRuntimeError says that the CUDA runtime library was not found.
type NoRuntimeError struct{ Tried []string }

func (e *NoRuntimeError) Error() string {
	return "the CUDA runtime library was not found; tried\n" + strings.Join(e.Tried, "\n")
}

// FindRuntime looks for the runtime library of a version, 12 or 13: in the folders of -L, where lib says, beside the
// program and in ../lib of that. Errors are a *NoRuntimeError.
func (o *Options) FindRuntime(lib string) (string, error) {
	var dirs []string
	for _, f := range o.Linker {
		if dir, ok := strings.CutPrefix(f, "-L"); ok {
			dirs = append(dirs, dir)
		}
	}
	if lib != "" {
		dirs = append(dirs, filepath.SplitList(lib)...)
	}
	if exe, err := os.Executable(); err == nil {
		if exe, err = filepath.EvalSymlinks(exe); err == nil {
			d := filepath.Dir(exe)
			dirs = append(dirs, d, filepath.Join(d, "..", "lib"))
		}
	}
	name := "libcudart.so.13"
	if o.CUDA == 12 {
		name = "libcudart.so.12"
	}
	e := &NoRuntimeError{}
	for _, d := range dirs {
		p, err := filepath.Abs(filepath.Join(d, name))
		if err != nil {
			continue
		}
		if _, err := os.Stat(p); err == nil {
			return p, nil
		}
		e.Tried = append(e.Tried, p)
	}
	return "", e
}

// link makes a program or a shared library.
func (d *Driver) link(ctx context.Context, objects []string) error {
	if d.Relocatable {
		stub, err := d.linkDevice(ctx, objects)
		if err != nil {
			return err
		}
		if stub != "" {
			objects = append(objects, stub)
		}
	}
	out := d.Output
	if out == "" {
		out = "a.out"
	}
	args := append([]string{"-o", out}, objects...)
	dir := filepath.Dir(d.Runtime)
	for _, f := range d.Linker {
		switch f {
		case "-lcudart", "-lcudart_static", "-lcudadevrt", "-lcuda":
			if d.Runtime != "" && f == "-lcuda" {
				args = append(args, filepath.Join(dir, "libcuda.so.1"))
				continue
			}
			if d.Runtime != "" {
				continue // added below
			}
			if f == "-lcudadevrt" {
				continue
			}
		}
		args = append(args, f)
	}
	if d.Runtime != "" {
		args = append(args, d.Runtime, "-Xlinker", "-rpath", "-Xlinker", dir)
	}
	if runtime.GOOS == "linux" {
		args = append(args, "-lm", "-lpthread", "-ldl", "-lrt")
	}
	var text bytes.Buffer
	err := d.run(ctx, args, d.Stdout, &text)
	d.say(nil, text.Bytes())
	if err != nil {
		return &ClangError{File: out, Err: errors.Join(errors.New("the link failed"), err)}
	}
	return nil
}
