package tileir

import "strconv"

// names gives values their names in a listing, by the rules of MLIR's printer: a value is called after its operation
// where that has a name for it, and gets a number behind when the name is taken; all others are numbered. A region goes
// on where the block around it ended.
type names struct {
	given map[*Val]string
	asked map[*Val]string // what assume operations asked for
	used  map[string]bool // names in force
	size  int             // bytes of all names
}

func newNames() names {
	return names{given: map[*Val]string{}, asked: map[*Val]string{}, used: map[string]bool{}}
}

// namingState is what a region takes over from the block around it.
type namingState struct{ value, argument, conflict int }

// region names the values of a region and of those in it; false when the names get longer than limit altogether.
func (n *names) region(op *Op, r Region, s namingState, limit int) bool {
	var taken []string
	defer func() {
		for _, t := range taken {
			delete(n.used, t)
		}
	}()
	set := func(v *Val, name string) {
		for base := name; n.used[name]; s.conflict++ {
			name = base + "_" + strconv.Itoa(s.conflict)
		}
		n.used[name] = true
		taken = append(taken, name)
		n.given[v] = name
		n.size += len(name) + 1
	}
	for _, b := range r.Blocks {
		for i, a := range b.Args {
			if name := argumentName(op, i, len(b.Args)); name != "" {
				set(a, name)
				continue
			}
			set(a, "arg"+strconv.Itoa(s.argument))
			s.argument++
		}
		for _, o := range b.Ops {
			n.results(o, set, &s)
			if n.size > limit {
				return false
			}
		}
	}
	for _, b := range r.Blocks {
		for _, o := range b.Ops {
			for _, inner := range o.Regions {
				if !n.region(o, inner, s, limit) {
					return false
				}
			}
		}
	}
	return true
}

// results names the results of an operation.
func (n *names) results(o *Op, set func(*Val, string), s *namingState) {
	if len(o.Results) == 0 {
		return
	}
	for i, v := range o.Results {
		if name := n.resultName(o, i); name != "" {
			set(v, name)
		}
	}
	if _, ok := n.given[o.Results[0]]; !ok {
		n.given[o.Results[0]] = strconv.Itoa(s.value)
		s.value++
	}
}

// argumentName is the name that an operation gives an argument of its block, "" for none.
func argumentName(o *Op, i, count int) string {
	if o == nil {
		return ""
	}
	switch o.Code {
	case For:
		if i == 0 {
			return "loopIdx"
		}
		return "iterArg" + strconv.Itoa(i-1)
	case Reduce:
		name := "reduce_lhs"
		if i%2 != 0 {
			name = "reduce_rhs"
		}
		if count > 2 {
			name += strconv.Itoa(i / 2)
		}
		return name
	}
	return ""
}

// resultNames are the names that operations with one give their first result.
var resultNames = map[Opcode]string{
	Broadcast: "bcast", Reshape: "reshape", For: "for", Reduce: "reduce", MakeTensorView: "tview",
	MakePartitionView: "pview",
	MakeStridedView:   "sview", MakeGatherScatterView: "gsview",
}

// asks are the operations that may name their results, apart from those of resultNames and those with several results.
func namesResults(c Opcode) bool {
	return c == If || c == Loop || c == Scan || c == ConstantOp || c == Assume || resultNames[c] != ""
}

// resultName is the name that an operation gives a result, "" for none.
func (n *names) resultName(o *Op, i int) string {
	if info := o.Info(); len(info.Results) > 1 {
		return info.Results[i].Name
	}
	if i > 0 {
		return ""
	}
	switch o.Code {
	case ConstantOp:
		return constantName(o.Extra.Constant)
	case Assume:
		name := n.assumeName(o)
		n.asked[o.Results[0]] = name
		return name
	}
	return resultNames[o.Code]
}

// assumeName is assume, with the name of what is assumed about behind it when that has one.
func (n *names) assumeName(o *Op) string {
	const assume = "assume"
	v := o.Operands[0]
	switch {
	case v.Op == nil:
		return assume
	case len(v.Op.Info().Results) <= 1 && !namesResults(v.Op.Code):
		return assume
	case v.Op.Code == Assume:
		return assume + "_" + n.asked[v]
	}
	return assume + "_" + n.resultName(v.Op, v.Index)
}

func constantName(c *Constant) string {
	k := c.Type.Elem.Kind
	if k == I1 {
		switch {
		case !c.Splat:
			return "cst_i1"
		case c.Bits(0) != 0:
			return "true"
		}
		return "false"
	}
	name := "cst"
	if c.Splat {
		bits := c.Bits(0)
		switch {
		case k.Integer():
			name += "_" + strconv.FormatInt(signExtend(bits, k.Bits()), 10)
		case decodeFloat(k, bits).nan:
			name += "_NaN"
		default:
			if v, ok := decodeFloat(k, bits).whole(); ok {
				name += "_" + strconv.FormatUint(v, 10)
			}
		}
	}
	return name + "_" + c.Type.Elem.String()
}
