package api

import (
	"encoding/binary"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
)

const head = ".version 9.0\n.target sm_90\n.address_size 64\n"

// basic is the module that most cases load.
const basic = head + `
.visible .global .align 4 .u32 gvar = 7;
.global .align 4 .u32 hidden = 8;
.visible .const .align 4 .u32 cvar[4] = {1,2,3,4};
.visible .global .attribute(.managed) .align 4 .u32 mvar = 9;
.visible .global .texref tex0;
.visible .entry nop() { ret; }
.visible .entry st1(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1,[p]; mov.u32 %r1,5; st.global.u32 [%rd1],%r1; ret; }
.visible .entry st2(.param .u64 p, .param .u32 v, .param .align 8 .b8 s[24]) { .reg .b64 %rd<3>; .reg .b32 %r<2>; ld.param.u64 %rd1,[p]; ld.param.u32 %r1,[v]; st.global.u32 [%rd1],%r1; ret; }
.visible .entry smem(.param .u64 p) { .shared .align 4 .b8 sm[1024]; .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1,[p]; mov.u32 %r1,sm; mov.u32 %r3,%tid.x; st.shared.u32 [%r1],%r3; ld.shared.u32 %r2,[%r1+4]; st.global.u32 [%rd1],%r2; ret; }
.extern .shared .align 16 .b8 dyn[];
.visible .entry dsm(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<4>; ld.param.u64 %rd1,[p]; mov.u32 %r1,dyn; mov.u32 %r3,%tid.x; st.shared.u32 [%r1],%r3; ld.shared.u32 %r2,[%r1+4]; st.global.u32 [%rd1],%r2; ret; }
.visible .entry req32() .reqntid 32 { ret; }
.visible .entry max64() .maxntid 64 { ret; }
.visible .entry clus2() .reqnctapercluster 2 { ret; }
.visible .entry expl() .explicitcluster { ret; }
.visible .entry loc(.param .u64 p) { .local .align 4 .b8 l[4096]; .reg .b64 %rd<5>; .reg .b32 %r<4>; ld.param.u64 %rd1,[p]; ld.global.u32 %r1,[%rd1]; and.b32 %r1,%r1,1020; cvt.u64.u32 %rd2,%r1; mov.u64 %rd3,l; add.u64 %rd3,%rd3,%rd2; st.local.u32 [%rd3],%r1; ld.local.u32 %r2,[%rd3+8]; st.global.u32 [%rd1],%r2; ret; }
.visible .entry addg(.param .u32 n) { .reg .b32 %r<4>; ld.param.u32 %r1,[n]; ld.global.u32 %r2,[gvar]; add.u32 %r2,%r2,%r1; st.global.u32 [gvar],%r2; ret; }
.visible .entry spin(.param .u64 p) { .reg .b64 %rd<3>; .reg .b32 %r<3>; .reg .pred %p; ld.param.u64 %rd1,[p]; mov.u32 %r1,0; L: add.u32 %r1,%r1,1; setp.lt.u32 %p,%r1,2000; @%p bra L; st.global.u32 [%rd1],%r1; ret; }
.visible .func (.param .u32 r) fn(.param .u32 a) { .reg .b32 %r<2>; ld.param.u32 %r1,[a]; st.param.u32 [r],%r1; ret; }
`

// kernels of basic, in the order of the file.
var kernels = []string{"nop", "st1", "st2", "smem", "dsm", "req32", "max64", "clus2", "expl", "loc", "addg", "spin"}

// ptx is an image of text.
func ptx(name, text string) image { return image{name, append([]byte(text), 0)} }

func basicImage() image { return ptx("PTX", basic) }

// kernel wraps a body in a kernel k(.param .u64 p).
func kernel(body string) string {
	return head + ".visible .entry k(.param .u64 p) {\n.reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .pred %p<5>;\n" + body +
		"\nret;\n}\n"
}

// fat is a container around PTX.
func fat(text string, arch int, c fatbin.Compression) []byte {
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: sm.Arch{Number: arch}, Major: 9, Compression: c,
		Data: []byte(text)}); err != nil {
		panic(err)
	}
	return w.Bytes()
}

// wrap is the struct around a container that host programs pass; the words are address dependent, so it is made when it
// is used.
func (e *Env) wrap(name string, magic, version uint32, container []byte) image {
	b := make([]byte, 24)
	binary.LittleEndian.PutUint32(b, magic)
	binary.LittleEndian.PutUint32(b[4:], version)
	if len(container) > 0 {
		e.keepAlive(container)
		e.pin(&container[0])
		binary.LittleEndian.PutUint64(b[8:], uint64(uintptr(unsafe.Pointer(&container[0]))))
	}
	return image{name, b}
}

// elf is an ELF header of a CUDA file without sections.
func elf(machine uint16, class byte) []byte {
	b := make([]byte, 64+200)
	copy(b, "\x7fELF")
	b[4], b[5], b[6] = class, 1, 1
	binary.LittleEndian.PutUint16(b[16:], 2)
	binary.LittleEndian.PutUint16(b[18:], machine)
	binary.LittleEndian.PutUint32(b[20:], 1)
	return b
}

