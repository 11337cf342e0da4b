package tileir

import "slices"

// decode reads the operations of a function.
func (f *Func) decode() (*Block, error) {
	m := f.module
	m.mu.Lock()
	defer m.mu.Unlock()
	c, locs := f.body, f.locs
	d := decoder{m: m, c: &c, f: f}
	b := &Block{}
	d.arguments(b, f.Type.Params)
	for c.left() > 0 {
		if err := d.op(b, &locs); err != nil {
			return nil, err
		}
	}
	return b, nil
}

// arguments makes values of a block's arguments.
func (d *decoder) arguments(b *Block, types []*Type) {
	vals := make([]Val, len(types))
	for i, t := range types {
		vals[i] = Val{Type: t, Block: b, Index: i}
		b.Args = append(b.Args, &vals[i])
		d.vals = append(d.vals, &vals[i])
	}
}

// op reads an operation and appends it to a block.
func (d *decoder) op(b *Block, locs *locList) error {
	if d.m.stop != nil && d.m.stop.Load() {
		return ErrStopped
	}
	c := d.c
	start := c.base + uint64(c.at)
	code, ok := c.varint()
	if !ok {
		return c.fail("failed to read operation opcode.")
	}
	if code > lastOpcode[d.m.Minor] {
		if d.m.Minor == MaxMinor && code >= previewOpcodes {
			return c.fail("malformed bytecode: encountered public-preview opcode %d but the header does not advertise preview content", code)
		}
		return c.fail("unsupported opcode %d for bytecode version %d.%d", code, Major, d.m.Minor)
	}
	loc, ok, err := d.m.nextLoc(locs)
	if err != nil {
		return err
	}
	if !ok {
		return c.fail("failed to read operation location.")
	}
	info := Opcode(code).Info()
	if info == nil {
		return c.fail("unknown or unimplemented opcode: %d", code)
	}
	o := &Op{Code: Opcode(code), Scope: NoScope, Loc: loc, Offset: start, Parent: b}
	types, err := d.resultTypes(info)
	if err != nil {
		return err
	}
	flags, err := d.flagWord(info)
	if err != nil {
		return err
	}
	numbered := len(types)
	for _, s := range info.Results {
		if s.Since > d.m.Minor { // print_tko's token: there is one, and nothing can use it
			types = append(types, d.m.types.scalar(Token))
		}
	}
	if len(types) > 0 {
		o.Results = make([]*Val, len(types))
		vals := make([]Val, len(types))
		for i, t := range types {
			vals[i] = Val{Type: t, Op: o, Index: i}
			o.Results[i] = &vals[i]
		}
	}
	if err := d.attributes(o, info, &flags); err != nil {
		return err
	}
	if err := d.operands(o, info, flags); err != nil {
		return err
	}
	if err := d.regions(o, info, locs); err != nil {
		return err
	}
	d.vals = append(d.vals, o.Results[:numbered]...)
	b.Ops = append(b.Ops, o)
	return nil
}

// previewOpcodes is where the opcodes of the public preview begin, which are not read.
const previewOpcodes = 0x4000

// lastOpcode is the highest opcode of each minor version; opcodes were added in order.
var lastOpcode = [MaxMinor + 1]uint64{1: uint64(Yield), 2: uint64(Atan2), 3: uint64(AtomicRedView),
	4: uint64(MemoryFenceAlias), 5: uint64(MultimemStoreView)}

func (d *decoder) resultTypes(info *Info) ([]*Type, error) {
	c := d.c
	n := uint64(len(info.Results))
	want, gated := n, false
	if info.countsResults() {
		want = 0
		open := false
		for _, s := range info.Results {
			if s.Arity == Variadic {
				open = true
			} else if s.Since <= d.m.Minor {
				want++
			}
		}
		var ok bool
		if n, ok = c.varint(); !ok {
			return nil, c.fail("failed to read number of result types for %s", info.Class)
		}
		gated = !open && want != uint64(len(info.Results)) || slices.ContainsFunc(info.Results, func(s Slot) bool {
			return s.Since != 0
		})
	}
	var out []*Type
	for i := range n {
		if gated && i == want {
			break
		}
		t, err := d.m.types.read(c)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, c.fail("failed to get result type %d for %s", i, info.Class)
		}
		out = append(out, t)
	}
	if gated && n != want {
		return nil, c.fail("result count mismatch for %s: expected %d compatible results but got %d", info.Class, want,
			n)
	}
	return out, nil
}

// flagWord reads the word that says which optional fields are there; it is left out when all of them are newer than the
// file.
func (d *decoder) flagWord(info *Info) (uint64, error) {
	have := false
	for since := range info.flagged {
		have = have || since <= d.m.Minor
	}
	if !have {
		return 0, nil
	}
	v, ok := d.c.varint()
	if !ok {
		return 0, d.c.fail("failed to read flags field")
	}
	return v, nil
}

