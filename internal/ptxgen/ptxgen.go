// Package ptxgen makes random, valid PTX programs from the opcode table and the grammar of declarations.
//
// A program is a module with one kernel and the launch that it needs. It is a function of its seed alone. The kernel
// reads an input buffer and writes an output buffer, whose every word it defines: it reads nothing that was not
// written, has no races, and keeps away from what PTX leaves open (division by zero, the choice among several NaNs of
// f64, orders of atomic operations that show, clocks). So its output is a question with one answer: the interpreter,
// machine code and a GPU must give the same bytes, but for what [Program.Open] names.
//
// The output is rows of one 32-bit word for each thread of the grid; a statement stores its result in rows of its own,
// so that a difference tells where it began.
//
// Which words an instruction takes comes from the opcode table; which combinations of them are valid, from package
// check. [Features] lists every word of every form that a program for sm_90a can use, and a program holds
// [FeaturesPerProgram] of them beside what it chooses at random, so that a run of consecutive seeds covers the table.
// [Mutate] makes a program that is probably not valid.
package ptxgen

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gocuda/cuda/internal/ptx/optab"
)

// Version counts the changes of the generator that change what a seed gives.
const Version = 2

// FeaturesPerProgram is how many of the features a program holds, in the order of [Features].
const FeaturesPerProgram = 3

// ParamKind says what a kernel parameter is.
type ParamKind uint8

// The kinds of parameters.
const (
	ParamBytes   ParamKind = iota
	ParamOut               // the address of the output buffer
	ParamIn                // the address of the input buffer
	ParamTexture           // a texture object
	ParamSurface           // a surface object
	ParamTensor            // a tensor map, 128 bytes aligned to 64
)

// Param is a kernel parameter.
type Param struct {
	Kind  ParamKind
	Bytes []byte  // of ParamBytes
	Image *Image  // of ParamTexture and ParamSurface
	Map   *Tensor // of ParamTensor
}

// Image describes the array behind a texture or surface object. Its texels are the first bytes of the input.
type Image struct {
	Width, Height, Depth uint64 // Depth counts the layers of a layered one
	Layered, Cube        bool
	Surface              bool
	Format               string // u8 u16 u32 s8 s16 s32 f16 f32
	Channels             uint32
	Address              int  // 0 wrap, 1 clamp, 2 mirror, 3 border
	Integer              bool // texels are read as integers
}

// Tensor describes a tensor map over the input or the output buffer. Elements are u32.
type Tensor struct {
	Rank   int
	Im2col bool
	Output int // offset in the output buffer; -1 for the input
}

// Use is a form of the opcode table as a program uses it.
type Use struct {
	Form  *optab.Form
	Words []string
}

// Program is a module with the launch of its kernel.
type Program struct {
	Seed        uint64
	Text        string
	Kernel      string
	Grid, Block [3]uint32
	Shared      uint32
	Params      []Param
	Rows        int      // of Threads words each
	Open        []string // what of the results PTX leaves open: approx, fusion, layout, machine
	Uses        []Use
	Missing     []Feature // features that the program should hold and does not, for no operands fit
}

// Threads is the number of threads of the grid.
func (p *Program) Threads() int {
	n := 1
	for i := range 3 {
		n *= int(p.Grid[i] * p.Block[i])
	}
	return n
}

// OutputSize is the size of what the kernel defines of the output buffer, in bytes.
func (p *Program) OutputSize() int { return 4 * p.Rows * p.Threads() }

// BufferSize is the size of the output buffer: in front of the output lies what kernels scratch on.
func (p *Program) BufferSize() int { return Scratch + p.OutputSize() }

// Scratch is where the output begins in its buffer.
const Scratch = 2048

// The input buffer is regions of 16 bytes for each of 256 threads: raw words of all kinds, numbers of f64, and bytes of
// which bit 6 is clear, so that they are small finite numbers in every format of floats.
const (
	region      = 4096
	rawRegions  = 8
	numRegions  = 2
	mildRegions = 6
	numOffset   = rawRegions * region
	mildOffset  = numOffset + numRegions*region
	InputSize   = mildOffset + mildRegions*region
)

