package cc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
)

// withoutOpenMP replaces -fopenmp where clang has no OpenMP library, which is a package of its own: gcc's has the
// functions, the headers declare them, and clang leaves the pragmas out.
func (d *Driver) withoutOpenMP() {
	const flag = "-fopenmp"
	if !slices.Contains(d.Host, flag) && !slices.Contains(d.Linker, flag) {
		return
	}
	if _, err := os.Stat(filepath.Join(d.Clang.Headers, "omp.h")); err == nil {
		return
	}
	fmt.Fprintf(d.Stderr, "gocuda: this clang has no OpenMP library (package libomp-%d-dev): the pragmas are left out\n",
		d.Clang.Version)
	for _, flags := range []*[]string{&d.Host, &d.Linker} {
		for i, f := range *flags {
			if f == flag {
				(*flags)[i] = flag + "=libgomp"
			}
		}
	}
	d.Common = append(d.Common, "-idirafter", filepath.Join(d.Include, "gocuda", "openmp"))
}