// take gives the lowest flag and shifts it out.
func take(flags *uint64) bool {
	set := *flags&1 != 0
	*flags >>= 1
	return set
}

// attributes reads the attributes of an operation, in the order of the table; flags are left with the bits of the
// operands.
func (d *decoder) attributes(o *Op, info *Info, flags *uint64) error {
	// What a file is too old to say.
	if o.Code == Exp || o.Code == TanH {
		o.Rounding = Full
	}
	for i := range info.Attributes {
		a := &info.Attributes[i]
		if a.Optional || a.Kind == UnitAttr {
			if set := take(flags); !set {
				continue
			}
			if a.Kind == UnitAttr {
				o.Flags |= unitFlags[a.Name]
				continue
			}
		}
		if a.Since > d.m.Minor {
			continue
		}
		if err := d.attribute(o, a); err != nil {
			return err
		}
	}
	return nil
}

// unitFlags are the flags by the names of unit attributes.
var unitFlags = map[string]Flags{
	"ftz": FlushToZero, "propagate_nan": PropagateNaN, "unsignedCmp": UnsignedCmp, "saturating": Saturating,
	"fast_acc": FastAcc, "global": GlobalScope,
}

// enumTarget says where an attribute with an enumeration goes and how many members it has in a version.
func enumTarget(o *Op, k AttrKind) (to *uint8, names []string) {
	switch k {
	case RoundingAttr:
		return (*uint8)(&o.Rounding), roundingNames[:]
	case OverflowAttr:
		return (*uint8)(&o.Overflow), overflowNames[:]
	case SignAttr:
		return (*uint8)(&o.Sign), signednessNames[:]
	case SignRHSAttr:
		return (*uint8)(&o.SignRHS), signednessNames[:]
	case CompareAttr:
		return (*uint8)(&o.Compare), predicateNames[:]
	case OrderingAttr:
		return (*uint8)(&o.Ordering), orderingNames[:]
	case MemoryOrderAttr:
		return (*uint8)(&o.MemoryOrder), memoryOrderNames[:]
	case ScopeAttr:
		return (*uint8)(&o.Scope), scopeNames[:]
	case RMWAttr:
		return (*uint8)(&o.RMW), rmwNames[:]
	case ReductionAttr:
		return (*uint8)(&o.Reduction), reductionNames[:]
	}
	return nil, nil
}

func (d *decoder) attribute(o *Op, a *Attribute) error {
	c := d.c
	if to, names := enumTarget(o, a.Kind); to != nil {
		v, err := enumeration(c, len(names))
		if err != nil {
			return err
		}
		if a.Kind == RoundingAttr && Rounding(v) == NearestAway && d.m.Minor < 4 {
			return c.fail("enum value %d is not available in bytecode version %d.%d", v, Major, d.m.Minor)
		}
		*to = v
		return nil
	}
	x := o.extra()
	var err error
	switch a.Kind {
	case BoolAttr:
		b, ok := c.byte()
		if !ok {
			return c.fail("failed to read byte for inline bool (i1)")
		}
		if b != 0 {
			o.Flags |= Reverse
		}
	case DimAttr, Dim32Attr, CountAttr, AlignAttr:
		v, ok := c.varint()
		width := 64
		if a.Kind == Dim32Attr {
			width = 32
		}
		switch {
		case !ok:
			return c.fail("failed to read VarInt for inline integer (width=%d)", width)
		case width == 32 && v>>32 != 0:
			return c.fail("value %d does not fit in %d bits", v, width)
		}
		switch a.Kind {
		case CountAttr:
			x.Count = v
		case AlignAttr:
			x.Align = v
		case Dim32Attr:
			x.Dim = int64(int32(v))
		default:
			x.Dim = int64(v)
		}
	case StringAttr, SymbolAttr:
		s, ok, err := d.string()
		switch {
		case err != nil:
			return err
		case !ok && a.Kind == SymbolAttr:
			return c.fail("failed to read string for FlatSymbolRefAttr.")
		case !ok:
			return c.fail("failed to read StringAttr.")
		}
		x.Name = s
	case ConstAttr:
		i, ok := c.varint()
		switch {
		case !ok:
			return c.fail("failed to read constant index")
		case i >= uint64(len(d.m.constants)):
			return c.fail("constant index %d out of bounds", i)
		}
		x.Constant, err = d.m.constant(o.Results[0].Type, i)
	case TaggedAttr:
		if x.Predicate, err = d.tagged(); err == nil {
			if k := x.Predicate.Kind; k != DivByValue && k != SameElementsValue && k != BoundedValue {
				err = c.fail("failed to cast parsed attribute to AssumePredicateAttrInterface")
			}
		}
	case IdentitiesAttr:
		x.Identities, err = d.array()
	case HintsAttr:
		x.Hints = &Attr{}
		err = d.hints(x.Hints)
	case I32ArrayAttr:
		var ok bool
		if x.Ints, ok = c.ints(4); !ok {
			return c.fail("failed to read DenseI32ArrayAttr values.")
		}
	case InBoundsAttr:
		v, ok := c.ints(1)
		if !ok {
			return c.fail("failed to read DenseBoolArrayAttr values.")
		}
		x.InBounds = make([]bool, 0, len(v))
		for _, b := range v {
			x.InBounds = append(x.InBounds, b != 0)
		}
	}
	return err
}

