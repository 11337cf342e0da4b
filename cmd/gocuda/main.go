// Command gocuda looks at CUDA devices and images and runs kernels, on the NVIDIA driver or on the software CUDA
// device.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/alecthomas/kong"
)

// cli is the command line.
type cli struct {
	Devices devicesCmd `cmd:"" help:"Say what is here: the NVIDIA driver or why it is not used, and the software device's profiles."`
	Inspect inspectCmd `cmd:"" help:"Take an image apart: PTX, cubin, fatbin, Tile IR, host object, archive or program."`
	Run     runCmd     `cmd:"" help:"Run a kernel of an image with arguments from the command line and from .npy files."`
	Cc      ccCmd      `cmd:"" name:"cc" passthrough:"" help:"Compile CUDA C++ with clang, without a CUDA toolkit: to PTX, a fatbin, an object, Go or a program."`
	Check   checkCmd   `cmd:"" help:"Replay a folder of recorded cases and compare with what hardware answered."`
	Trace   traceCmd   `cmd:"" help:"Run a kernel and show what every PTX line did, and what it became: operations and machine code."`
	Bench   benchCmd   `cmd:"" help:"Measure the software device against PoCL and native C on twenty workloads."`

	Doc        docCmd        `cmd:"" help:"Explain a function of the driver API: its name in Go, parameters, results, since when it is there, and what the software device does with it."`
	Version    versionCmd    `cmd:"" help:"Say the version of the module, commit, Go and platform, and which device runs kernels."`
	Completion completionCmd `cmd:"" help:"Print a script that completes this command's line in a shell."`
	Man        manCmd        `cmd:"" help:"Print the manual page: gocuda man | man -l -"`

	VersionFlag versionFlag `name:"version" help:"Print the version and end."`
}

// summary is what the program does, in a line.
const summary = "CUDA devices, images and kernels, with a GPU or without"

// exitCodes are the exit codes and what they mean.
var exitCodes = []struct {
	code    int
	meaning string
}{
	{0, "The command has done its work; what was compared is equal, and checks found no errors."},
	{1, "The command failed, a comparison differed, or a check (--check, --memcheck) found errors."},
	{2, "The command line is wrong."},
}

// exitTable is exitCodes for the help.
func exitTable() string {
	s := "Exit codes:"
	for _, e := range exitCodes {
		s += fmt.Sprintf("\n  %d  %s", e.code, e.meaning)
	}
	return s
}

// console is where a command speaks.
type console struct {
	out, err io.Writer
	model    *kong.Application // the command line itself
}

// failure is an error with a hint of what to do next.
type failure struct {
	err  error
	hint string
}

func (f *failure) Error() string { return f.err.Error() }
func (f *failure) Unwrap() error { return f.err }

func hint(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return &failure{err, fmt.Sprintf(format, args...)}
}

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// run is main with its surroundings as arguments; it returns the exit code: 0, 1 when the command failed, 2 when it was
// written wrong.
func run(args []string, stdout, stderr io.Writer) int {
	var c cli
	exit := -1
	parser, err := kong.New(&c, kong.Name("gocuda"),
		kong.Description(summary+".\n\nExamples, from the root of the repository:\n"+examples+"\n\n"+exitTable()),
		kong.Vars{"argumentHelp": argumentHelp}, kong.Writers(stdout, stderr), kong.Exit(func(code int) {
			exit = code
		}), kong.UsageOnError(), kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 110}))
	if err != nil {
		fmt.Fprintln(stderr, "gocuda:", err)
		return 1
	}
	if len(args) == 0 {
		args = []string{"--help"}
	}
	ctx, err := parser.Parse(args)
	if exit >= 0 {
		return exit
	}
	if err != nil {
		complain(stderr, hint(err, "gocuda --help"))
		return 2
	}
	if err := ctx.Run(&console{stdout, stderr, parser.Model}); err != nil {
		complain(stderr, err)
		return 1
	}
	return 0
}

// complain says in one line what is wrong and what to do next. More lines of the error, a compiler's log say, follow.
func complain(w io.Writer, err error) {
	first, rest, _ := strings.Cut(strings.TrimSpace(err.Error()), "\n")
	fmt.Fprintf(w, "gocuda: %s", first)
	var f *failure
	if errors.As(err, &f) && f.hint != "" {
		fmt.Fprintf(w, "; try: %s", f.hint)
	}
	fmt.Fprintln(w)
	for _, l := range strings.Split(rest, "\n") {
		if l != "" {
			fmt.Fprintf(w, "  %s\n", l)
		}
	}
}

const examples = `  gocuda devices
  gocuda doc cuModuleLoadDataEx
  gocuda inspect testdata/saxpy/saxpy.fatbin
  gocuda run testdata/saxpy/saxpy.fatbin saxpy --grid 4 --block 256 f32:2.5 @testdata/saxpy/x.npy @testdata/saxpy/y.npy i32:1000 --expect 2=testdata/saxpy/want.npy
  gocuda run testdata/saxpy/saxpy.ptx saxpy --grid 4 --block 256 f32:2.5 f32[1000]~1 f32[1000]=1 i32:1000 --device software
  gocuda check testdata/silicon --group int --group f32
  gocuda check testdata/corpus --group saxpy --build all
  gocuda bench -k sgemm_tiled,sha256 --size tiny --rounds 1 --quiet 0s --against none --no-progress`