// Input returns the contents of the input buffer.
func Input(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 0x1f2e3d4c))
	b := make([]byte, 0, InputSize)
	put := func(v uint64, n int) {
		for range n {
			b = append(b, byte(v))
			v >>= 8
		}
	}
	for len(b) < numOffset {
		switch r.IntN(8) {
		case 0, 1:
			put(r.Uint64(), 4)
		case 2:
			put(uint64(r.IntN(64)), 4)
		case 3:
			put(uint64(-r.IntN(40)), 4)
		case 4, 5:
			put(uint64(math.Float32bits(float32(r.IntN(2001)-1000)/8)), 4)
		case 6:
			special := []uint32{0, 0x80000000, 0x3f800000, 0xbf800000, 0x7f800000, 0xff800000, 0x7fffffff, 1,
				0x80000001, 0x7f7fffff, 0x00800000, 0x7fc00001, 0x4f000000, 0xcf000000}
			put(uint64(special[r.IntN(len(special))]), 4)
		default:
			put(r.Uint64()&0x3fff3fff|0x04000400, 4) // pairs of f16
		}
	}
	for len(b) < mildOffset {
		switch r.IntN(4) {
		case 0:
			put(math.Float64bits(float64(r.IntN(4001)-2000)/16), 8)
		case 1:
			put(math.Float64bits(math.Ldexp(1+r.Float64(), r.IntN(1200)-600)), 8)
		case 2:
			special := []float64{0, math.Copysign(0, -1), 1, -1, math.Inf(1), math.Inf(-1), math.MaxFloat64,
				math.SmallestNonzeroFloat64, 1 << 31, -1 << 63}
			put(math.Float64bits(special[r.IntN(len(special))]), 8)
		default:
			put(math.Float64bits(-r.Float64()*1e6), 8)
		}
	}
	for len(b) < InputSize {
		put(r.Uint64()&0xbfbfbfbfbfbfbfbf, 8)
	}
	return b
}

// Texels are the bytes of images in an input.
func Texels(input []byte) []byte { return input[mildOffset:] }

// gen is a program in the making.
type gen struct {
	*rand.Rand
	p       *Program
	target  string
	version int // ten times the PTX version

	module, tail strings.Builder // before and after the kernel
	params       []string
	directives   []string
	decls        []string // of the kernel
	onDemand     map[string]bool
	body         []byte
	threads      uint32 // of a block
	cluster      uint32 // blocks of a cluster
	clustered    bool   // the launch has clusters

	regs    []reg
	depth   int  // nesting of control flow
	uniform bool // all threads of the block are here
	loops   int
	label   int
	funcs   []*function
	fn      *function // that is being written, nil for the kernel
	mulOK   bool      // multiplications without a rounding modifier may meet additions
	addOK   bool
	checks  checkCache
	atExit  []string
}

func newGen(seed uint64) *gen {
	g := &gen{Rand: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15)), p: &Program{Seed: seed, Kernel: "k"},
		onDemand: map[string]bool{}, uniform: true, cluster: 1}
	g.mulOK = g.chance(2)
	g.addOK = !g.mulOK
	return g
}

// chance is true once in n times.
func (g *gen) chance(n int) bool { return g.IntN(n) == 0 }

func pick[T any](g *gen, list ...T) T { return list[g.IntN(len(list))] }

func (g *gen) emit(format string, args ...any) {
	g.body = append(fmt.Appendf(g.body, format, args...), '\n')
}

func (g *gen) newLabel() string {
	g.label++
	return fmt.Sprintf("L%d", g.label)
}

// open notes that PTX leaves something open.
func (g *gen) open(what string) {
	for _, o := range g.p.Open {
		if o == what {
			return
		}
	}
	g.p.Open = append(g.p.Open, what)
}

// need declares something of the kernel once.
func (g *gen) need(decl string) {
	if !g.onDemand[decl] {
		g.onDemand[decl] = true
		g.decls = append(g.decls, decl)
	}
}

// row reserves rows for n words of each thread and returns the address of this thread's, as a base register and an
// offset. n is 1, 2 or 4.
func (g *gen) row(n int) string {
	at := fmt.Sprintf("%%o%d+%d", n, Scratch+4*g.p.Rows*g.p.Threads())
	g.p.Rows += n
	return at
}

// Generate makes the program of a seed.
func Generate(seed uint64) *Program {
	g := newGen(seed)
	return g.generate(4 + g.IntN(10))
}

// generate makes a program of n statements and the features of its seed.
func (g *gen) generate(n int) *Program {
	seed, all := g.p.Seed, Features()
	var own []Feature
	for i := range FeaturesPerProgram {
		own = append(own, all[(seed*FeaturesPerProgram+uint64(i))%uint64(len(all))])
	}
	g.setup(own)
	g.prologue()
	at := map[int][]Feature{}
	for _, f := range own {
		k := g.IntN(n)
		at[k] = append(at[k], f)
	}
	for i := range n {
		for _, f := range at[i] {
			g.feature(f)
		}
		g.statement()
	}
	g.epilogue()
	g.p.Text = g.text()
	return g.p
}

