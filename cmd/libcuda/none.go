//go:build !linux || !cgo

package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "libcuda: built for Linux with a C compiler only: make libcuda")
	os.Exit(2)
}
