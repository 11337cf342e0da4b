package optab

import (
	"strings"
	"testing"
)

// TestTable compiles every line: Lookup panics at one that it cannot read. Names, numbers and order are those of the
// lines.
func TestTable(t *testing.T) {
	table := Get()
	forms := table.Forms()
	if len(forms) < 1000 || len(table.Names()) < 100 {
		t.Fatalf("%d forms of %d instructions", len(forms), len(table.Names()))
	}
	for i, f := range forms {
		if f == nil {
			t.Fatalf("no form %d", i)
		}
		if f.Index != i || f.Name == "" || f.Group == "" ||
			i > 0 && f.Group == forms[i-1].Group && f.Line <= forms[i-1].Line {
			t.Errorf("form %d: number %d, %s:%d, %q", i, f.Index, f.Group, f.Line, f.Name)
		}
	}
	for _, name := range table.Names() {
		last := -1
		for _, f := range table.Lookup(name) {
			if f.Name != name || f.Index <= last {
				t.Errorf("%s has form %d of %s after %d", name, f.Index, f.Name, last)
			}
			last = f.Index
		}
	}
	if table.Lookup("nothing") != nil {
		t.Error("forms of a name that is not in the table")
	}
}

// TestAttributes holds attributes against the operands: what is pure has results and no address that it follows, and
// loads, stores and atomic operations have the operands that ir.Op.Access takes.
func TestAttributes(t *testing.T) {
	kinds := map[Opcode]*Form{}
	for _, f := range Get().Forms() {
		at := func(name string) bool { o := f.Operand(name); return o != nil && o.Kind == KindMem }
		switch d, a, b := f.Operand("d"), at("a"), f.Operand("b"); {
		case f.Pure && (d == nil || f.Mem != MemNone || f.Sync || f.Warp || f.Acc || f.Carry || f.Stack):
			t.Errorf("%s is pure and not", f.Syntax)
		case f.Mem == MemLoad && (d == nil || !a), f.Mem == MemStore && (d != nil || !a || b == nil),
			f.Mem == MemAtomic && (!a || b == nil):
			t.Errorf("%s: no load, store or atomic operation by its operands", f.Syntax)
		case f.Mem == MemNone && f.Pure && at("a") && f.Op != OpCreatepolicy:
			t.Errorf("%s: an address, and no memory", f.Syntax)
		}
		if k := kinds[f.Op]; k != nil && (k.Pure != f.Pure || k.Mem != f.Mem || k.Acc != f.Acc || k.Warp != f.Warp ||
			k.Carry != f.Carry || k.Stack != f.Stack || k.Vector != f.Vector) {
			t.Errorf("%s: other attributes than %s", f.Syntax, k.Syntax)
		}
		kinds[f.Op] = f
	}
}

// TestMods fits every form to the first word of each of its slots, and to each word of each slot beside the first of
// the others: the types of Mods are those of the match, and words have the meaning that modifiers.txt gives them.
func TestMods(t *testing.T) {
	for _, f := range Get().Forms() {
		for s := range f.Slots {
			for _, w := range f.Slots[s].Words {
				words := make([]string, len(f.Slots))
				for i := range f.Slots {
					words[i] = f.Slots[i].Words[0]
				}
				words[s] = w
				m, miss := f.Fit(words)
				if miss.Kind != MissNone { // two slots have a word in common
					continue
				}
				if int(m.Mods.NumTypes) != len(m.Types) {
					t.Fatalf("%s: %d types, not %d", f.Syntax, m.Mods.NumTypes, len(m.Types))
				}
				for i, typ := range m.Types {
					if m.Mods.Type(i).String() != typ {
						t.Errorf("%s: type %s, not %s", f.Syntax, m.Mods.Type(i), typ)
					}
				}
			}
		}
	}
	for _, c := range []struct {
		text string
		want Mods
	}{
		{"mad.hi.sat.s32", Mods{Part: PartHi, Cmp: CmpHi, Sat: true, Types: [MaxTypes]TypeID{S32}, NumTypes: 1}},
		{"setp.leu.and.ftz.f32", Mods{Cmp: CmpLeu, Func: FuncAnd, Ftz: true, Types: [MaxTypes]TypeID{F32},
			NumTypes: 1}},
		{"ld.acquire.gpu.shared::cta.b64", Mods{Sem: SemAcquire, Scope: ScopeGpu, Space: SpaceShared,
			Types: [MaxTypes]TypeID{B64}, NumTypes: 1}},
		{"cvt.rzi.ftz.s32.f32", Mods{Round: RoundRzi, Ftz: true, Types: [MaxTypes]TypeID{S32, F32}, NumTypes: 2}},
		{"membar.gl", Mods{Scope: ScopeGpu}},
		{"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
			Mods{Shape: Shape{8, 8, 4}, Layout: [2]Layout{LayoutRow, LayoutCol},
				Types: [MaxTypes]TypeID{F32, F16, F16, F32}, NumTypes: 4}},
		{"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16",
			Mods{Shape: Shape{M: 8, N: 8}, Transposed: true, Space: SpaceShared, Types: [MaxTypes]TypeID{B16},
				NumTypes: 1}},
		{"tld4.a.2d.v4.f32.f32", Mods{Component: ComponentAlpha, Fragment: FragmentA, Dim: Dim2d,
			Types: [MaxTypes]TypeID{F32, F32}, NumTypes: 2}},
	} {
		words := strings.Split(c.text, ".")
		fits := false
		for _, f := range Get().Lookup(words[0]) {
			m, miss := f.Fit(words[1:])
			if miss.Kind != MissNone {
				continue
			}
			if fits = true; m.Mods != c.want {
				t.Errorf("%s: %+v, not %+v", c.text, m.Mods, c.want)
			}
		}
		if !fits {
			t.Errorf("no form of %s", c.text)
		}
	}
}

// BenchmarkRead reads the table and compiles all of it.
func BenchmarkRead(b *testing.B) {
	for _, all := range []bool{false, true} {
		b.Run(map[bool]string{false: "lines", true: "forms"}[all], func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				t, err := readAll()
				if err != nil {
					b.Fatal(err)
				}
				if all {
					t.Forms()
				}
			}
		})
	}
}

// TestSRegs: every special register is found by its name, numbered ones by their numbers up to the manual's (PTX ISA
// 10.30 to 10.32).
func TestSRegs(t *testing.T) {
	for s := SRegTid; s < SRegEnvreg; s++ {
		if got, n := FindSReg(s.Info().Name); got != s || n != 0 || s.Info().Type == NoTypeID || s.Info().PTX == 0 {
			t.Errorf("%s is register %d, number %d", s.Info().Name, got, n)
		}
	}
	for _, c := range []struct {
		name   string
		want   SReg
		number int
	}{{"%envreg0", SRegEnvreg, 0}, {"%envreg31", SRegEnvreg, 31}, {"%envreg32", NoSReg, 0}, {"%envreg01", NoSReg, 0},
		{"%pm7", SRegPm, 7}, {"%pm8", NoSReg, 0},
		{"%pm3_64", SRegPm64, 3}, {"%pm", NoSReg, 0}, {"%tid.x", NoSReg, 0}, {"tid", NoSReg, 0}, {"", NoSReg, 0}} {
		if s, n := FindSReg(c.name); s != c.want || n != c.number && s != NoSReg {
			t.Errorf("%q is register %d, number %d", c.name, s, n)
		}
	}
}
