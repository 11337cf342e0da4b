package tileir

import (
	"strconv"
	"strings"
)

// value writes the name of a value. Results that share a name have their number among these behind it.
func (p *printer) value(v *Val) {
	p.string("%")
	first, last := v.Index, v.Index+1
	if v.Op != nil {
		for p.names.given[v.Op.Results[first]] == "" {
			first--
		}
		for last < len(v.Op.Results) && p.names.given[v.Op.Results[last]] == "" {
			last++
		}
		p.string(p.names.given[v.Op.Results[first]])
	} else {
		p.string(p.names.given[v])
	}
	if last-first > 1 {
		p.string("#" + strconv.Itoa(v.Index-first))
	}
}

func (p *printer) values(vs []*Val) {
	for i, v := range vs {
		if p.full {
			return
		}
		if i > 0 {
			p.string(", ")
		}
		p.value(v)
	}
}

func (p *printer) types(vs []*Val) {
	for i, v := range vs {
		if p.full {
			return
		}
		if i > 0 {
			p.string(", ")
		}
		p.typ(v.Type)
	}
}

// op writes an operation.
func (p *printer) op(o *Op) {
	if len(o.Results) > 0 {
		p.resultList(o)
		p.string(" = ")
	}
	info := o.Info()
	p.string(info.Name)
	if info.Format != "" {
		p.format(o, info)
		return
	}
	switch o.Code {
	case Assume:
		p.string(" ")
		p.predicate(o.Extra.Predicate)
		p.string(", ")
		p.values(o.Operands)
		p.string(" : ")
		p.types(o.Operands)
	case Break, Continue, Return, Yield:
		if len(o.Operands) > 0 {
			p.string(" ")
			p.values(o.Operands)
			p.string(" : ")
			p.types(o.Operands)
		}
	case For:
		p.forLoop(o)
	case Loop:
		p.loop(o)
	case If:
		p.ifElse(o)
	case Reduce, Scan:
		p.aggregate(o)
	case MakeTensorView:
		p.makeTensorView(o)
	case Print:
		p.print(o)
	default:
		p.viewAccess(o)
	}
}

// resultList writes the names of the results: one, one each, or one for all with their number.
func (p *printer) resultList(o *Op) {
	for i := 0; i < len(o.Results); {
		if i > 0 {
			p.string(", ")
		}
		p.string("%")
		p.string(p.names.given[o.Results[i]])
		n := 1
		for i+n < len(o.Results) {
			if _, ok := p.names.given[o.Results[i+n]]; ok {
				break
			}
			n++
		}
		if n > 1 {
			p.string(":" + strconv.Itoa(n))
		}
		i += n
	}
}

// format writes what follows the name by the pattern of the table.
func (p *printer) format(o *Op, info *Info) {
	p.string(" ")
	rest := info.Format
	for rest != "" {
		before, after, ok := strings.Cut(rest, "{")
		p.string(before)
		if !ok {
			return
		}
		var word string
		word, rest, _ = strings.Cut(after, "}")
		p.field(o, word)
	}
}

// field writes a field of a pattern.
func (p *printer) field(o *Op, word string) {
	if slot, ok := strings.CutPrefix(word, ","); ok {
		name, isType := strings.CutPrefix(slot, ":")
		if vs := o.slot(name); len(vs) > 0 {
			p.string(", ")
			p.valuesOrTypes(vs, isType)
		}
		return
	}
	if name, ok := strings.CutPrefix(word, ":"); ok {
		vs := o.slot(name)
		p.valuesOrTypes(vs[:min(1, len(vs))], true)
		return
	}
	angled := func(what, v string) { p.string(what + "<" + v + ">") }
	switch word {
	case "rounding":
		if o.Rounding != NearestEven {
			angled("rounding", o.Rounding.String())
		}
	case "fullrounding":
		if o.Rounding != Full {
			angled("rounding", o.Rounding.String())
		}
	case "tozero":
		if o.Rounding != NearestIntToZero {
			angled("rounding", o.Rounding.String())
		}
	case "introunding":
		if o.Rounding != Zero {
			angled(" rounding", o.Rounding.String())
		}
	case "ftz":
		p.flag(o, FlushToZero, " flush_to_zero")
	case "nan":
		p.flag(o, PropagateNaN, " propagate_nan")
	case "saturating":
		p.flag(o, Saturating, " saturating")
	case "fast":
		p.flag(o, FastAcc, " fast_acc")
	case "global":
		p.flag(o, GlobalScope, " global")
	case "overflow":
		if o.Overflow != MayWrap {
			angled(" overflow", o.Overflow.String())
		}
	case "sign":
		p.string(o.Sign.String())
	case "signrhs":
		p.string(o.SignRHS.String())
	case "compare":
		p.string(o.Compare.String())
	case "ordering":
		p.string(o.Ordering.String())
	case "order":
		p.string(o.MemoryOrder.String())
	case "scope":
		p.string(o.Scope.String())
	case "scope?":
		if o.Scope != NoScope {
			p.string(" " + o.Scope.String())
		}
	case "mode":
		p.string(o.RMW.String())
	case "dim":
		p.int(o.Extra.Dim)
	case "count":
		p.string(strconv.FormatUint(o.Extra.Count, 10))
	case "align":
		p.string(strconv.FormatUint(o.Extra.Align, 10))
	case "message":
		p.quoted(o.Extra.Name)
	case "symbol":
		p.symbol(o.Extra.Name)
	case "const":
		p.constant(o.Extra.Constant)
	case "permutation":
		p.dims(o.Extra.Ints, ", ")
	case "token=":
		p.token(o, " token=", "")
	case "token = ":
		p.token(o, "token = ", " ")
	case "hints":
		if o.Extra != nil && o.Extra.Hints != nil {
			p.string(" optimization_hints = ")
			p.buffer.hints(o.Extra.Hints)
		}
	default:
		p.valuesOrTypes(o.slot(word), false)
	}
}

