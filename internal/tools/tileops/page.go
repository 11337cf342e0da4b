package main

import (
	"bytes"
	"fmt"
	"strings"
)

const intro = "# Tile IR\n\n" +
	"Generated from the table of operations (" + table + ") by `" + command + "`; do not edit.\n\n" +
	`CUDA Tile IR is the third kind of image, beside PTX and cubins, that the documentation of CUDA 13.1 and later names for
cuModuleLoad and its relatives.

The software device loads and runs it:

- cuModuleLoad, cuModuleLoadData, cuModuleLoadDataEx, cuLibraryLoadData and cuLibraryLoadFromFile take modules of
  bytecode 13.1 to 13.5, as they are or in fatbins (stored, LZ4, zstd). Of a fatbin they take PTX first, Tile IR when
  nothing else fits.
- A module becomes PTX (package internal/tileir/lower), a warp doing the work of a tile block, and that is compiled as
  other PTX is: kernels run in either engine, and the memory checker, faults, graphs, libraries and ` + "`gocuda trace`" + ` work
  as for other kernels. Mathematical functions are those of package internal/tileir/devmath, whose errors are within the
  bounds of the CUDA C++ Programming Guide.
- A launch has blocks of (1, 1, 1) or (128, 1, 1), others are CUDA_ERROR_INVALID_VALUE; this, and what the driver says
  of such kernels, is as on an H200 (` + "`TestTileRules`" + ` in internal/softdev).
- A module that NVIDIA's reader refuses is refused with its words in the error log; [CAVEATS](../CAVEATS.md) says with
  which results.
- Every version of the bytecode is read, checked and printed (package internal/tileir). The text is that of NVIDIA's
  tileirdisasm, the rules and messages of the check are those of NVIDIA's reader.
- ` + "`gocuda inspect FILE`" + ` shows version, entries with their parameters, and globals of a module, also of those in fatbins,
  objects, archives and programs; ` + "`--text`" + ` adds the operations.
- Producers that call NVIDIA's assembler take ` + "`cmd/tileiras`" + ` for it, which checks the bytecode and hands it through.
  cuTile Python runs so unchanged over our libcuda.so.1 (client cutile in [clients](../clients/README.md)). CUDA Tile
  C++ becomes Tile IR by package nvrtc (Options.Tile), with NVRTC 13.1 or later.
  [examples/17-tile](../examples/17-tile/main.go) loads a kernel of cuTile Python in Go.

Preview content (bit 0 of the tag in the header) is refused.

## Operations

"since" is the first version of the bytecode that has the operation. An operand or result with ? may be absent, with *
there may be any number of it. The last column says whether the software device, which has compute capability 9.0, runs
it: a module with one that it does not run is refused with CUDA_ERROR_NOT_SUPPORTED (` + "`TestTileRecorded`" + ` in
internal/softdev runs all others).

`

func document(ops []operation) []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	b.WriteString("| operation | opcode | since | operands | results | attributes | regions | software device |\n|---|---|---|---|---|---|---|---|\n")
	for i := range ops {
		o := &ops[i]
		runs := "yes"
		if o.notSM90 != "" {
			runs = "no, " + o.notSM90
		}
		regions := o.regions
		if regions == "" {
			regions = "-"
		}
		fmt.Fprintf(&b, "| `%s` | %s | 13.%s | %s | %s | %s | %s | %s |\n", o.name, strings.ToUpper(o.code), o.since,
			names(o.operands, false), names(o.results, false), names(o.attributes, true), regions, runs)
	}
	return b.Bytes()
}

func names(slots []slot, attributes bool) string {
	if len(slots) == 0 {
		return "-"
	}
	var out []string
	for _, s := range slots {
		n := s.name
		if s.arity != 0 {
			n += string(s.arity)
		}
		if attributes && s.kind == "Unit" {
			n = "[" + n + "]"
		}
		if s.since != "" {
			n += " (13." + s.since + ")"
		}
		out = append(out, n)
	}
	return strings.Join(out, ", ")
}