// setup chooses target, version and launch.
func (g *gen) setup(own []Feature) {
	arch, ptx := false, 78
	wide, clustered, one := false, g.chance(4), false
	for _, f := range own {
		clustered = clustered || slices.ContainsFunc(f.Form.Slots, func(s optab.Slot) bool {
			return slices.Contains(s.Words, "shared::cluster") && !s.Type
		})
		arch = arch || f.Form.Arch || len(f.Form.Only) > 0
		ptx = max(ptx, f.Form.PTX)
		one = one || f.Form.Name == "sured"
		wide = wide || f.Form.Name == "wgmma" || f.Form.Name == "setmaxnreg"
	}
	versions := []int{78, 80, 81, 82, 83, 84, 85, 86, 87, 88, 90}
	for {
		if g.version = pick(g, versions...); g.version >= ptx && (!arch || g.version >= 80) {
			break
		}
	}
	g.target = "sm_90"
	if arch || g.version >= 80 && g.chance(2) {
		g.target = "sm_90a"
	}
	blocks := [][3]uint32{{32, 1, 1}, {64, 1, 1}, {8, 4, 1}, {4, 4, 4}, {96, 1, 1}, {128, 1, 1}, {32, 2, 2}}
	g.p.Block = pick(g, blocks...)
	if wide {
		g.p.Block = [3]uint32{128, 1, 1}
	}
	g.p.Grid = pick(g, [3]uint32{1, 1, 1}, [3]uint32{1, 1, 1}, [3]uint32{2, 1, 1}, [3]uint32{1, 2, 1})
	if one || g.p.Threads() > 256 {
		g.p.Grid = [3]uint32{1, 1, 1}
	}
	g.threads = g.p.Block[0] * g.p.Block[1] * g.p.Block[2]
	if clustered {
		if g.p.Grid[0] == 2 {
			g.cluster = 2
		}
		g.clustered = true
		g.directives = append(g.directives, fmt.Sprintf(".reqnctapercluster %d,1,1", g.cluster))
		if g.chance(2) {
			g.directives = append(g.directives, ".explicitcluster")
		}
	}
	if g.chance(3) {
		g.directives = append(g.directives, fmt.Sprintf(".%s %d,%d,%d", pick(g, "maxntid", "reqntid"), g.p.Block[0],
			g.p.Block[1], g.p.Block[2]))
		if g.chance(2) {
			g.directives = append(g.directives, fmt.Sprintf(".minnctapersm %d", 1+g.IntN(2)))
		}
	}
	if g.chance(6) && !wide {
		g.directives = append(g.directives, fmt.Sprintf(".maxnreg %d", pick(g, 128, 168, 255)))
	}
	g.p.Params = []Param{{Kind: ParamOut}, {Kind: ParamIn}}
	g.params = []string{".param .u64 po", pick(g, ".param .u64 pi", ".param .u64 .ptr .global .align 16 pi",
		".param .b64 pi")}
}

// header is what every module begins with.
func (g *gen) header() string {
	return fmt.Sprintf(".version %d.%d\n.target %s\n.address_size 64\n", g.version/10, g.version%10, g.target)
}

// std are the variables that every program has.
const std = ".global .align 16 .b8 gs[64]=%s;\n.const .align 16 .b8 cs[64]=%s;\n"

func (g *gen) byteList(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%d", g.IntN(256)&0xbf)
	}
	b.WriteByte('}')
	return b.String()
}

