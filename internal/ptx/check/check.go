package check

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Options are what the caller knows and the module does not.
type Options struct {
	// SM is the device's compute capability times ten: 90. Modules for a higher target are refused. 0 checks a module
	// only against its own .target.
	SM int
	// Newest is the newest version that is taken, times ten, [NewestPTX] say: a module that is newer than [MaxPTX] is
	// checked as it stands, and refused as too new if it has a fault. 0 is MaxPTX, as the recorded driver has it.
	Newest int
	// MaxShared is the largest static shared memory of a kernel in bytes; 0 stands for 232448 (0x38c00), that of sm_90.
	MaxShared uint64
	// Stop ends the check with [ptx.ErrStopped] soon after it is set; nil never is.
	Stop *atomic.Bool

	keep int // faults that are kept, MaxErrors when 0; tests count more
}

// The limits of ptxas 13.0 for sm_90, from its error texts.
const (
	maxShared   = 0x38c00
	maxConst    = 0x10000
	maxParam    = 0x1100 // bytes of kernel parameters before PTX 8.1
	maxParamNew = 32764  // since PTX 8.1, PTX ISA 5.1.6.2 "Kernel Function Parameters"
)

// MaxLocal is the local memory of a thread (CUDA C++ Programming Guide, technical specifications: 512 KB).
const MaxLocal = 0x80000

// MaxThreadLocal is the local memory of a thread that a launch can have. An H200's driver takes 523,280 bytes and
// refuses 524,256; what holds in between is not recorded.
const MaxThreadLocal = MaxLocal - 48

// Check checks a module and resolves its names. The error is nil or an [Errors]; then the module is nil.
func Check(m *ptx.Module, opts Options) (*Module, error) {
	c := &checker{opt: opts, tab: optab.Get(), ast: m, ops: map[*ptx.Operation]*opcode{}}
	c.m = &Module{AST: m, Aliases: map[string]*Func{}, Files: map[int]string{}}
	c.scope = &scope{}
	c.module()
	if c.stopped() {
		return nil, ptx.ErrStopped
	}
	if len(c.errs) > 0 {
		if c.m.Target.PTX > MaxPTX && c.errs[0].Kind != UnsupportedVersion {
			return nil, append(Errors{tooNew(m)}, c.errs...)
		}
		return nil, c.errs
	}
	return c.m, nil
}

// Syntax is the error of a text that [ptx.Parse] has refused: a version that is newer than [MaxPTX] may be the reason.
func Syntax(m *ptx.Module, err error, opts Options) error {
	var list ptx.ErrorList
	if m == nil || !m.HasVersion || !errors.As(err, &list) || len(list) == 0 {
		return err
	}
	if v := number(m); v <= MaxPTX || v > opts.Newest {
		return err
	}
	return Errors{tooNew(m), {Pos: list[0].Pos, Text: list[0].Text}}
}

// number is a module's version times ten.
func number(m *ptx.Module) int {
	if m.Version.Minor > 9 {
		return m.Version.Major*10 + 9 // no such version, as header says
	}
	return m.Version.Major*10 + m.Version.Minor
}

// tooNew is the fault of a module whose version is none, or newer than what is known.
func tooNew(m *ptx.Module) *Error {
	e := &Error{Pos: m.VersionPos, Kind: UnsupportedVersion, Fatal: true, Text: fmt.Sprintf(
		"Unsupported .version %d.%d; current version is '%d.%d'", m.Version.Major, m.Version.Minor, MaxPTX/10,
		MaxPTX%10)}
	if number(m) > MaxPTX {
		e.Advice = fmt.Sprintf("the text is PTX %d.%d and has what this device, which knows PTX up to %d.%d, does not: "+
			"compile with CUDA 13.0 or older, for example with nvidia-cuda-nvrtc==13.0.* from PyPI",
			m.Version.Major, m.Version.Minor, MaxPTX/10, MaxPTX%10)
	} else {
		e.Advice = fmt.Sprintf("there is no PTX %d.%d", m.Version.Major, m.Version.Minor)
	}
	return e
}

// stopped says whether the caller wants the check to end.
func (c *checker) stopped() bool { return c.opt.Stop != nil && c.opt.Stop.Load() }

