// Command compile makes the PTX of the examples from their CUDA C++, with NVIDIA's compiler library:
//
//	go run ./examples/internal/compile examples/*/*.cu
package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gocuda/cuda/nvrtc"
)

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "compile:", err)
		os.Exit(1)
	}
}

func run(files []string) error {
	rtc, err := nvrtc.Open("")
	if err != nil {
		return err
	}
	for _, f := range files {
		src, err := os.ReadFile(f)
		if err != nil {
			return err
		}
		p, err := rtc.Compile(string(src), nvrtc.Options{Name: filepath.Base(f), Arch: "compute_80",
			Flags: []string{"--std=c++17"}})
		if err != nil {
			return err
		}
		if err := os.WriteFile(strings.TrimSuffix(f, ".cu")+".ptx", p.PTX, 0o644); err != nil {
			return err
		}
	}
	return nil
}
