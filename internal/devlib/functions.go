package devlib

import (
	_ "embed"
	"fmt"
	"strconv"
	"strings"
)

//go:embed functions.tab
var functionsTable string

// Function is a function of the library.
type Function struct {
	Name   string // without the prefix __nv_
	Result byte   // a type of functions.tab, '-' for none
	Params string // types of functions.tab
	Bound  int    // documented largest error in units in the last place; -1: none is documented in these units
}

// Functions returns all functions, by name.
func Functions() []Function {
	var list []Function
	for line := range strings.Lines(functionsTable) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		var f Function
		var result, bound string
		if _, err := fmt.Sscan(line, &f.Name, &result, &f.Params, &bound); err != nil {
			panic("functions.tab: " + err.Error()) // embedded; a test reads it
		}
		f.Result, f.Bound = result[0], -1
		if bound != "-" {
			f.Bound, _ = strconv.Atoi(bound)
		}
		list = append(list, f)
	}
	return list
}