// operands reads the operands of an operation.
func (d *decoder) operands(o *Op, info *Info, flags uint64) error {
	c := d.c
	if !info.Segmented {
		n := uint64(len(info.Operands))
		if info.openOperands() {
			var ok bool
			if n, ok = c.varint(); !ok {
				return c.fail("failed to read operand count")
			}
			if n > maxIndex {
				return beyondIndex(c, n)
			}
		}
		for i := range n {
			if err := d.operand(o, i, ""); err != nil {
				return err
			}
		}
		return nil
	}
	o.groups = make([]uint32, len(info.Operands))
	for g := range info.Operands {
		s := &info.Operands[g]
		n := uint64(1)
		switch s.Arity {
		case Optional:
			if set := take(&flags); !set || s.Since > d.m.Minor {
				n = 0
			}
		case Variadic:
			var ok bool
			if n, ok = c.varint(); !ok {
				return c.fail("failed to read actual size for variadic ODS segment '%s' of op 'cuda_tile.%s'", s.Name,
					info.Name)
			}
		}
		for i := range n {
			if err := d.operand(o, i, s.Name); err != nil {
				return err
			}
		}
		o.groups[g] = uint32(n)
	}
	return nil
}

// maxIndex is the largest number of a value.
const maxIndex = 1<<32 - 2

func beyondIndex(c *cursor, v uint64) error {
	return c.fail("varint value exceeds maximum supported capacity. (expected value less than %d, got %d).", maxIndex,
		v)
}

// operand reads one operand, number i of its segment or of all.
func (d *decoder) operand(o *Op, i uint64, segment string) error {
	c := d.c
	v, ok := c.varint()
	if !ok && segment != "" {
		return c.fail("failed to read operand index for %s segment, element %d", segment, i)
	}
	if !ok {
		return c.fail("failed to read operand index %d", i)
	}
	if v > maxIndex {
		return beyondIndex(c, v)
	}
	if v >= uint64(len(d.vals)) {
		if segment != "" {
			return c.fail("operand index %d out of bounds (size=%d) for %s segment, element %d", v, len(d.vals),
				segment, i)
		}
		return c.fail("operand index %d out of bounds (size=%d) for operand %d", v, len(d.vals), i)
	}
	o.Operands = append(o.Operands, d.vals[v])
	return nil
}

func (d *decoder) regions(o *Op, info *Info, locs *locList) error {
	if info.Regions == 0 {
		return nil
	}
	if err := d.enter(); err != nil {
		return err
	}
	defer func() { d.depth-- }()
	c := d.c
	n, ok := c.varint()
	if !ok {
		return c.fail("failed to read number of regions for %s", info.Class)
	}
	if n != uint64(info.Regions) {
		return c.fail("cuda_tile.%s op expected %d regions, got %d", info.Name, info.Regions, n)
	}
	for range n {
		blocks, ok := c.varint()
		if !ok {
			return c.fail("failed to read region block count")
		}
		var r Region
		for range blocks {
			b := &Block{Parent: o}
			if err := d.block(b, locs); err != nil {
				return err
			}
			r.Blocks = append(r.Blocks, b)
		}
		o.Regions = append(o.Regions, r)
	}
	return nil
}

func (d *decoder) block(b *Block, locs *locList) error {
	c := d.c
	n, ok := c.varint()
	if !ok {
		return c.fail("failed to read block argument count.")
	}
	outer := len(d.vals)
	var types []*Type
	for i := range n {
		t, err := d.m.types.read(c)
		if err != nil {
			return err
		}
		if t == nil {
			return c.fail("failed to read block argument type: %d", i)
		}
		types = append(types, t)
	}
	d.arguments(b, types)
	if n, ok = c.varint(); !ok {
		return c.fail("failed to read block operation count.")
	}
	for range n {
		if err := d.op(b, locs); err != nil {
			return err
		}
	}
	const words = "invalid block structure: block is expected to have a terminator operation, but "
	if len(b.Ops) == 0 {
		return c.fail(words + "it is empty")
	}
	if last := b.Ops[len(b.Ops)-1].Info(); !last.Terminator {
		return c.fail(words+"the last operation 'cuda_tile.%s' is not a terminator.", last.Name)
	}
	d.vals = d.vals[:outer]
	return nil
}
