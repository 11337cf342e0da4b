package link_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/sm"
	"github.com/gocuda/cuda/internal/link"
)

const head = ".version 9.0\n.target sm_90\n.address_size 64\n"

// unit is PTX with its name.
type unit struct{ name, text string }

func add(t *testing.T, l *link.Linker, us ...unit) error {
	t.Helper()
	for _, u := range us {
		if err := l.Add(link.InputPTX, []byte(head+u.text), u.name); err != nil {
			return err
		}
	}
	return nil
}

func linked(t *testing.T, us ...unit) *link.Linked {
	t.Helper()
	l := link.New(options())
	if err := add(t, l, us...); err != nil {
		t.Fatal(err)
	}
	p, err := l.Complete()
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// words runs a kernel that takes the address of n words, in a CTA of as many threads, and returns them.
func words(t *testing.T, p *link.Linked, kernel string, n int, shared uint32) []uint32 {
	t.Helper()
	x := newMachine(t).load(p)
	at, b := x.alloc(4 * n)
	clear(b)
	if err := x.run(kernel, [3]uint32{1, 1, 1}, [3]uint32{uint32(n), 1, 1}, shared, false,
		binary.LittleEndian.AppendUint64(nil, at)); err != nil {
		t.Fatal(err)
	}
	out := make([]uint32, n)
	for i := range out {
		out[i] = binary.LittleEndian.Uint32(b[4*i:])
	}
	return out
}

// Text of small functions and kernels. Each kernel stores to its parameter's word number tid.x what the body leaves in
// r.
func kernel(name, body string) string {
	return ".visible .entry " + name + "(.param .u64 o)\n{\n.reg .b64 d, e, q;\n.reg .b32 r, t;\nld.param.u64 d, [o];\n" + body +
		"\nmov.u32 t, %tid.x;\nmul.wide.u32 e, t, 4;\nadd.u64 d, d, e;\nst.global.u32 [d], r;\nret;\n}\n"
}

func function(linkage, name, value string) string {
	return linkage + " .func (.param .b32 ret) " + name + "()\n{\n.reg .b32 r;\n" + value +
		"\nst.param.b32 [ret], r;\nret;\n}\n"
}

func extern(name string) string { return ".extern .func (.param .b32 ret) " + name + "();\n" }

func call(name string) string {
	return "{\n.param .b32 v;\ncall (v), " + name + ", ();\nld.param.b32 r, [v];\n}\n"
}

func callPointer(reg string) string {
	return "{\n.param .b32 v;\nproto: .callprototype (.param .b32 _) _ ();\ncall (v), " + reg +
		", (), proto;\nld.param.b32 r, [v];\n}\n"
}

// TestResolution: which definition a name leads to (PTX ISA, "Linking Directives"; System V ABI, "Symbol Table", for
// weak and common).
func TestResolution(t *testing.T) {
	for _, c := range []struct {
		name  string
		units []unit
		want  uint32
	}{
		{"function of another unit", []unit{{"a", extern("f") + kernel("k", call("f"))},
			{"b", function(".visible", "f", "mov.u32 r, 7;")}}, 7},
		{"the other order", []unit{{"b", function(".visible", "f", "mov.u32 r, 7;")},
			{"a", extern("f") + kernel("k", call("f"))}}, 7},
		{"local functions of one name", []unit{{"a",
			extern("f") + function("", "g", "mov.u32 r, 1;") + kernel("k", call("f"))},
			{"b", function("", "g", "mov.u32 r, 2;") + function(".visible", "f", call("g")+"add.u32 r, r, 40;")}}, 42},
		{"local variables of one name", []unit{{"a", ".global .u32 v = 1;\n" + extern("f") + kernel("k", call("f"))},
			{"b", ".global .u32 v = 9;\n" + function(".visible", "f", "ld.global.u32 r, [v];")}}, 9},
		{"strong over weak", []unit{{"a", function(".weak", "f", "mov.u32 r, 1;") + kernel("k", call("f"))},
			{"b", function(".visible", "f", "mov.u32 r, 2;")}}, 2},
		{"first of two weak", []unit{{"a", function(".weak", "f", "mov.u32 r, 1;")},
			{"b", function(".weak", "f", "mov.u32 r, 2;") + kernel("k", call("f"))}}, 1},
		{"weak variable", []unit{{"a", ".weak .global .u32 v = 3;\n" + kernel("k", "ld.global.u32 r, [v];")},
			{"b", ".visible .global .u32 v = 4;\n"}}, 4},
		{"common and initialised", []unit{{"a", ".common .global .u32 v;\n" + kernel("k", "ld.global.u32 r, [v];")},
			{"b", ".visible .global .u32 v = 5;\n"}}, 5},
		{"common over weak", []unit{{"a", ".weak .global .u32 v = 6;\n" + kernel("k", "ld.global.u32 r, [v];")},
			{"b", ".common .global .u32 v;\n"}}, 0},
		{"larger common", []unit{{"a", ".common .global .b32 v[2];\n" + extern("f") +
			kernel("k", "mov.u32 r, 8;\nst.global.u32 [v], r;\n"+call("f"))},
			{"b", ".common .global .b32 v[64];\n" +
				function(".visible", "f", "mov.u32 r, 1;\nst.global.u32 [v+252], r;\nld.global.u32 r, [v];")}}, 8},
		{"constant array", []unit{{"a", ".extern .const .align 4 .b8 c[];\n" + kernel("k", "ld.const.u32 r, [c+4];")},
			{"b", ".visible .const .align 4 .u32 c[2] = {1, 77};\n"}}, 77},
		{"pointer to another unit's variable", []unit{{"a",
			".extern .global .u32 v[3];\n.visible .global .u64 p = v + 8;\n" +
				kernel("k", "ld.global.u64 q, [p];\nld.u32 r, [q];")},
			{"b", ".visible .global .u32 v[3] = {1, 2, 3};\n"}}, 3},
		{"pointer to another unit's function", []unit{{"a",
			extern("f") + ".global .u64 p = f;\n" + kernel("k", "ld.global.u64 q, [p];\n"+callPointer("q"))},
			{"b", function(".visible", "f", "mov.u32 r, 21;")}}, 21},
		{"virtual table", []unit{{"a", ".extern .global .align 8 .u64 vt[3];\n" +
			kernel("k", "ld.global.u64 q, [vt+16];\n"+callPointer("q"))},
			{"b", extern("g") + function("", "f", "mov.u32 r, 1;") +
				".visible .global .align 8 .u64 vt[3] = {0, f, g};\n"},
			{"c", function(".visible", "g", "mov.u32 r, 34;")}}, 34},
		{"alias", []unit{{"a", extern("f") + kernel("k", call("f"))},
			{"b", function(".visible", "g", "mov.u32 r, 55;") +
				".visible .func (.param .b32 ret) f();\n.alias f, g;\n"}}, 55},
		{"alias of a weak function that lost", []unit{{"a", function(".visible", "g", "mov.u32 r, 2;")},
			{"b", function(".weak", "g", "mov.u32 r, 1;") + ".visible .func (.param .b32 ret) f();\n.alias f, g;\n" +
				kernel("k", call("f"))}}, 2},
		{"shared variable of another unit", []unit{{"a",
			".extern .shared .u32 s[4];\n" + extern("f") +
				kernel("k", "mov.u32 r, 11;\nst.shared.u32 [s+12], r;\n"+call("f"))},
			{"b", ".visible .shared .u32 s[4];\n" + function(".visible", "f", "ld.shared.u32 r, [s+12];")}}, 11},
		{"static shared memory of functions stays apart",
			[]unit{{"a", extern("f") + kernel("k",
				".shared .u32 s;\nmov.u32 r, 3;\nst.shared.u32 [s], r;\n"+call("f")+"ld.shared.u32 r, [s];")},
				{"b", function(".visible", "f", ".shared .u32 s;\nmov.u32 r, 4;\nst.shared.u32 [s], r;")}}, 3},
		{"dynamic shared arrays lie over each other",
			[]unit{{"a", ".extern .shared .align 16 .b8 x[];\n" + extern("f") +
				kernel("k", "mov.u32 r, 6;\nst.shared.u32 [x], r;\n"+call("f"))},
				{"b", ".extern .shared .align 4 .b8 y[];\n" + function(".visible", "f", "ld.shared.u32 r, [y];")}}, 6},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := linked(t, c.units...)
			if got := words(t, p, "k", 1, 64); got[0] != c.want {
				t.Errorf("%d, want %d", got[0], c.want)
			}
			q, err := link.Load(p.Image(), options())
			if err != nil {
				t.Fatal(err)
			}
			if got := words(t, q, "k", 1, 64); got[0] != c.want {
				t.Errorf("%d after a round trip, want %d", got[0], c.want)
			}
		})
	}
}

