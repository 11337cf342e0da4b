package main

import (
	"bytes"
	"fmt"
	"strings"
)

const intro = "# Tile IR\n\n" +
	"Generated from the table of operations (" + table + ") by `" + command + "`; do not edit.\n\n" +
	`CUDA Tile IR is the third kind of image, beside PTX and cubins, that the documentation of CUDA 13.1 and later names for cuModuleLoad and its relatives.

**The software device does not load Tile IR yet**: like a driver of CUDA 13.0, it answers CUDA_ERROR_INVALID_IMAGE to a module and passes over those in fatbins.
What there is so far reads it:

- every version of the bytecode from 13.1 to 13.5 is read, checked and printed (package internal/tileir). The text is that of NVIDIA's tileirdisasm,
  the rules and messages of the check are those of NVIDIA's reader.
- ` + "`gocuda inspect FILE`" + ` shows version, entries with their parameters, and globals of a module, also of those in fatbins, objects, archives and programs;
  ` + "`--text`" + ` adds the operations.

Preview content (bit 0 of the tag in the header) is refused.

## Operations

"since" is the first version of the bytecode that has the operation. An operand or result with ? may be absent, with * there may be any number of it.
"sm_90" says whether a device of compute capability 9.0, which the software device is, may run it.

`

func document(ops []operation) []byte {
	var b bytes.Buffer
	b.WriteString(intro)
	b.WriteString("| operation | opcode | since | operands | results | attributes | regions | sm_90 | software device |\n|---|---|---|---|---|---|---|---|---|\n")
	for i := range ops {
		o := &ops[i]
		runs := "yes"
		if o.notSM90 != "" {
			runs = o.notSM90
		}
		regions := o.regions
		if regions == "" {
			regions = "-"
		}
		fmt.Fprintf(&b, "| `%s` | %s | 13.%s | %s | %s | %s | %s | %s | read, not run |\n", o.name, strings.ToUpper(o.code), o.since,
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
