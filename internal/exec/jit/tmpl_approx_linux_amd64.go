package jit

import "github.com/gocuda/cuda/internal/ir"

// approxTables are the coefficients of the approximate functions.
type approxTables struct{ _ [4]uint32 }

func (t *approxTables) fill() {}

var approxTemplates = map[string]template{}

func approxTemplate(op *ir.Op) emitter    { return nil }
func approxDivTemplate(op *ir.Op) emitter { return nil }
