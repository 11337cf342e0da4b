package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/gocuda/cuda/cmd/gocuda/internal/cc"
	"github.com/gocuda/cuda/include"
	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/env"
)

// ccCmd is nvcc's command line: kong leaves it to package cc.
type ccCmd struct {
	Args []string `arg:"" optional:"" help:"Files and nvcc's options; -go writes Go, -clang PATH chooses the compiler, -cuda 12 shows the headers of CUDA 12."`
}

const ccHelp = `Usage: gocuda cc [options] file ...

Compiles CUDA C++ (.cu) with clang, and links it with gocuda's CUDA runtime. Options are nvcc's; those of clang work too.

  -o FILE             output; else FILE.ptx, FILE.fatbin, FILE.o or a.out
  -ptx -fatbin -c     stop at PTX, a fatbin, an object; -go: write Go with a function for each kernel (-package NAME)
  -arch=sm_90         compute capability; -gencode arch=compute_80,code=sm_80 may come several times
  -I -D -U -std -O    as everywhere; -Xcompiler FLAGS for host code, -Xlinker FLAGS for the link
  -rdc=true -dc       device code of several files, linked together
  -G -lineinfo -g     debugging; -use_fast_math -fmad=false -maxrregcount N: code generation
  -clang PATH         the clang++ to use; -cuda 12 shows the API as CUDA 12 has it
  -v --dryrun         say what is run

Examples:
  gocuda cc -o prog prog.cu && ./prog
  gocuda cc -ptx kernels.cu
  gocuda cc -go kernels.cu
`

func (c *ccCmd) Run(con *console) error {
	if len(c.Args) == 0 || c.Args[0] == "--help" || c.Args[0] == "-h" {
		fmt.Fprint(con.out, ccHelp)
		return nil
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	return ccHint(compileCUDA(ctx, con, c.Args))
}

// image is what the command is to load. CUDA C++ is compiled, and the kernel found under the name it has there.
func (c *runCmd) image() ([]byte, error) {
	if filepath.Ext(c.File) != ".cu" {
		return readImage(c.File)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var ptx bytes.Buffer
	err := compileCUDA(ctx, &console{out: &ptx, err: os.Stderr}, []string{"-ptx", "-lineinfo", "-o", "-", c.File})
	if err != nil {
		return nil, ccHint(err)
	}
	if c.Kernel, err = cc.FindKernel(ptx.Bytes(), c.Kernel); err != nil {
		return nil, hint(err, "one of them, with quotes if it has characters of the shell")
	}
	return append(ptx.Bytes(), 0), nil
}

// ccHint gives the errors of package cc what they say to do next.
func ccHint(err error) error {
	var usage *cc.UsageError
	var clang *cc.ClangError
	var missing *cc.NotFoundError
	var lib *cc.NoRuntimeError
	switch {
	case errors.As(err, &missing):
		return hint(err, "%s", missing.Hint())
	case errors.As(err, &lib):
		return hint(err, "make libcuda, and GOCUDA_LIB=build")
	case errors.As(err, &usage) && usage.Hint != "":
		return hint(err, "%s", usage.Hint)
	case errors.As(err, &clang) && clang.Hint != "":
		return hint(err, "%s", clang.Hint)
	}
	return err
}

// compileCUDA does what a command line of nvcc asks for.
func compileCUDA(ctx context.Context, con *console, args []string) error {
	o, err := cc.Parse(args)
	if err != nil {
		return err
	}
	set := env.Read(nil)
	if o.Clang == "" {
		o.Clang = set.Clang
	}
	d := &cc.Driver{Options: o, Stdout: con.out, Stderr: con.err}
	if d.Clang, err = cc.Find(ctx, o.Clang); err != nil {
		return err
	}
	cache := set.Cache
	if cache == "" {
		if cache, err = os.UserCacheDir(); err != nil {
			cache = os.TempDir()
		}
		cache = filepath.Join(cache, "gocuda")
	}
	if d.Include, err = cc.Install(cache, "include", include.FS()); err != nil {
		return fmt.Errorf("the headers: %w", err)
	}
	lib, err := cc.InstallFiles(cache, "devlib", cc.File{Path: devlib.FileName, Data: devlib.Bitcode()})
	if err != nil {
		return fmt.Errorf("the device math library: %w", err)
	}
	d.Library = filepath.Join(lib, devlib.FileName)
	if set.CCCL != "" {
		if d.CCCL = cc.CCCL(set.CCCL); d.CCCL == nil {
			return hint(fmt.Errorf("%s=%s: no CCCL there: %w", env.CCCL, set.CCCL, fs.ErrNotExist),
				"the folder that has cub, thrust and cuda in it")
		}
	}
	if o.Stage == cc.Link && !o.NoRuntime {
		if d.Runtime, err = o.FindRuntime(set.Lib); err != nil {
			return err
		}
	}
	return d.Run(ctx)
}