func (p *printer) valuesOrTypes(vs []*Val, types bool) {
	if types {
		p.types(vs)
	} else {
		p.values(vs)
	}
}

func (p *printer) flag(o *Op, f Flags, text string) {
	if o.Flags&f != 0 {
		p.string(text)
	}
}

func (p *printer) token(o *Op, before, after string) {
	if t := o.Operand("token"); t != nil {
		p.string(before)
		p.value(t)
		p.string(after)
	}
}

// region writes the block of a region; the operation that ends it is left out when it is the usual one and has no
// operands.
func (p *printer) region(r Region, usual Opcode) {
	if len(r.Blocks) == 0 {
		p.string("{")
		p.newline()
		p.string("}")
		return
	}
	b := r.Blocks[0]
	last := b.Ops[len(b.Ops)-1]
	p.block(b, last.Code != usual || len(last.Operands) > 0)
}

func (p *printer) iterValues(args, inits []*Val) {
	p.string("iter_values(")
	for i := range inits {
		if i > 0 {
			p.string(", ")
		}
		p.value(args[i])
		p.string(" = ")
		p.value(inits[i])
	}
	p.string(") ")
}

func (p *printer) forLoop(o *Op) {
	args := o.Regions[0].Blocks[0].Args
	p.flag(o, UnsignedCmp, " unsigned")
	p.string(" ")
	p.value(args[0])
	p.string(" in (")
	p.value(o.Operands[0])
	p.string(" to ")
	p.value(o.Operands[1])
	p.string(", step ")
	p.value(o.Operands[2])
	p.string(") : ")
	p.typ(args[0].Type)
	p.string(" ")
	if inits := o.Operands[3:]; len(inits) > 0 {
		p.iterValues(args[1:], inits)
		p.string("-> (")
		p.types(inits)
		p.string(") ")
	}
	p.region(o.Regions[0], Continue)
}

func (p *printer) loop(o *Op) {
	p.string(" ")
	inits := o.Operands
	if len(inits) > 0 {
		p.iterValues(o.Regions[0].Blocks[0].Args, inits)
	}
	if len(inits) > 0 || len(o.Results) > 0 {
		p.string(": ")
	}
	if len(inits) > 0 {
		p.types(inits)
		p.string(" ")
		if len(o.Results) > 0 {
			p.string("-> ")
		}
	}
	if len(o.Results) > 0 {
		p.types(o.Results)
		p.string(" ")
	}
	p.region(o.Regions[0], Continue)
}

func (p *printer) ifElse(o *Op) {
	p.string(" ")
	p.value(o.Operands[0])
	p.string(" ")
	if len(o.Results) > 0 {
		p.string("-> (")
		p.types(o.Results)
		p.string(") ")
	}
	p.region(o.Regions[0], Yield)
	if len(o.Regions[1].Blocks) > 0 {
		p.string(" else ")
		p.region(o.Regions[1], Yield)
	}
}

