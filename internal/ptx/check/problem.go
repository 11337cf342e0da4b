package check

import (
	"fmt"

	"github.com/gocuda/cuda/internal/ptx"
)

// problem says why an operand does not fit. It holds no text: another form may still fit.
type problem struct {
	code problemCode
	arg  int
	pos  ptx.Pos
	name string
}

type problemCode uint8

const (
	pOK       problemCode = iota
	pCount                // too few or too many operands
	pVector               // number of elements; name is "result" where braces are missing
	pMismatch             // kind or type
	pReg                  // must be a register
	pSpace                // address in another state space
	pTarget               // not a function
	pLabel                // not a label
	pSReg                 // special register where none may be
	pFeature              // name holds the whole text
	pText                 // name holds the whole text
	pUnknown              // undeclared name
	pUnknownLabel
	pUnknownAddr
	pUnknownFunc
	pDiscard // the sink where a result must go
)

// weight orders problems: the one that tells most is reported when several forms were tried.
func (p problemCode) weight() int { return int(p) }

// problemText is the text of a problem; for some ptxas has a second one, which [checker.problem] adds.
func (c *checker) problemText(p problem, in *ptx.Instr) string {
	name := longNameOf(in)
	switch p.code {
	case pUnknown, pUnknownAddr, pUnknownLabel, pUnknownFunc:
		return fmt.Sprintf("Unknown symbol '%s'", p.name)
	case pSReg:
		return fmt.Sprintf("Special register argument not allowed for instruction '%s'", name)
	case pLabel:
		return fmt.Sprintf("Label expected for argument %d of instruction '%s'", p.arg, name)
	case pDiscard:
		return fmt.Sprintf("Result discard mode is not allowed for instruction '%s'", name)
	case pReg:
		return fmt.Sprintf("Argument %d of instruction '%s': must be register", p.arg, name)
	case pTarget:
		return "Illegal call target, device function expected"
	case pSpace:
		return fmt.Sprintf("State space mismatch between instruction and address in instruction '%s'", name)
	case pVector:
		return fmt.Sprintf("Argument vector size mismatch for instruction '%s'", name)
	case pText, pFeature:
		switch p.name {
		case resultRegister, noNegation, mixedVector:
			return fmt.Sprintf(p.name, name)
		}
		return p.name
	}
	return fmt.Sprintf("Arguments mismatch for instruction '%s'", name)
}

// problem reports an operand fault at the place of the operand, with the lines that ptxas adds.
func (c *checker) problem(p problem, in *ptx.Instr) {
	pos := in.NamePos
	if p.pos.Line == pos.Line && p.pos.Col != 0 {
		pos = p.pos
	}
	kind := Semantic
	text := c.problemText(p, in)
	name := longNameOf(in)
	report := c.errorf
	switch p.code {
	case pUnknown, pUnknownAddr, pUnknownLabel, pUnknownFunc:
		report = c.later
	}
	switch p.code {
	case pFeature:
		kind = Feature
	case pUnknown:
		c.errorf(pos, Semantic, "Arguments mismatch for instruction '%s'", name)
	case pUnknownAddr:
		c.errorf(pos, Semantic, "Illegal operand type to instruction '%s'", name)
	case pUnknownFunc:
		c.errorf(pos, Semantic, "Call to '%s' requires call prototype", p.name)
	case pTarget:
		if p.name == "variable" {
			c.errorf(pos, Semantic, "Label expected for argument %d of instruction '%s'", p.arg, name)
			text = fmt.Sprintf("Argument %d of instruction '%s': must be register", p.arg, name)
		}
	case pDiscard:
		c.fatal(pos, "%s", text)
		return
	case pText:
		if p.name == divisionByZero {
			c.fatal(pos, "%s", p.name)
			return
		}
	case pSReg: // one line for each
		for i, a := range in.Args {
			if id, ok := a.(*ptx.Ident); ok && i != p.arg {
				if _, declared := c.find(id.Name); !declared {
					if _, ok := findSReg(id.Name); ok {
						c.errorf(id.Pos, Semantic, "%s", text)
					}
				}
			}
		}
	case pVector, pMismatch:
		if text, c2 := c.vectorProblem(p, in, pos); c2 {
			if text != "" {
				c.errorf(pos, Semantic, "%s", text)
			}
			return
		}
	}
	report(pos, kind, "%s", text)
}

// vectorProblem words the fault of a vector: ptxas counts elements first, then infers their type. The second result is
// false when the fault has nothing to do with a vector.
func (c *checker) vectorProblem(p problem, in *ptx.Instr, pos ptx.Pos) (last string, ok bool) {
	name := longNameOf(in)
	var v *ptx.Vector
	for _, a := range in.Args {
		if x, isVec := a.(*ptx.Vector); isVec && v == nil {
			v = x
		}
	}
	size := fmt.Sprintf("Argument vector size mismatch for instruction '%s'", name)
	if v == nil {
		if p.code != pVector {
			return "", false
		}
		if p.name == "result" {
			c.errorf(pos, Semantic, "Result vector expected")
			c.errorf(pos, Semantic, "%s", size)
		}
		return size, true
	}
	switch n := len(v.Elems); n {
	case 1, 2, 4, 8:
	default:
		c.errorf(pos, Semantic, "Illegal vector size: %d", n)
	}
	if in.Name != "mov" {
		if p.code != pVector {
			return "", false
		}
		if in.Name == "ld" {
			c.errorf(pos, Semantic, "%s", size)
		}
		return size, true
	}
	width, sinks := 0, 0
	for _, e := range v.Elems {
		switch e := e.(type) {
		case *ptx.Sink:
			sinks++
		case *ptx.Ident:
			if sym, ok := c.find(e.Name); ok && sym.v != nil && sym.v.Space == "reg" {
				if width != 0 && width != sym.v.Type.Bits {
					return widthVector, true
				}
				width = sym.v.Type.Bits
			}
		}
	}
	if sinks == len(v.Elems) {
		c.errorf(pos, Semantic, "Unable to infer type of vector elements (assuming .b8)")
	}
	return "Arguments mismatch for instruction 'mov'", true
}
