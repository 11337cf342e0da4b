// Command devlibrecord prepares, in a folder, what a machine with an NVIDIA GPU and its toolkit needs to record the
// device math library: kernels with every function, ours compiled to PTX by clang, and the program that runs and
// compares.
//
//	go run ./internal/tools/devlibrecord -o FOLDER      # then, there: bash run.sh OUT [SECONDS]
//	go run ./internal/tools/devlibrecord -pack OUT      # writes what the repository keeps of it
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gocuda/cuda/internal/devlib"
	"github.com/gocuda/cuda/internal/devlib/kernels"
)

//go:embed record.cu
var program []byte

// parts is into how many modules the kernels are divided, so that they compile on as many processors.
const parts = 16

func main() {
	out := flag.String("o", "", "folder to write")
	cc := flag.String("clang", "clang-19", "compiler of our side")
	extra := flag.String("candidates", "", "C file with other definitions, __nv_NAME__N, of functions to compare as well")
	packed := flag.String("pack", "", "folder of a recording, of which the kept part is written to internal/devlib/testdata")
	flag.Parse()
	if *packed != "" {
		if err := pack(*packed, "internal/devlib/testdata"); err != nil {
			fmt.Fprintln(os.Stderr, "record:", err)
			os.Exit(1)
		}
		return
	}
	if *out == "" {
		flag.Usage()
		os.Exit(2)
	}
	if err := run(*out, *cc, *extra); err != nil {
		fmt.Fprintln(os.Stderr, "record:", err)
		os.Exit(1)
	}
}

func run(out, cc, extra string) error {
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	list := devlib.Functions()
	known := map[string]devlib.Function{}
	for _, f := range list {
		known[f.Name] = f
	}
	var candidates string
	if extra != "" {
		b, err := os.ReadFile(extra)
		if err != nil {
			return err
		}
		candidates = string(b)
	}
	// the sweeps first: they are what a short run must have
	var lines [2]strings.Builder
	var theirs, ours [parts]strings.Builder
	for i := range parts {
		theirs[i].WriteString(kernels.Prelude)
		ours[i].WriteString(kernels.Prelude)
		ours[i].WriteString(candidates)
	}
	for i, f := range list {
		part := i % parts
		d, reference := kernels.Counterpart(known, f)
		fmt.Fprintln(&lines[1-digit(kernels.Sweep(f))], f.Name, f.Name, kernels.Slots(f), kernels.Outs(f), part,
			digit(reference), domain(f.Name), digit(kernels.Sweep(f)))
		kernels.Declare(&ours[part], f)
		if api, ok := strings.CutPrefix(f.Name, "v"); ok && strings.ContainsAny(api, "24") {
			// no longer functions of the library, but of the headers
			kernels.Define(&theirs[part], f, "__v"+api)
		} else {
			kernels.Declare(&theirs[part], f)
		}
		kernels.Kernel(&theirs[part], f, f.Name)
		kernels.Kernel(&ours[part], f, f.Name)
		if reference {
			kernels.Declare(&theirs[part], d)
			kernels.Reference(&theirs[part], f, d)
		}
		for n := 1; strings.Contains(candidates, fmt.Sprintf("__nv_%s__%d(", f.Name, n)); n++ {
			c := f
			c.Name = fmt.Sprintf("%s__%d", f.Name, n)
			kernels.Kernel(&ours[part], c, c.Name)
			fmt.Fprintln(&lines[1-digit(kernels.Sweep(f))], c.Name, f.Name, kernels.Slots(f), kernels.Outs(f), part,
				0, 0, digit(kernels.Sweep(f)))
		}
	}
	lib := filepath.Join(out, devlib.FileName)
	files := map[string][]byte{"record.cu": program, "functions.txt": []byte(lines[0].String() + lines[1].String()),
		"run.sh":        []byte(script),
		devlib.FileName: devlib.Bitcode()}
	for i := range parts {
		files[fmt.Sprintf("theirs%d.cu", i)] = []byte(theirs[i].String())
		files[fmt.Sprintf("ours%d.cu", i)] = []byte(ours[i].String())
	}
	for name, data := range files {
		if err := os.WriteFile(filepath.Join(out, name), data, 0o644); err != nil {
			return err
		}
	}
	for i := range parts {
		base := filepath.Join(out, fmt.Sprintf("ours%d", i))
		c := exec.Command(cc, "-x", "cuda", "--cuda-device-only", "--cuda-gpu-arch=sm_90", "-nocudainc", "-nocudalib",
			"-Xclang", "-target-sdk-version=12.5", "-Xclang", "-target-feature", "-Xclang", "+ptx80",
			"-Wno-linker-warnings", "-Xclang", "-mlink-builtin-bitcode", "-Xclang", lib, "-O2", "-S", base+".cu",
			"-o", base+".ptx")
		if text, err := c.CombinedOutput(); err != nil {
			return fmt.Errorf("%w\n%s", err, text)
		}
	}
	return os.Remove(lib)
}

func digit(b bool) int {
	if b {
		return 1
	}
	return 0
}

func domain(name string) int {
	switch name {
	case "lgammaf":
		return 1
	case "j0f", "j1f", "y0f", "y1f":
		return 2
	}
	return 0
}

const script = `#!/usr/bin/env bash
# Compiles both sides and the program, then records: run.sh OUT [SECONDS]
set -u
out=$1
w=$(mktemp -d)
for i in $(seq 0 15); do
	nvcc -arch=sm_90 -cubin -o $w/theirs$i.cubin theirs$i.cu 2>$w/theirs$i.log &
	ptxas -arch=sm_90 -o $w/ours$i.cubin ours$i.ptx 2>$w/ours$i.log &
done
nvcc -O2 -arch=sm_90 -o $w/record record.cu -lcuda &
wait
cat $w/*.log | head -50
$w/record functions.txt $w/theirs $w/ours "$out" "${2:-300}"
`
