package cc

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// provided are the functions that a device gives to every program (PTX interoperability guide, "System Calls"; CUDA
// C++ Programming Guide, "Conditional Graph Nodes").
var provided = []string{"vprintf", "malloc", "free", "__assertfail", "cudaGraphSetConditional"}

// UnresolvedError names device functions that are declared and called and nowhere defined.
type UnresolvedError struct {
	File  string
	Names []string
}

func (e *UnresolvedError) Error() string {
	return fmt.Sprintf("%s: device code calls what is nowhere defined: %s", e.File, strings.Join(e.Names, ", "))
}

// extern is a function that PTX declares and does not define.
var extern = regexp.MustCompile(`(?m)^\.extern \.func\s+(?:\([^)]*\)\s*)?([A-Za-z_$%][\w$]*)`)

// unresolved looks for functions that a whole program does not have.
func unresolved(file string, ptx []byte) error {
	var names []string
	for _, m := range extern.FindAllSubmatch(ptx, -1) {
		if n := string(m[1]); !slices.Contains(provided, n) && !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	if len(names) == 0 {
		return nil
	}
	return &UnresolvedError{file, names}
}

// entry is the head of a kernel in clang's PTX, up to what follows its parameters.
var entry = regexp.MustCompile(`(?m)^\.(?:visible|weak) \.entry [^(]*\([^)]*\)\n`)

// limitRegisters gives every kernel the directive .maxnreg.
func limitRegisters(ptx []byte, n string) []byte {
	if n == "" {
		return ptx
	}
	return entry.ReplaceAllFunc(ptx, func(head []byte) []byte {
		return append(bytes.Clone(head), ".maxnreg "+n+"\n"...)
	})
}

// cluster is what __cluster_dims__ of the headers leaves in clang's PTX: launch bounds that no program has. clang 22
// leaves out the ones.
var cluster = regexp.MustCompile(`(?m)^\.maxntid 1024(?:, 1, 1)?(.*)\n\.maxclusterrank (\d+)`)

// clusterDims writes the directives that __cluster_dims__ stands for.
func clusterDims(ptx []byte) []byte {
	return cluster.ReplaceAllFunc(ptx, func(b []byte) []byte {
		m := cluster.FindSubmatch(b)
		n, err := strconv.ParseUint(string(m[2]), 10, 32)
		if err != nil || n&0x40000000 == 0 {
			return b
		}
		return fmt.Appendf(nil, ".explicitcluster%s\n.reqnctapercluster %d, %d, %d", m[1], n&0xff, n>>8&0xff, n>>16&0xff)
	})
}