// checker is the state of one Check.
type checker struct {
	opt  Options
	tab  *optab.Table
	ast  *ptx.Module
	m    *Module
	errs Errors
	stop bool // a fatal fault, or too many

	shared bool          // a .shared variable has been declared
	narrow bool          // a 32-bit address of global or generic memory has been used
	global map[*Var]*Var // module-scope registers as the function in hand has them

	texIndependent bool // .target texmode_independent

	scope *scope
	fn    *Func // nil at module scope
	loc   Loc
	tail  []func() // faults that ptxas reports at the end

	unknown Errors // and those at the function's end

	ops   map[*ptx.Operation]*opcode
	vars  []Var
	args  []Arg
	slab  int // size of the last piece of args
	rests []ArgRest
	at    map[optab.Position]*optab.Position
	src   []ptx.Operand
	uses  funcUses
	ic    instCheck
}

func (c *checker) report(e *Error) {
	if c.stop {
		return
	}
	c.errs = append(c.errs, e)
	if e.Fatal || len(c.errs) >= max(MaxErrors, c.opt.keep) {
		c.stop = true
	}
}

func (c *checker) errorf(pos ptx.Pos, kind Kind, format string, args ...any) {
	if !c.stop {
		c.report(&Error{Pos: pos, Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
}

// later is errorf for what ptxas says at the end of the function in hand: names that nothing declares.
func (c *checker) later(pos ptx.Pos, kind Kind, format string, args ...any) {
	if len(c.unknown) < MaxErrors {
		c.unknown = append(c.unknown, &Error{Pos: pos, Kind: kind, Text: fmt.Sprintf(format, args...)})
	}
}

func (c *checker) fatal(pos ptx.Pos, format string, args ...any) {
	if !c.stop {
		c.report(&Error{Pos: pos, Fatal: true, Text: fmt.Sprintf(format, args...)})
	}
}

// need reports a feature that the module's version or target does not have.
func (c *checker) need(pos ptx.Pos, feature string, version, sm int) {
	if c.m.Target.PTX < version {
		c.errorf(pos, Feature, "%s", needPTX(feature, version))
	}
	if c.m.Target.SM < sm {
		c.errorf(pos, Feature, "%s", needSM(feature, sm))
	}
}

func (c *checker) module() {
	if !c.header() {
		return
	}
	for _, d := range c.ast.Decls {
		if c.stop || c.stopped() {
			return
		}
		switch d := d.(type) {
		case *ptx.Var:
			c.moduleVar(d)
		case *ptx.Func:
			c.function(d)
		case *ptx.Alias:
			c.alias(d)
		case *ptx.Pragma, *ptx.Section:
		case *ptx.Loc:
			c.setLoc(d)
		case *ptx.FileDirective:
		}
	}
	for _, f := range c.ast.Files {
		if f.Index <= 1<<31 {
			c.m.Files[int(f.Index)] = f.Name
		}
	}
	c.limits()
	for _, f := range c.tail {
		f()
	}
	if c.narrow && len(c.errs) == 0 && max(c.opt.SM, c.m.Target.SM) >= 90 {
		c.report(&Error{Kind: UnsupportedTarget, Fatal: true, Text: no32Bit})
	}
}

// no32Bit is what the driver says to 32-bit addresses, of whatever kind; the blank at the start is its own.
const no32Bit = " 32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported on sm_90 or higher architectures."

// header checks .version, .target and .address_size.
func (c *checker) header() bool {
	m := c.ast
	v := number(m)
	c.m.Target.PTX = v
	if !m.HasVersion {
		c.fatal(ptx.Pos{Line: 1, Col: 1}, "Missing .version directive at start of file 'application ptx input'")
		return false
	}
	if v > max(c.opt.Newest, MaxPTX) || m.Version.Minor > 9 || v <= MaxPTX && !knownVersion(v) {
		c.report(tooNew(m))
		return false
	}
	var arch *ptx.TargetWord
	for i := range m.Target {
		w := &m.Target[i]
		switch w.Text {
		case "texmode_independent":
			c.texIndependent = true
			continue
		case "texmode_unified", "texmode_raw", "map_f64_to_f32":
			continue
		case "debug":
			c.m.Debug = true
			continue
		}
		sm, suffix, ok := parseTarget(w.Text)
		t := findTarget(sm)
		if !ok || t == nil || suffix == "a" && t.a == 0 || suffix == "f" && t.f == 0 {
			c.report(&Error{Pos: w.Pos, Kind: UnsupportedTarget, Fatal: true,
				Text: fmt.Sprintf("Unsupported .target '%s'", w.Text)})
			return false
		}
		if arch == nil {
			arch = w
			c.m.Target.SM, c.m.Target.Suffix = sm, suffix
		}
	}
	if arch == nil {
		pos := m.VersionPos
		pos.Line++
		c.fatal(pos, "Missing .target directive at start of file 'application ptx input'")
		return false
	}
	t := findTarget(c.m.Target.SM)
	first := t.ptx
	switch c.m.Target.Suffix {
	case "a":
		first = t.a
	case "f":
		first = t.f
	}
	if v < first {
		pos := arch.Pos
		c.tail = append(c.tail, func() {
			if !slices.ContainsFunc(c.m.Funcs, func(f *Func) bool { return f.Defined }) {
				return // with nothing to compile nobody asks (recorded)
			}
			c.errorf(pos, UnsupportedTarget, "PTX .version %d.%d does not support .target %s", v/10, v%10, c.m.Target)
		})
	}
	if c.opt.SM != 0 {
		switch {
		case c.m.Target.SM > c.opt.SM,
			c.m.Target.Suffix == "a" && c.m.Target.SM != c.opt.SM,
			c.m.Target.Suffix == "f" && !family(c.m.Target.SM, c.opt.SM):
			c.report(&Error{Kind: UnsupportedTarget, Fatal: true,
				Text: "SM version specified by .target is higher than default SM version assumed"})
			return false
		}
	}
	switch m.AddressSize {
	case 0, 32, 64:
	default:
		c.fatal(m.AddressPos, "Invalid .address_size %d", m.AddressSize)
		return false
	}
	if m.AddressSize != 0 && v < 23 {
		c.errorf(m.AddressPos, Feature, "%s", needPTX(".address_size directive", 23))
	}
	if m.AddressSize == 32 && c.opt.SM >= 90 {
		c.report(&Error{Kind: UnsupportedTarget, Fatal: true, Text: no32Bit})
		return false
	}
	return true
}

// versions are the PTX ISA versions that were published, times ten.
const versions = "10 11 12 13 14 15 20 21 22 23 30 31 32 40 41 42 43 50 60 61 62 63 64 65 70 71 72 73 74 75 76 77 78 80 81 82 83 84 85 86 87 88 90"

func knownVersion(v int) bool { return v >= 10 && strings.Contains(versions, fmt.Sprint(v)) }

// moduleVar declares a module-scope variable; a second declaration must agree with the first.
func (c *checker) moduleVar(d *ptx.Var) {
	space := plainSpace(d.Space)
	switch space {
	case "global", "const", "shared", "tex":
	case "reg":
		c.regs(d)
		return
	case "param":
		c.errorf(d.Pos, Semantic, "Parameter variables may not be declared at module scope")
		return
	case "local":
		if c.m.Target.PTX >= 30 {
			// the ABI has no module-scope .local
			c.errorf(d.Pos, Semantic, "Module-scoped variables in .local state space are not allowed with ABI")
			return
		}
	default:
		c.errorf(d.Pos, Semantic, "State space '.%s' not allowed for module-scoped variable '%s'", d.Space, d.Name)
		return
	}
	if d.HasNum {
		c.errorf(d.NamePos, Semantic, "Parameterized variable name '%s' allowed only for registers", d.Name)
		return
	}
	v := c.makeVar(d, space, false)
	if d.Linkage == ptx.LinkCommon && space != "global" {
		c.errorf(d.Pos, Semantic, ".common directive allowed only on .global variables")
	}
	c.complete(v)
	if old, ok := c.scope.names[d.Name]; ok {
		c.redeclare(old, v)
		return
	}
	v.Index = len(c.m.Vars)
	c.declare(d.Name, symbol{v: v})
	c.m.Vars = append(c.m.Vars, v)
	c.initialise(v)
}

// complete reports an array without a size that is neither external nor sized by its initialiser, and one of no
// elements.
func (c *checker) complete(v *Var) {
	if len(v.Dims) == 0 {
		return
	}
	if slices.Contains(v.Dims[1:], 0) {
		c.errorf(v.Decl.NamePos, Semantic, "Array of incomplete type")
	}
	if v.Dims[0] == 0 && v.Linkage != ptx.LinkExtern && v.Decl.Init == nil {
		c.errorf(v.Decl.NamePos, Semantic, "Non-external variable '%s' has incomplete type", v.Name)
	}
}

// redeclare merges a second declaration of a variable into the first.
func (c *checker) redeclare(sym symbol, v *Var) {
	old, d := sym.v, v.Decl
	if old == nil {
		c.errorf(d.NamePos, Semantic, "Inconsistent redefinition of variable '%s'", d.Name)
		c.fatal(d.NamePos, "Inconsistent redefinition of symbol '%s'", d.Name)
		return
	}
	unsized := func(x *Var) bool { return len(x.Dims) > 0 && x.Dims[0] == 0 }
	same := old.Space == v.Space && old.Type.Name == v.Type.Name && old.Vec == v.Vec && len(old.Dims) == len(v.Dims)
	if same && !unsized(old) && !unsized(v) {
		same = old.Size == v.Size
	}
	if !same {
		c.errorf(d.NamePos, Semantic, "Inconsistent redefinition of variable '%s'", d.Name)
	}
	switch {
	case old.Linkage != ptx.LinkExtern && v.Linkage != ptx.LinkExtern:
		c.errorf(d.NamePos, Semantic, "Duplicate definition of variable '%s'", d.Name)
		return
	case old.Linkage == ptx.LinkExtern && v.Linkage == ptx.LinkNone:
		c.errorf(d.NamePos, Semantic, "'.extern' variable '%s' cannot be resolved by a '.static'", d.Name)
		return
	}
	if !same {
		return
	}
	if v.Linkage == ptx.LinkExtern {
		return
	}
	v.Index = old.Index
	relocs := old.Relocs
	*old = *v // names that were resolved to the declaration now see the definition
	old.Relocs = relocs
	c.initialise(old)
}

// alias declares ".alias Name, Target": a function that is declared, and one that is defined (words of ptxas 13.0).
func (c *checker) alias(d *ptx.Alias) {
	c.need(d.Pos, ".alias", 63, 30)
	fault := func(format string, args ...any) { c.errorf(d.Pos, Semantic, format, args...) }
	before := len(c.errs)
	find := func(name string) *Func {
		sym, ok := c.scope.names[name]
		switch {
		case !ok:
			fault("Unknown symbol '%s'", name)
		case sym.f == nil:
			fault("Cannot define alias to variable object '%s'", name)
		}
		return sym.f
	}
	old := find(d.Name)
	if old == nil {
		return
	}
	target := find(d.Target)
	if target == nil {
		return
	}
	if t := c.m.Aliases[d.Name]; t != nil {
		fault("'%s' is already aliased to '%s' and cannot be redefined", d.Name, t.Name)
		return
	}
	if old.Defined {
		fault("Illegal redefinition of function '%s' as alias", d.Name)
	}
	if old == target {
		fault("Cannot alias a function to itself")
		return
	}
	for _, f := range []*Func{old, target} {
		if f.Entry {
			fault("Cannot define alias to entry function '%s'", f.Name)
		}
	}
	if target.Linkage == ptx.LinkExtern {
		fault("Function '%s' with .extern scope cannot be aliased", d.Target)
		return
	}
	mismatch := func(what string) {
		fault("Mismatch in prototype of alias '%s' and aliasee '%s'. %s differ(s)", d.Name, d.Target, what)
	}
	for _, lists := range [][2][]*Var{{old.Returns, target.Returns}, {old.Params, target.Params}} {
		if len(lists[0]) != len(lists[1]) {
			mismatch("number of parameters")
			continue
		}
		for i, v := range lists[0] {
			if !sameParam(v, lists[1][i]) {
				mismatch("parameter types")
			}
			if v.Align != lists[1][i].Align {
				mismatch("parameter alignment")
			}
		}
	}
	if len(c.errs) == before {
		c.m.Aliases[d.Name] = target
	}
}

func (c *checker) setLoc(d *ptx.Loc) {
	c.loc = Loc{File: clip32(d.File), Line: clip32(d.SrcLine), Col: clip32(d.SrcCol)}
}

func clip32(n uint64) int32 {
	if n > 1<<31-1 {
		return 1<<31 - 1
	}
	return int32(n)
}