// TestMixedTargets links texts of different versions and targets: nothing but the device bounds them (recorded for one
// text: sm_10 to sm_90a load).
func TestMixedTargets(t *testing.T) {
	l := link.New(options())
	for _, u := range []unit{
		{"a", ".version 6.0\n.target sm_52\n.address_size 64\n" + extern("f") + kernel("k", call("f"))},
		{"b", ".version 9.0\n.target sm_90a\n.address_size 64\n" + function(".visible", "f", "mov.u32 r, 12;")},
	} {
		if err := l.Add(link.InputPTX, []byte(u.text), u.name); err != nil {
			t.Fatal(err)
		}
	}
	p, err := l.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if got := words(t, p, "k", 1, 0); got[0] != 12 {
		t.Errorf("%d, want 12", got[0])
	}
}

// TestRefused: results and logs. Duplicates and undefined names are worded as the recorded ones; disagreeing
// declarations are this project's words in nvlink's form.
func TestRefused(t *testing.T) {
	kf := kernel("k", call("f"))
	for _, c := range []struct {
		name   string
		units  []unit
		class  link.Class
		result string
		log    string
	}{
		{"two functions", []unit{{"a", function(".visible", "f", "mov.u32 r, 1;")},
			{"b", function(".visible", "f", "mov.u32 r, 2;")}},
			link.Duplicate, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Multiple definition of 'f' in 'b', first defined in 'a'"},
		{"two kernels", []unit{{"a", kernel("k", "mov.u32 r, 1;")}, {"b", kernel("k", "mov.u32 r, 1;")}},
			link.Duplicate, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Multiple definition of 'k' in 'b', first defined in 'a'"},
		{"two variables, first mentioned in a third",
			[]unit{{"a", ".extern .global .u32 v;\n"}, {"b", ".visible .global .u32 v;\n"},
				{"c", ".visible .global .u32 v;\n"}},
			link.DuplicateVariable, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Multiple definition of 'v' in 'c', first defined in 'a'"},
		{"undefined function and variable", []unit{{"a",
			".extern .global .u32 v;\n" + extern("f") + kernel("k", "ld.global.u32 r, [v];\n"+call("f"))}},
			link.Undefined, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Undefined reference to 'f' in 'a'\nerror   : Undefined reference to 'v' in 'a'"},
		{"undefined in an initialiser", []unit{{"a", extern("f") + ".global .u64 p = f;\n"}},
			link.Undefined, "CUDA_ERROR_INVALID_SOURCE", "error   : Undefined reference to 'f' in 'a'"},
		{"the device runtime without its library",
			[]unit{{"a", ".extern .func (.param .b64 ret) cudaCGGetIntrinsicHandle(.param .b32 s);\n" +
				kernel("k", "{\n.param .b32 s;\n.param .b64 v;\nmov.u32 r, 1;\nst.param.b32 [s], r;\ncall (v), cudaCGGetIntrinsicHandle, (s);\n}")}},
			link.Undefined, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Undefined reference to 'cudaCGGetIntrinsicHandle' in 'a'"},
		{"sizes", []unit{{"a", ".extern .global .u32 v[2];\n"}, {"b", ".visible .global .u32 v[3];\n"}},
			link.Mismatch, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Size doesn't match for 'v' in 'b', first specified in 'a'"},
		{"state spaces", []unit{{"a", ".extern .const .u32 v;\n"}, {"b", ".visible .global .u32 v;\n"}},
			link.Mismatch, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Memory space doesn't match for 'v' in 'b', first specified in 'a'"},
		{"function and variable", []unit{{"a", extern("f") + kf}, {"b", ".visible .global .u32 f;\n"}},
			link.Mismatch, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Type doesn't match for 'f' in 'b', first specified in 'a'"},
		{"prototypes", []unit{{"a", extern("f") + kf},
			{"b", ".visible .func (.param .b32 ret) f(.param .b32 x) { ret; }\n"}},
			link.Mismatch, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Prototype doesn't match for 'f' in 'b', first defined in 'b'"},
		// broken.json: ptx_func_declared_not_defined
		{"a function of its own that it does not define", []unit{{"a", ".func f();\n"}},
			link.PTX, "CUDA_ERROR_INVALID_PTX", "ptxas fatal   : Unresolved extern function 'f'"},
		{"shared memory of a kernel and what it calls",
			[]unit{{"a", extern("f") + kernel("k", ".shared .b8 s[40000];\nmov.u32 r, s;\n"+call("f"))},
				{"b", function(".visible", "f", ".shared .b8 s[10000];\nmov.u32 r, s;")}},
			link.Limit, "CUDA_ERROR_INVALID_SOURCE",
			"error   : Entry function 'k' uses too much shared data (0xc350 bytes, 0xc000 max)"},
		{"constants", []unit{{"a", ".visible .const .b8 a[40000];\n"}, {"b", ".visible .const .b8 b[40000];\n"}},
			link.Limit, "CUDA_ERROR_INVALID_SOURCE",
			"error   : File uses too much global constant data (0x13880 bytes, 0x10000 max)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var log []string
			o := options()
			o.Log = func(level link.Level, line string) { log = append(log, line) }
			l := link.New(o)
			err := add(t, l, c.units...)
			if err == nil {
				_, err = l.Complete()
			}
			var e *link.Error
			if !errors.As(err, &e) || !errors.Is(err, c.class) || e.Result().String() != c.result || e.Log != c.log {
				t.Fatalf("%v\nwant %s: %s", err, c.result, c.log)
			}
			if got := strings.Join(log, "\n"); got != c.log {
				t.Errorf("log %q", got)
			}
		})
	}
}

// TestRecordedDuplicates is the recorded link "unit twice" (rdc_pair), done with the PTX that those cubins were made
// from: all six names in the driver's order, each with the unit that the driver names.
func TestRecordedDuplicates(t *testing.T) {
	l := link.New(options())
	a, b := need(t, "rdc_pair", "rdc_a.compute_90.ptx"), need(t, "rdc_pair", "rdc_b.compute_90.ptx")
	for _, err := range []error{l.Add(link.InputPTX, a, "rdc_a.sm_90.cubin"),
		l.Add(link.InputPTX, b, "rdc_b.sm_90.cubin")} {
		if err != nil {
			t.Fatal(err)
		}
	}
	err := l.Add(link.InputPTX, b, "rdc_b.sm_90.cubin")
	var e *link.Error
	if !errors.As(err, &e) || e.Result().String() != "CUDA_ERROR_INVALID_SOURCE" {
		t.Fatal(err)
	}
	const want = `error   : Multiple definition of '_Z5otherii' in 'rdc_b.sm_90.cubin', first defined in 'rdc_b.sm_90.cubin'
error   : Multiple definition of 'bump' in 'rdc_b.sm_90.cubin', first defined in 'rdc_b.sm_90.cubin'
error   : Multiple definition of '_Z3mixii' in 'rdc_b.sm_90.cubin', first defined in 'rdc_b.sm_90.cubin'
error   : Multiple definition of 'scale_table' in 'rdc_b.sm_90.cubin', first defined in 'rdc_a.sm_90.cubin'
error   : Multiple definition of 'cvals' in 'rdc_b.sm_90.cubin', first defined in 'rdc_a.sm_90.cubin'
error   : Multiple definition of 'handler' in 'rdc_b.sm_90.cubin', first defined in 'rdc_a.sm_90.cubin'`
	if e.Log != want {
		t.Errorf("log\n%s", e.Log)
	}
	// The input that failed left no trace.
	p, err := l.Complete()
	if err != nil {
		t.Fatal(err)
	}
	replay(t, p, "rdc_pair")
}

// TestStates: api.json, "cuLinkComplete again" and "cuLinkAddData after complete", "cuLinkAddData type 6".
func TestStates(t *testing.T) {
	l := link.New(options())
	result := func(err error) string {
		var e *link.Error
		if !errors.As(err, &e) {
			return "CUDA_SUCCESS"
		}
		return e.Result().String()
	}
	if r := result(l.Add(6, []byte("x"), "x")); r != "CUDA_ERROR_INVALID_VALUE" {
		t.Error("kind 6:", r)
	}
	if _, err := l.Complete(); err != nil {
		t.Error(err)
	}
	if _, err := l.Complete(); result(err) != "CUDA_ERROR_INVALID_HANDLE" {
		t.Error("a second completion:", err)
	}
	if err := add(t, l, unit{"a", kernel("k", "mov.u32 r, 1;")}); result(err) != "CUDA_ERROR_INVALID_VALUE" {
		t.Error("an input after completion:", err)
	}
	o := options()
	o.DisablePTX = true
	if err := add(t, link.New(o), unit{"a", ""}); result(err) != "CUDA_ERROR_JIT_COMPILATION_DISABLED" {
		t.Error("PTX with compilation disabled:", err)
	}
}

// object makes a host object with one container of relocatable PTX: an ELF with the section that nvcc makes.
func object(t *testing.T, text string) []byte {
	t.Helper()
	var w fatbin.Writer
	if err := w.Add(fatbin.Source{Kind: fatbin.PTX, Arch: sm.Arch{Number: 90}, Data: []byte(head + text)}); err != nil {
		t.Fatal(err)
	}
	return hostObject(w.Bytes())
}

// hostObject is an ELF with a container in the section of relocatable device code.
func hostObject(body []byte) []byte {
	const section = "__nv_relfatbin"
	names := "\x00.shstrtab\x00" + section + "\x00"
	le := binary.LittleEndian
	b := make([]byte, 64)
	copy(b, "\x7fELF\x02\x01\x01")
	le.PutUint16(b[16:], 1)
	le.PutUint16(b[18:], 62)
	le.PutUint32(b[20:], 1)
	le.PutUint16(b[52:], 64)
	le.PutUint16(b[58:], 64)
	le.PutUint16(b[60:], 3)
	le.PutUint16(b[62:], 1)
	namesAt := len(b)
	b = append(b, names...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	bodyAt := len(b)
	b = append(b, body...)
	for len(b)%8 != 0 {
		b = append(b, 0)
	}
	le.PutUint64(b[40:], uint64(len(b)))
	row := func(name, kind uint32, at, n int) {
		r := make([]byte, 64)
		le.PutUint32(r, name)
		le.PutUint32(r[4:], kind)
		le.PutUint64(r[24:], uint64(at))
		le.PutUint64(r[32:], uint64(n))
		le.PutUint64(r[48:], 1)
		b = append(b, r...)
	}
	row(0, 0, 0, 0)
	row(1, 3, namesAt, len(names))
	row(11, 1, bodyAt, len(body))
	return b
}

func archive(files map[string][]byte, order ...string) []byte {
	b := []byte("!<arch>\n")
	for _, name := range order {
		h := bytes.Repeat([]byte(" "), 60)
		copy(h, name+"/")
		copy(h[48:], decimal(len(files[name])))
		h[58], h[59] = '`', '\n'
		b = append(append(b, h...), files[name]...)
		if len(b)%2 != 0 {
			b = append(b, '\n')
		}
	}
	return b
}

func decimal(n int) string {
	if n >= 10 {
		return decimal(n/10) + string(rune('0'+n%10))
	}
	return string(rune('0' + n))
}

// TestLibraryMembers: members come into the link when something needs them, in whatever order and through each other;
// those that nothing needs stay out, with their errors: here a second definition and an undefined name.
func TestLibraryMembers(t *testing.T) {
	files := map[string][]byte{
		"f.o":     object(t, extern("g")+function(".visible", "f", call("g")+"add.u32 r, r, 1;")),
		"g.o":     object(t, function(".visible", "g", "mov.u32 r, 41;")),
		"extra.o": object(t, extern("nowhere")+function(".visible", "extra", call("nowhere"))),
		"again.o": object(t, function(".visible", "mine", "mov.u32 r, 5;")),
		// cut off: no header
		"host.o": []byte("\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01\x00\x3e\x00"),
	}
	lib := archive(files, "g.o", "extra.o", "f.o", "again.o")
	main := unit{"main", extern("f") + function(".visible", "mine", "mov.u32 r, 0;") + kernel("k", call("f"))}
	for _, first := range []bool{true, false} {
		l := link.New(options())
		if first {
			if err := l.Add(link.InputLibrary, lib, "lib.a"); err != nil {
				t.Fatal(err)
			}
		}
		if err := add(t, l, main); err != nil {
			t.Fatal(err)
		}
		if !first {
			if err := l.Add(link.InputLibrary, lib, "lib.a"); err != nil {
				t.Fatal(err)
			}
		}
		p, err := l.Complete()
		if err != nil {
			t.Fatal(err)
		}
		if len(p.Units) != 3 {
			t.Errorf("%d units, want main, f and g", len(p.Units))
		}
		if got := words(t, p, "k", 1, 0); got[0] != 42 {
			t.Errorf("%d, want 42", got[0])
		}
	}
	// A needed member's undefined names are the library's (recorded: "library alone" names the archive).
	l := link.New(options())
	if err := add(t, l, unit{"main", extern("extra") + kernel("k", call("extra"))}); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(link.InputLibrary, lib, "lib.a"); err != nil {
		t.Fatal(err)
	}
	_, err := l.Complete()
	if want := "error   : Undefined reference to 'nowhere' in 'lib.a'"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
	// A damaged member fails the library.
	if err := link.New(options()).Add(link.InputLibrary, archive(files, "host.o"), "lib.a"); err == nil {
		t.Error("a member cut off in its header was accepted")
	}
	// An object without device code adds nothing.
	if err := link.New(options()).Add(link.InputObject, object(t, ""), "empty.o"); err != nil {
		t.Error(err)
	}
}

// TestDeviceRuntime: the library is known by its name and by the version variable that it defines; with it, its
// functions are the device's, and one that the device does not provide is told so.
func TestDeviceRuntime(t *testing.T) {
	user := func(name string) unit { return unit{"a", extern(name) + kernel("k", call(name))} }
	for _, c := range []struct {
		how   string
		input link.Input
		data  []byte
		name  string
	}{
		{"name", link.InputLibrary, archive(nil), "/usr/local/cuda/lib64/libcudadevrt.a"},
		{"name on Windows", link.InputLibrary, archive(nil), `C:\CUDA\lib\x64\cudadevrt.lib`},
		{"version variable", link.InputPTX, []byte(head + ".visible .global .u32 __CNPRT_VERSION_NUMBER__ = 9000;\n"),
			"x"},
		{"version variable in a member", link.InputLibrary,
			archive(map[string][]byte{"m.o": object(t, ".visible .global .u32 __CNPRT_VERSION_NUMBER__ = 9000;\n")},
				"m.o"), "x.a"},
	} {
		l := link.New(options())
		if err := add(t, l, user("cudaLaunchDeviceV2")); err != nil {
			t.Fatal(err)
		}
		if err := l.Add(c.input, c.data, c.name); err != nil {
			t.Fatalf("%s: %v", c.how, err)
		}
		p, err := l.Complete()
		if err != nil {
			t.Errorf("%s: %v", c.how, err)
			continue
		}
		if !p.Runtime || !p.Builtin("cudaLaunchDeviceV2") || p.Builtin("cudaMemcpy3DAsync") || len(p.Units) != 1 {
			t.Errorf("%s: runtime %v, units %d", c.how, p.Runtime, len(p.Units))
		}
		if q, err := link.Load(p.Image(), options()); err != nil || !q.Runtime {
			t.Errorf("%s: after a round trip %v", c.how, err)
		}
	}
	l := link.New(options())
	if err := add(t, l, user("cudaMemcpy3DAsync")); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(link.InputLibrary, archive(nil), "libcudadevrt.a"); err != nil {
		t.Fatal(err)
	}
	_, err := l.Complete()
	if !errors.Is(err, link.Unsupported) || !strings.Contains(err.Error(), "cudaMemcpy3DAsync") {
		t.Error(err)
	}
	// A weak stand-in of the compiler's headers gives way to the library.
	l = link.New(options())
	if err := add(t, l, unit{"a", function(".weak", "cudaLaunchDeviceV2", "mov.u32 r, 999;") +
		kernel("k", call("cudaLaunchDeviceV2"))}); err != nil {
		t.Fatal(err)
	}
	if err := l.Add(link.InputLibrary, archive(nil), "libcudadevrt.a"); err != nil {
		t.Fatal(err)
	}
	p, err := l.Complete()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range p.Units[0].Module.Funcs {
		if f.Name == "cudaLaunchDeviceV2" && p.Func(f).Defined {
			t.Error("the stand-in stayed")
		}
	}
}

// TestRelink links an image into another program, which only Relink allows: the driver refuses executable cubins
// (broken.json: cubin_ok).
func TestRelink(t *testing.T) {
	lib := linked(t, unit{"b", function(".visible", "f", "mov.u32 r, 8;")})
	main := unit{"a", extern("f") + kernel("k", call("f"))}
	err := link.New(options()).Add(link.InputCubin, lib.Image(), "lib")
	var e *link.Error
	if !errors.As(err, &e) || e.Result().String() != "CUDA_ERROR_NO_BINARY_FOR_GPU" || e.Log != "" {
		t.Errorf("an executable image: %v", err)
	}
	o := options()
	o.Relink = true
	l := link.New(o)
	if err := l.Add(link.InputCubin, lib.Image(), "lib"); err != nil {
		t.Fatal(err)
	}
	if err := add(t, l, main); err != nil {
		t.Fatal(err)
	}
	p, err := l.Complete()
	if err != nil {
		t.Fatal(err)
	}
	if got := words(t, p, "k", 1, 0); got[0] != 8 {
		t.Errorf("%d, want 8", got[0])
	}
}

// TestWarnings: what the compiler says of an input that it takes goes to the info log, with the line of the kernel's
// closing brace (recorded: internal/conform/api, link/attributes/minnctapersm-alone).
func TestWarnings(t *testing.T) {
	var log []string
	o := options()
	o.Log = func(level link.Level, line string) {
		if level != link.Info {
			t.Errorf("level %d: %s", level, line)
		}
		log = append(log, line)
	}
	const text = ".version 8.0\n.target sm_90\n.address_size 64\n.entry a() .minnctapersm 2\n{\n ret;\n}\n" +
		".entry b() .maxntid 32 .minnctapersm 2\n{\n ret;\n}\n.entry c() .minnctapersm 2 {\n ret;\n\n}\n"
	if err := link.New(o).Add(link.InputPTX, []byte(text), "a"); err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, n := range []string{"7", "15"} {
		want = append(want, "ptxas application ptx input, line "+n+
			"; warning : .minnctapersm is ignored when neither .maxntid nor .reqntid is specified.")
	}
	if !slices.Equal(log, want) {
		t.Errorf("log %q, want %q", log, want)
	}
}