func (p *printer) aggregate(o *Op) {
	p.string(" ")
	p.values(o.Operands)
	p.string(" dim=")
	p.int(o.Extra.Dim)
	if o.Code == Scan {
		p.string(" reverse=")
		p.string(strconv.FormatBool(o.Flags&Reverse != 0))
	}
	p.string(" identities=[")
	p.attrs(o.Extra.Identities)
	p.string("] : ")
	p.types(o.Operands)
	p.string(" -> ")
	p.types(o.Results)
	p.string(" ")
	p.newline()
	b := o.Regions[0].Blocks[0]
	p.string("(")
	for i, a := range b.Args {
		if i > 0 {
			p.string(", ")
		}
		p.value(a)
		p.string(": ")
		p.typ(a.Type)
	}
	p.string(") ")
	p.block(b, true)
}

func (p *printer) makeTensorView(o *Op) {
	t := o.Results[0].Type
	p.string(" ")
	p.value(o.Operands[0])
	mixed := func(static []int64, dynamic []*Val) {
		for i, n := range static {
			if i > 0 {
				p.string(", ")
			}
			if n != Dynamic {
				p.int(n)
				continue
			}
			p.value(dynamic[0])
			dynamic = dynamic[1:]
		}
	}
	p.string(", shape = [")
	mixed(t.Shape, o.Group(1))
	p.string("], strides = [")
	mixed(t.Strides, o.Group(2))
	p.string("] : ")
	base := o.Operands[0].Type
	if t.Attr != NoPointerAttr {
		p.typ(base)
		if len(o.Operands) > 1 {
			p.string(", ")
		}
	}
	if len(o.Operands) > 1 {
		p.typ(o.Operands[1].Type)
	}
	if t.Attr != NoPointerAttr || len(o.Operands) > 1 {
		p.string(" -> ")
	}
	p.typ(t)
}

func (p *printer) print(o *Op) {
	p.string(" ")
	p.quoted(o.Extra.Name)
	args := o.Group(0)
	if len(args) > 0 {
		p.string(", ")
		p.values(args)
	}
	p.token(o, " token=", "")
	if len(args) > 0 {
		p.string(" : ")
		p.types(args)
	}
	if len(o.Results) > 0 {
		p.string(" -> ")
		p.types(o.Results)
	}
}

// viewAccess writes a load, store or reduction through a view.
func (p *printer) viewAccess(o *Op) {
	p.string(" ")
	p.string(o.MemoryOrder.String())
	if o.Scope != NoScope {
		p.string(" " + o.Scope.String())
	}
	p.string(" ")
	if o.Code == StoreView {
		p.value(o.Operand("tile"))
		p.string(", ")
	}
	p.value(o.Operand("view"))
	if o.Code == MultimemReduceView || o.Code == MultimemStoreView {
		p.string(", ")
		p.value(o.Operand("tile"))
	}
	index := o.named("index")
	p.string("[")
	p.values(index)
	p.string("]")
	if o.Code == AtomicRedView {
		p.string(", " + o.RMW.String() + ", ")
		p.value(o.Operand("value"))
	}
	p.token(o, " token = ", "")
	if o.Extra != nil && o.Extra.Hints != nil {
		p.string(" optimization_hints = ")
		p.buffer.hints(o.Extra.Hints)
	}
	multimem := o.Info().Since == 5
	set := false
	for i := range index {
		set = set || o.InBounds(i)
	}
	switch {
	case set:
		p.string(" inbounds = [")
		for i := range index {
			if i > 0 {
				p.string(", ")
			}
			p.string(strconv.FormatBool(o.InBounds(i)))
		}
		p.string("]")
	case multimem:
		p.string(" ")
	}
	if multimem && o.Reduction != ReduceAdd {
		p.string(" attributes {reduction = #cuda_tile.multimem_reduction_kind<" + o.Reduction.String() + ">}")
	}
	p.string(" : ")
	p.viewAccessTypes(o, index)
}

func (p *printer) viewAccessTypes(o *Op, index []*Val) {
	view := o.Operand("view")
	switch o.Code {
	case StoreView:
		p.typ(o.Operand("tile").Type)
		p.string(", ")
		p.typ(view.Type)
	case AtomicRedView:
		p.typ(o.Operand("value").Type)
		p.string(", ")
		p.typ(view.Type)
	case MultimemReduceView, MultimemStoreView:
		p.typ(view.Type)
		p.string(", ")
		p.typ(o.Operand("tile").Type)
	default:
		p.typ(view.Type)
	}
	if len(index) > 0 {
		p.string(", ")
		if view.Type.Kind == GatherScatterView {
			p.types(index)
		} else {
			p.types(index[:1])
		}
	}
	if t := o.Operand("token"); t != nil && (o.Code == MultimemReduceView || o.Code == MultimemStoreView ||
		o.Code == MultimemLoadReduceView) {
		p.string(", ")
		p.typ(t.Type)
	}
	p.string(" -> ")
	p.types(o.Results)
}
