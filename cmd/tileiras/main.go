// Command tileiras stands in for NVIDIA's assembler of that name where programs run on the software CUDA device:
// producers of Tile IR, such as cuTile Python, call it to make machine code of bytecode and hand that to the driver.
// This one checks the bytecode and hands it through as it is, for the software device loads Tile IR itself.
//
//	tileiras [options] <tile bytecode file> -o <file>
//	tileiras --version
//	tileiras --list-versions
//
// Bytecode that is damaged, ill-typed, of a version that cannot be read or with preview content is refused with the
// words of NVIDIA's reader, and exit status 3. Options that choose how machine code is made have no effect; libraries
// and preview features are refused.
package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/tileir"
)

// The exit statuses.
const (
	statusUsage   = 1 // options or files
	statusRefused = 3 // as of NVIDIA's tools
)

func main() { os.Exit(run(os.Args[1:], os.Stdout, os.Stderr)) }

// options are what the command line says.
type options struct {
	in, out       string
	version, list bool
}

// valued are the options that have a value, in the next word or after =.
var valued = []string{
	"gpu-name", "arch", "opt-level", "host-arch", "host-os", "remark-format", "remarks", "remarks-analysis",
	"remarks-failed", "remarks-missed", "remarks-passed", "remarks-output-file", "sanitize", "apply-controls",
	"output-file", "o", "preview", "l",
}

// flags are those without.
var flags = []string{"device-debug", "g", "lineinfo"}

func parse(args []string) (o options, err error) {
	for len(args) > 0 {
		word := args[0]
		args = args[1:]
		if !strings.HasPrefix(word, "-") || word == "-" {
			if o.in != "" {
				return o, fmt.Errorf("two input files: %s and %s", o.in, word)
			}
			o.in = word
			continue
		}
		name, value, given := strings.Cut(strings.TrimLeft(word, "-"), "=")
		switch {
		case name == "version":
			o.version = true
		case name == "list-versions":
			o.list = true
		case slices.Contains(flags, name):
		case len(name) == 2 && name[0] == 'O' && name[1] >= '0' && name[1] <= '3':
		case name == "O" || slices.Contains(valued, name):
			if !given {
				if len(args) == 0 {
					return o, fmt.Errorf("option %s needs a value", word)
				}
				value, args = args[0], args[1:]
			}
			switch name {
			case "o", "output-file":
				o.out = value
			case "preview":
				return o, fmt.Errorf("preview feature %s is not supported", value)
			case "l":
				return o, fmt.Errorf("tile libraries are not supported: %s", value)
			}
		default:
			return o, fmt.Errorf("unknown option %s", word)
		}
	}
	if !o.version && !o.list && (o.in == "" || o.out == "") {
		return o, errors.New("usage: tileiras [options] <tile bytecode file> -o <file>")
	}
	return o, nil
}

// run is main with its surroundings as arguments; it returns the exit status.
func run(args []string, stdout, stderr io.Writer) int {
	o, err := parse(args)
	switch {
	case err != nil:
	case o.version:
		fmt.Fprintf(stdout, "tileiras: stand-in for the software CUDA device, hands Tile IR %d.%d to %d.%d through\n",
			tileir.Major, tileir.MinMinor, tileir.Major, tileir.MaxMinor)
		return 0
	case o.list:
		for minor := tileir.MinMinor; minor <= tileir.MaxMinor; minor++ {
			fmt.Fprintf(stdout, "%d.%d\n", tileir.Major, minor)
		}
		return 0
	default:
		err = through(o.in, o.out)
	}
	if err == nil {
		return 0
	}
	var bad *tileir.Error
	if errors.As(err, &bad) {
		fmt.Fprintf(stderr, "error: %s\n", bad.Reference())
		return statusRefused
	}
	fmt.Fprintf(stderr, "error: %v\n", err)
	return statusUsage
}

// through checks bytecode and copies it.
func through(in, out string) error {
	f, err := os.Open(in)
	if err != nil {
		return err
	}
	defer f.Close()
	code, err := image.Read(f, in, -1)
	if err != nil {
		return err
	}
	m, err := tileir.Parse(code)
	if err != nil {
		return err
	}
	if err := m.Verify(); err != nil {
		return err
	}
	return os.WriteFile(out, code, 0o666)
}