// prologue loads every register.
func (g *gen) prologue() {
	g.module.WriteString(".file 1 \"a.cu\"\n")
	fmt.Fprintf(&g.module, std, g.byteList(64), g.byteList(64))
	g.declareRegs()
	g.decls = append(g.decls, fmt.Sprintf(".shared .align 128 .b8 sm[%d];", 32*g.threads),
		".local .align 16 .b8 lo[64];")
	b := g.p.Block
	g.emit("ld.param.u64 %%o,[po];\nld.param.u64 %%i,[pi];\nmov.u32 %%t,%%tid.x;")
	if b[1]*b[2] > 1 {
		g.emit("mov.u32 %%t1,%%tid.y;\nmov.u32 %%t2,%%ntid.x;\nmad.lo.u32 %%t,%%t1,%%t2,%%t;")
	}
	if b[2] > 1 {
		g.emit("mov.u32 %%t1,%%tid.z;\nmad.lo.u32 %%t,%%t1,%d,%%t;", b[0]*b[1])
	}
	g.emit("mov.u32 %%t1,%%ctaid.x;\nmov.u32 %%t2,%%ctaid.y;\nadd.u32 %%t1,%%t1,%%t2;\nmad.lo.u32 %%g,%%t1,%d,%%t;",
		g.threads)
	g.emit("mad.wide.u32 %%o1,%%g,4,%%o;\nmad.wide.u32 %%o2,%%g,8,%%o;\nmad.wide.u32 %%o4,%%g,16,%%o;\nmad.wide.u32 %%I,%%g,16,%%i;")
	g.emit("mov.u32 %%S,sm;\nmad.lo.u32 %%S,%%t,32,%%S;")
	g.emit("ld.global.v4.b32 {%%b0,%%b1,%%b2,%%u0},[%%I];\nld.global.v4.b32 {%%u1,%%s0,%%s1,%%t1},[%%I+%d];\nld.global.v4.b32 {%%f0,%%f1,%%f2,%%f3},[%%I+%d];\nld.global.b32 %%x0,[%%I+%d];", region, 2*region, region+12)
	g.emit("ld.global.v2.b64 {%%lb0,%%lb1},[%%I+%d];\nld.global.v2.b64 {%%lu0,%%ls0},[%%I+%d];", 3*region, 4*region)
	g.emit("ld.global.v4.b16 {%%hb0,%%hb1,%%hu0,%%hs0},[%%I+%d];\nld.global.v2.b16 {%%hf0,%%hb2},[%%I+%d];\nld.global.v2.b8 {%%cb0,%%cu0},[%%I+%d];\nmov.b32 {_,%%cb1,%%cb2,%%cb3},%%u0;", 5*region, 5*region+8, 5*region+12)
	g.emit("ld.global.v2.f64 {%%d0,%%d1},[%%I+%d];\nld.global.f64 %%d2,[%%I+%d];", numOffset, numOffset+region)
	g.emit("setp.lt.s32 %%p0,%%s0,%%s1;\nsetp.ne.b32 %%p1,%%b0,%%b1;\nsetp.gt.f32 %%p2,%%f0,%%f1;\nsetp.lo.u32 %%p3,%%u0,%%u1;")
	if g.version >= 83 {
		g.emit("mov.b128 %%q0,{%%lb0,%%lb1};\nmov.b128 %%q1,{%%ls0,%%lu0};")
	}
	g.emit("st.shared.v4.b32 [%%S],{%%b0,%%b1,%%u0,%%s0};\nst.shared.v2.b64 [%%S+16],{%%lb0,%%ls0};\nst.local.v4.b32 [lo],{%%s0,%%b2,%%u1,%%b1};\nst.local.v2.b64 [lo+16],{%%lu0,%%lb1};\nst.local.v4.b32 [lo+32],{%%f2,%%f3,%%b0,%%b1};\nst.local.v4.b32 [lo+48],{%%b0,%%s1,%%b2,%%b1};")
	g.emit("setp.eq.u32 %%pf,%%t,%d;\nnot.pred %%pt,%%pf;", 1<<20+g.IntN(1<<20)) // a false and a true predicate
	if g.declareVectors() {
		g.emit("mov.b32 %%va.x,%%b1;\nmov.b32 %%va.y,%%s0;\nmov.b32 %%va.z,%%f2;\nmov.b32 %%va.w,%%u0;\nmov.u32 %%vb.x,%%u1;\nmov.u32 %%vb.y,%%b0;")
	}
	g.extraParams()
	g.moduleVars()
}

// epilogue stores every register and ends the kernel.
func (g *gen) epilogue() {
	for i := range g.regs {
		r := &g.regs[i]
		if r.typ.Name != "pred" || g.chance(2) {
			g.fold(r)
		}
	}
	for _, s := range g.atExit {
		g.emit("%s", s)
	}
	g.emit("%s;", pick(g, "ret", "ret", "exit", "ret.uni"))
	for _, f := range g.funcs {
		if f.after {
			g.tail.WriteString(f.text)
		}
	}
}

func (g *gen) text() string {
	var b strings.Builder
	b.WriteString(g.header())
	b.WriteString(g.module.String())
	for _, f := range g.funcs {
		if f.after {
			b.WriteString(f.head + ";\n")
		} else {
			b.WriteString(f.text)
		}
	}
	for _, f := range g.funcs {
		b.WriteString(f.vars)
	}
	fmt.Fprintf(&b, ".visible .entry k(%s)", strings.Join(g.params, ","))
	for _, d := range g.directives {
		b.WriteString(" " + d)
	}
	b.WriteString("\n{\n")
	for _, d := range g.decls {
		b.WriteString(d + "\n")
	}
	b.Write(g.body)
	b.WriteString("}\n")
	b.WriteString(g.tail.String())
	return b.String()
}

func log2(n int) int { return bits.Len(uint(n)) - 1 }