func le(words ...uint32) []byte {
	var b []byte
	for _, w := range words {
		b = binary.LittleEndian.AppendUint32(b, w)
	}
	return append(b, make([]byte, 64)...)
}

// strange are images that are not as they should be, and some that are.
func strange() []image {
	p := func(name, text string) image { return ptx(name, text) }
	return []image{
		p("empty", ""), p("blank", " \n"), p("words", "hello world"), {"zeros", make([]byte, 64)},
		{"elf-magic-only", append([]byte("\x7fELF"), make([]byte, 100)...)}, {"elf-no-sections", elf(190, 2)},
		{"elf-x86", elf(62, 2)}, {"elf-32", elf(190, 1)},
		{"fatbin-empty", le(0xBA55ED50, 1|16<<16, 0, 0)}, {"fatbin-version-9", le(0xBA55ED50, 9|16<<16, 1000, 0)},
		{"wrapper-null", le(0x466243B1, 1, 0, 0, 0, 0)},
		{"archive", append([]byte("!<arch>\n"), make([]byte, 64)...)},
		{"bitcode", append([]byte("BC\xc0\xde"), make([]byte, 64)...)},
		p("header-only", head), p("version-only", ".version 9.0\n"), p("no-target", ".version 9.0\n.address_size 64\n"),
		p("no-version", ".target sm_90\n"),
		p("comment-first", "// c\n/* d */\n"+head), p("unknown-instruction", head+".visible .entry k() { foo; }\n"),
		p("unterminated", head+".visible .entry k() { "),
		p("version-99.0", ".version 99.0\n.target sm_90\n.address_size 64\n"),
		p("version-9.1", ".version 9.1\n.target sm_90\n.address_size 64\n"),
		p("version-1.0", ".version 1.0\n.target sm_10\n"), p("version-0.0", ".version 0.0\n.target sm_90\n"),
		p("sm_100", ".version 9.0\n.target sm_100\n.address_size 64\n.visible .entry k() { ret; }"),
		p("sm_91", ".version 9.0\n.target sm_91\n.address_size 64\n"),
		p("sm_90a", ".version 9.0\n.target sm_90a\n.address_size 64\n.visible .entry k() { ret; }"),
		p("sm_80a", ".version 9.0\n.target sm_80a\n.address_size 64\n"),
		p("sm_75", ".version 9.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }"),
		p("sm_30", ".version 6.0\n.target sm_30\n.address_size 64\n.visible .entry k() { ret; }"),
		p("sm_90-version-7.0", ".version 7.0\n.target sm_90\n.address_size 64\n"),
		p("address-size-32", ".version 9.0\n.target sm_90\n.address_size 32\n.visible .entry k() { ret; }"),
		p("no-address-size", ".version 9.0\n.target sm_90\n.visible .entry k() { ret; }"),
		p("unresolved-function", head+".extern .func u();\n.visible .entry k() { call u; ret; }"),
		p("unresolved-unused", head+".extern .func u();\n.visible .entry k() { ret; }"),
		p("unresolved-variable", head+".extern .global .u32 u;\n.visible .entry k() { .reg .u32 %r; ld.global.u32 %r,[u]; st.global.u32 [u],%r; ret; }"),
		p("crlf", strings.ReplaceAll(head, "\n", "\r\n")+".visible .entry k() { ret; }\r\n"), p("bom", "\ufeff"+head),
		p("utf8-name", head+".visible .entry k\u00e4() { ret; }"),
		p("shared-300000", head+".shared .align 4 .b8 s[300000];\n.visible .entry k() { .reg .u32 %r; mov.u32 %r,s; st.shared.u32 [%r],%r; ret; }"),
		p("const-65537", head+".const .align 1 .b8 c[65537];\n.visible .entry k() { ret; }"),
		p("const-65536", head+".visible .const .align 1 .b8 c[65536];\n.visible .entry k() { ret; }"),
		p("two-kernels-k", head+".visible .entry k() { ret; }\n.visible .entry k() { ret; }"),
		p("missing-semicolon", head+".visible .entry k() { ret }"),
		p("undeclared-register", head+".visible .entry k() { mov.u32 %r1, 1; ret; }"), p("two-modules", head+head),
		p("param-32764", head+".visible .entry k(.param .align 1 .b8 p[32764]) { ret; }"),
		p("param-32765", head+".visible .entry k(.param .align 1 .b8 p[32765]) { ret; }"),
		p("visible-missing", head+".entry k() { ret; }"),
		p("unresolved-variable-unused", head+".extern .global .u32 u;\n.visible .entry k() { ret; }"),
		p("bar-alone", head+".visible .entry k() { bar; ret; }"),
		p("unresolved-variables", head+".extern .global .u32 u, w;\n.extern .const .u32 c;\n.visible .entry k() { .reg .u32 %r; ld.global.u32 %r,[w]; st.global.u32 [u],%r; ld.const.u32 %r,[c]; st.global.u32 [u],%r; ret; }"),
		p("version-1.6", ".version 1.6\n.target sm_10\n"), p("version-5.9", ".version 5.9\n.target sm_50\n"),
		p("version-7.9", ".version 7.9\n.target sm_50\n"),
		p("sm_90-version-7.0-kernel", ".version 7.0\n.target sm_90\n.address_size 64\n.visible .entry k() { ret; }"),
		p("sm_90-version-7.0-function", ".version 7.0\n.target sm_90\n.address_size 64\n.visible .func k() { ret; }"),
		p("weak-entry", head+".weak .entry k() { ret; }"), p("no-entry", head+".visible .func f() { ret; }"),
		p("duplicate-variable", head+".global .u32 v;\n.global .u32 v;\n"),
	}
}

