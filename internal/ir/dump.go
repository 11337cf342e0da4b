package ir

import (
	"fmt"
	"io"
	"strings"
)

// Dump writes the kernel's functions as they run: one line an operation, with its place, guard and operands. Rows are
// written by their class and the offset in the frame in units of 128 bytes (r: 32 bits, d: 64, q: 128) or in bytes (p:
// predicates); a constant by its value.
func (k *Kernel) Dump(w io.Writer) {
	for _, f := range k.Funcs {
		f.Dump(w)
	}
}

// Dump writes the function. Before the pass rows has given registers their places they have numbers, each one its own.
func (f *Func) Dump(w io.Writer) {
	fmt.Fprintf(w, "%s: %d operations, frame %d bytes, local %d bytes\n", f.Name, len(f.Ops), f.FrameSize, f.Local.Size)
	unit := uint32(128)
	if f.rows != nil {
		unit = 1
	}
	for i := range f.Ops {
		fmt.Fprintf(w, "%5d  line %-5d %s\n", i, f.Ops[i].Line, f.Ops[i].text(unit))
	}
}

var ctlNames = [...]string{Plain: "", Branch: "branch", Jump: "jump", BranchX: "branchx", Call: "call", Ret: "ret",
	Exit: "exit", Trap: "trap", Special: "special", FrameAddr: "frameaddr"}

// String is the operation as Dump writes it.
func (op *Op) String() string { return op.text(128) }

func (op *Op) text(unit uint32) string {
	var b strings.Builder
	if op.Guard >= 0 {
		b.WriteString("@")
		if op.Neg {
			b.WriteString("!")
		}
		fmt.Fprintf(&b, "p%d ", op.Guard)
	}
	switch {
	case op.Ctl == Special:
		b.WriteString("special " + op.Name)
	case op.Ctl != Plain || op.Match == nil:
		b.WriteString(ctlNames[op.Ctl])
	default:
		b.WriteString(op.Opcode().String())
		for _, w := range op.Match.Words {
			if w != "" {
				b.WriteString("." + w)
			}
		}
	}
	switch op.Ctl {
	case Branch, Jump:
		fmt.Fprintf(&b, " -> %d", op.Target)
	case BranchX:
		fmt.Fprintf(&b, " -> %v", op.Targets)
	case Call:
		if c := op.Call; c != nil {
			switch {
			case c.Builtin != "":
				b.WriteString(" " + c.Builtin)
			case c.Pointer != nil:
				b.WriteString(" [" + c.Pointer.text(unit) + "]")
			default:
				fmt.Fprintf(&b, " function %d", c.Func)
			}
		}
	}
	for i := range op.Args {
		if op.Args[i].Kind == Label {
			continue
		}
		if i > 0 {
			b.WriteString(",")
		}
		b.WriteString(" " + op.Args[i].text(unit))
	}
	return b.String()
}

// String is the operand as Dump writes it.
func (a *Arg) String() string { return a.text(128) }

func (a *Arg) text(unit uint32) string {
	neg := ""
	if a.Neg {
		neg = "-"
	}
	list := func(open, end string, elems []Arg) string {
		var s []string
		for i := range elems {
			s = append(s, elems[i].text(unit))
		}
		return open + strings.Join(s, ", ") + end
	}
	switch a.Kind {
	case None:
		return "_"
	case Row:
		if a.Class == WPred {
			return fmt.Sprintf("%sp%d", neg, a.Ref.Off)
		}
		return fmt.Sprintf("%s%c%d", neg, "rdq"[a.Class], a.Ref.Off/unit)
	case Imm:
		switch {
		case a.Sym && a.Var != nil:
			return neg + a.Var.Name
		case a.Sym && a.Func != nil:
			return neg + a.Func.Name
		}
		return fmt.Sprintf("%s%#x", neg, a.Bits)
	case Addr:
		s := "[" + a.Space.String() + " "
		switch {
		case a.Base != nil && a.Disp != 0:
			s += fmt.Sprintf("%s%+d", a.Base.text(unit), a.Disp)
		case a.Base != nil:
			s += a.Base.text(unit)
		default:
			s += fmt.Sprint(a.Disp)
		}
		if len(a.Extra) > 0 {
			s += list(", {", "}", a.Extra)
		}
		return s + "]"
	case Vec:
		return list("{", "}", a.Elems)
	case List:
		return list("(", ")", a.Elems)
	case Label:
		return "label"
	}
	return "?"
}
