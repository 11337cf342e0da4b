package ptx

import (
	"fmt"
	"strings"
)

// shape spells an operand's tree, to compare in tables.
func shape(x Operand) string {
	list := func(name string, l []Operand) string {
		var s []string
		for _, x := range l {
			s = append(s, shape(x))
		}
		return name + "(" + strings.Join(s, " ") + ")"
	}
	switch x := x.(type) {
	case nil:
		return "nil"
	case *Ident:
		if x.Comp != "" {
			return x.Name + ":" + x.Comp
		}
		return x.Name
	case *Int:
		s := fmt.Sprint(int64(x.Value))
		if x.Unsigned {
			s = fmt.Sprint(x.Value) + "U"
		}
		return s
	case *Float:
		return fmt.Sprintf("f%d:%x", x.Width, x.Bits)
	case *Expr:
		if x.Z != nil {
			return list("?:", []Operand{x.X, x.Y, x.Z})
		}
		if x.Y != nil {
			return list(x.Op.String(), []Operand{x.X, x.Y})
		}
		return list("unary"+x.Op.String(), []Operand{x.X})
	case *Addr:
		s := "[" + shape(x.Base) + " " + shape(x.Offset)
		for _, e := range x.Extra {
			s += " ," + shape(e)
		}
		return s + "]" + x.Suffix
	case *Index:
		return x.Name + "@" + shape(x.X)
	case *Vector:
		return list("vec", x.Elems)
	case *Pair:
		return list("pair", []Operand{x.First, x.Second})
	case *Not:
		return list("not", []Operand{x.X})
	case *Neg:
		return list("neg", []Operand{x.X})
	case *Sink:
		return "sink"
	case *List:
		return list("list", x.Elems)
	case *InitList:
		return list("init", x.Elems)
	case *InitField:
		return list(x.Name+"=", []Operand{x.X})
	case *Generic:
		return list("generic", []Operand{x.X})
	case *Mask:
		return list("mask", []Operand{x.Mask, x.X})
	}
	return fmt.Sprintf("%T", x)
}

func shapes(l []Operand) string {
	var s []string
	for _, x := range l {
		s = append(s, shape(x))
	}
	return strings.Join(s, ", ")
}