// bad are kernels k(.param .u64 p) that fault, and the code that is recorded for them in no table but the transcript.
var bad = []struct{ name, text string }{
	{"illegal-address", kernel("mov.u64 %rd1, 16; st.global.u32 [%rd1], %r1;")},
	{"illegal-high", kernel("mov.u64 %rd1, 0x7fff00000000; ld.global.u32 %r1,[%rd1]; ld.param.u64 %rd2,[p]; st.global.u32 [%rd2],%r1;")},
	{"misaligned", kernel("ld.param.u64 %rd1,[p]; st.global.u32 [%rd1+1], %r1;")},
	{"trap", kernel("trap;")},
	{"brkpt", kernel("brkpt;")},
	{"shared-range", kernel("mov.u32 %r1, 0x100000; st.shared.u32 [%r1], %r1;")},
	{"local-range", kernel("mov.u64 %rd1, 0x1000000; st.local.u32 [%rd1], %r1;")},
	{"atom-misaligned", kernel("ld.param.u64 %rd1,[p]; atom.global.add.u32 %r1,[%rd1+2], 1; st.global.u32 [%rd1],%r1;")},
	{"assert", head + ".extern .func __assertfail(.param .b64 a,.param .b64 b,.param .b32 c,.param .b64 d,.param .b64 e);\n.global .align 1 .b8 m[4]={120,62,48,0};\n.visible .entry k(.param .u64 p) { .reg .b64 %rd<3>; mov.u64 %rd1,m; cvta.global.u64 %rd1,%rd1; { .param .b64 a;.param .b64 b;.param .b32 c;.param .b64 d;.param .b64 e; st.param.b64 [a],%rd1; st.param.b64 [b],%rd1; st.param.b32 [c],7; st.param.b64 [d],%rd1; st.param.b64 [e],1; call.uni __assertfail,(a,b,c,d,e); } ret; }\n"},
}

// load loads a module without a line.
func (e *Env) load(text string) driver.CUmodule {
	var m driver.CUmodule
	e.Must("cuModuleLoadData", &m, ptx("PTX", text))
	return m
}

func (e *Env) function(m driver.CUmodule, name string) driver.CUfunction {
	var f driver.CUfunction
	e.Must("cuModuleGetFunction", &f, m, name)
	return f
}

// fn loads the basic module and takes a kernel of it.
func (e *Env) fn(name string) driver.CUfunction { return e.function(e.load(basic), name) }

func (e *Env) alloc(n int) driver.CUdeviceptr {
	var p driver.CUdeviceptr
	e.Must("cuMemAlloc_v2", &p, n)
	e.Must("cuMemsetD8_v2", p, 0, n)
	e.sizes[uint64(p)] = uint64(n)
	return p
}

func (e *Env) stream(flags int) driver.CUstream {
	var s driver.CUstream
	e.Must("cuStreamCreate", &s, flags)
	return s
}

func (e *Env) event(flags int) driver.CUevent {
	var v driver.CUevent
	e.Must("cuEventCreate", &v, flags)
	return v
}

func (e *Env) library(text string) driver.CUlibrary {
	var l driver.CUlibrary
	e.Must("cuLibraryLoadData", &l, ptx("PTX", text), nil, nil, 0, nil, nil, 0)
	return l
}

func (e *Env) kernelOf(l driver.CUlibrary, name string) driver.CUkernel {
	var k driver.CUkernel
	e.Must("cuLibraryGetKernel", &k, l, name)
	return k
}

// word reads 32 bits of device memory and writes what they are.
func (e *Env) word(p driver.CUdeviceptr) {
	var v uint32
	if r := e.Do("cuMemcpyDtoH_v2", &v, p, 4); r != driver.CUDA_SUCCESS {
		return
	}
}

// launch is cuLaunchKernel with the parts that most cases leave alone.
func (e *Env) launch(f any, grid, block int, p any) driver.CUresult {
	return e.Do("cuLaunchKernel", f, grid, 1, 1, block, 1, 1, 0, nil, p, nil)
}
