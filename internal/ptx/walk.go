package ptx

import "iter"

// Walk calls f for n and, if f returns true, for the parts of n in source
// order. Modifiers, attributes and function directives are not visited.
func Walk(n Node, f func(Node) bool) {
	if !f(n) {
		return
	}
	switch n := n.(type) {
	case *Module:
		for _, d := range n.Decls {
			Walk(d, f)
		}
	case *Var:
		walkMaybe(n.Init, f)
	case *Func:
		walkVars(n.Returns, f)
		walkVars(n.Params, f)
		if n.Body != nil {
			Walk(n.Body, f)
		}
	case *Section:
		for i := range n.Items {
			walkAll(n.Items[i].Values, f)
		}
	case *Block:
		for _, s := range n.Stmts {
			Walk(s, f)
		}
	case *Loc:
		walkMaybe(n.Function, f)
	case *BranchTargets:
		walkIdents(n.Labels, f)
	case *CallTargets:
		walkIdents(n.Funcs, f)
	case *CallPrototype:
		walkVars(n.Returns, f)
		walkVars(n.Params, f)
	case *Instr:
		if n.Guard != nil {
			Walk(n.Guard, f)
		}
		walkAll(n.Args, f)
	case *Guard:
		Walk(&n.Reg, f)
	default:
		walkOperand(n, f)
	}
}

func walkOperand(n Node, f func(Node) bool) {
	switch n := n.(type) {
	case *Expr:
		Walk(n.X, f)
		walkMaybe(n.Y, f)
		walkMaybe(n.Z, f)
	case *Addr:
		walkMaybe(n.Base, f)
		walkMaybe(n.Offset, f)
		walkAll(n.Extra, f)
	case *Index:
		Walk(n.X, f)
	case *Vector:
		walkAll(n.Elems, f)
	case *Pair:
		Walk(n.First, f)
		Walk(n.Second, f)
	case *Not:
		Walk(n.X, f)
	case *Neg:
		Walk(n.X, f)
	case *List:
		walkAll(n.Elems, f)
	case *InitList:
		walkAll(n.Elems, f)
	case *InitField:
		Walk(n.X, f)
	case *Generic:
		Walk(n.X, f)
	case *Mask:
		Walk(n.Mask, f)
		Walk(n.X, f)
	}
}

func walkMaybe(x Operand, f func(Node) bool) {
	if x != nil {
		Walk(x, f)
	}
}

func walkAll(list []Operand, f func(Node) bool) {
	for _, x := range list {
		Walk(x, f)
	}
}

func walkVars(list []*Var, f func(Node) bool) {
	for _, v := range list {
		Walk(v, f)
	}
}

func walkIdents(list []*Ident, f func(Node) bool) {
	for _, id := range list {
		Walk(id, f)
	}
}

// Instrs yields the instructions of b and of the blocks in it, in source
// order.
func (b *Block) Instrs() iter.Seq[*Instr] {
	return func(yield func(*Instr) bool) { b.instrs(yield) }
}

func (b *Block) instrs(yield func(*Instr) bool) bool {
	for _, s := range b.Stmts {
		switch s := s.(type) {
		case *Instr:
			if !yield(s) {
				return false
			}
		case *Block:
			if !s.instrs(yield) {
				return false
			}
		}
	}
	return true
}
