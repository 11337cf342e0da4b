package main

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
)

const driverDir = "internal/driver"

// fieldName is the name of a function in the table: the C symbol without cu.
func fieldName(symbol string) string { return strings.TrimPrefix(symbol, "cu") }

func cPrototype(f *Function) string {
	var ps []string
	for _, p := range f.Params {
		t := p.Type
		if !strings.HasSuffix(t, "*") {
			t += " "
		}
		ps = append(ps, t+p.Name)
	}
	if len(ps) == 0 {
		ps = []string{"void"}
	}
	return f.Result + " " + f.Name + "(" + strings.Join(ps, ", ") + ")"
}

func (d *dialect) goParams(f *Function) string {
	var ps []string
	for _, p := range f.Params {
		ps = append(ps, goKeyword(p.Name)+" "+d.paramType(f, p))
	}
	return strings.Join(append([]string{"cur CUcontext"}, ps...), ", ")
}

func version(symbol string) int {
	if i := strings.LastIndex(symbol, "_v"); i >= 0 {
		if n, err := strconv.Atoi(symbol[i+2:]); err == nil {
			return n
		}
	}
	return 1
}

func writeDriver(m *Model, out output) error {
	d := &dialect{m: m}
	if err := d.writeTypes(driverDir, "driver", out); err != nil {
		return err
	}
	for _, w := range []func(*dialect, output) error{writeTable, writeSymbols, writeEntryPoints, writeErrors,
		writePerThread, writeGuard} {
		if err := w(d, out); err != nil {
			return err
		}
	}
	return nil
}

func writeTable(d *dialect, out output) error {
	var b strings.Builder
	b.WriteString("package driver\n\nimport \"unsafe\"\n\n")
	b.WriteString(tableDoc)
	b.WriteString("type Table struct {\n")
	for _, f := range d.m.Funcs {
		fmt.Fprintf(&b, "// %s\n%s func(%s) CUresult\n", cPrototype(f), fieldName(f.Name), d.goParams(f))
	}
	b.WriteString(tableExtra)
	if err := out.add(driverDir+"/zz_generated_table.go", b.String()); err != nil {
		return err
	}

	b.Reset()
	b.WriteString("package driver\n\n")
	b.WriteString("// Func returns the function with the given field index (Symbol.Field), nil when it is not provided. Its type is that of the field.\n")
	b.WriteString("func (t *Table) Func(field int) any {\nswitch field {\n")
	for i, f := range d.m.Funcs {
		fmt.Fprintf(&b, "case %d:\nif t.%s != nil {\nreturn t.%s\n}\n", i, fieldName(f.Name), fieldName(f.Name))
	}
	b.WriteString("}\nreturn nil\n}\n")
	return out.add(driverDir+"/zz_generated_access.go", b.String())
}

const tableDoc = `// Table holds the functions of one device: one field per function of the driver library, older and newer versions included,
// named as the C symbol without cu. A nil field means: not provided.
//
// Every function has one parameter before those of C: cur, the context to be current during the call. Zero means the context that
// is current on the calling OS thread, which is what C does. With another value the device runs the call as if cuCtxSetCurrent(cur)
// came before it, and the thread's own current context is afterwards what it was. The NVIDIA driver needs a locked OS thread for that;
// the software device only uses the value. The functions that work on the thread's own stack of contexts (CtxCreate, CtxDestroy, CtxAttach, CtxDetach,
// CtxPushCurrent, CtxPopCurrent, CtxSetCurrent, and the GL and VDPAU forms of CtxCreate) ignore it.
//
// Parameters have the C types of a 64-bit host: size_t is uint64, handles are distinct integers, const char* is *byte (NUL-terminated),
// void* is unsafe.Pointer where it is host memory that the call reads or writes, and uintptr where it carries a number
// (user data, OS handles, values of JIT options, entries of extra, tensor map addresses), since a number must never sit in a Go pointer.
// Structs passed by value are Go structs of the same layout. Function pointers are small structs: see CUhostFn.
//
// The symbols with _ptds and _ptsz (per-thread default stream) are the same functions in the table PerThread; a field
// without such a variant is nil there. DerivePerThread makes one.
`

const tableExtra = `
// PerThread holds the _ptds and _ptsz functions; nil when the device does not provide them.
PerThread *Table

// HostFunc makes the address and the user data that a struct with a function pointer needs (CUDA_HOST_NODE_PARAMS.Fn and UserData) out of a Go
// function, which may run any number of times until release is called. Nil when the device does not provide it.
HostFunc func(run func()) (fn, userData uintptr, release func())

// CallC calls a C function pointer with integer arguments. The C door sets it on a device written in Go, which has no other way to call C;
// nil means that no C address can be called.
CallC func(fn uintptr, args ...uintptr) uintptr
}
`

func writeSymbols(d *dialect, out output) error {
	var b strings.Builder
	b.WriteString("package driver\n\n// symbols is sorted by Name.\nvar symbols = [...]Symbol{\n")
	for i, f := range d.m.Funcs {
		fmt.Fprintf(&b, "{Name: %q, Base: %q, Version: %d, Since: %d, Group: %q, Header: %q, Field: %d", f.Name, f.Base,
			version(f.Name), f.Since, f.Group, f.Header, i)
		if f.Deprecated {
			b.WriteString(", Deprecated: true")
		}
		if f.Exported {
			b.WriteString(", Exported: true")
		}
		if d.m.ByName[f.Name+"_ptds"] != nil {
			b.WriteString(", HasPTDS: true")
		}
		if d.m.ByName[f.Name+"_ptsz"] != nil {
			b.WriteString(", HasPTSZ: true")
		}
		if len(f.Params) > 0 {
			b.WriteString(", Params: []Param{")
			for _, p := range f.Params {
				fmt.Fprintf(&b, "{Name: %q, Type: %q", p.Name, p.Type)
				if p.Out {
					b.WriteString(", Out: true")
				}
				if p.InOut {
					b.WriteString(", InOut: true")
				}
				if p.Len != "" {
					fmt.Fprintf(&b, ", Len: %q", p.Len)
				}
				b.WriteString("},")
			}
			b.WriteString("}")
		}
		b.WriteString("},\n")
	}
	b.WriteString("}\n\n// current maps a base name to the symbol that the headers of this version use for it; bases without an entry use their own name.\nvar current = [...]struct{ base, symbol string }{\n")
	bases := make([]string, 0)
	for k := range d.m.API.CurrentSymbol {
		bases = append(bases, k)
	}
	sort.Strings(bases)
	for _, k := range bases {
		fmt.Fprintf(&b, "{%q, %q},\n", k, d.m.API.CurrentSymbol[k])
	}
	b.WriteString("}\n\n// undocumented are symbols that the library exports and no public header declares, sorted.\nvar undocumented = [...]string{\n")
	for _, s := range d.m.API.UndocumentedSymbols {
		fmt.Fprintf(&b, "%q,\n", s)
	}
	b.WriteString("}\n")
	return out.add(driverDir+"/zz_generated_symbols.go", b.String())
}

func writeEntryPoints(d *dialect, out output) error {
	var b strings.Builder
	b.WriteString("package driver\n\n// entryPoints is sorted by base; the versions of an entry by min.\nvar entryPoints = [...]entryPoint{\n")
	bases := make([]string, 0)
	for k := range d.m.API.EntryPoints {
		bases = append(bases, k)
	}
	sort.Strings(bases)
	for _, k := range bases {
		fmt.Fprintf(&b, "{%q, []entryVersion{", k)
		for _, e := range d.m.API.EntryPoints[k] {
			fmt.Fprintf(&b, "{%d, %q, %t},", e.Version, e.Symbol, e.Variant != "")
		}
		b.WriteString("}},\n")
	}
	b.WriteString("}\n")
	return out.add(driverDir+"/zz_generated_entrypoints.go", b.String())
}

func writeErrors(d *dialect, out output) error {
	var b strings.Builder
	b.WriteString("package driver\n\n// results is sorted by code; names and texts are those of cuGetErrorName and cuGetErrorString.\nvar results = [...]resultText{\n")
	codes := make([]int, 0)
	for k := range d.m.API.Strings {
		n, err := strconv.Atoi(k)
		if err != nil {
			return err
		}
		codes = append(codes, n)
	}
	sort.Ints(codes)
	for _, c := range codes {
		s := d.m.API.Strings[strconv.Itoa(c)]
		if len(s) < 2 {
			return fmt.Errorf("result %d has no name and text", c)
		}
		note, since := "", 0
		if len(s) > 2 {
			note = " // to be confirmed on a driver"
		}
		if slices.Contains(s, afterRecorded) {
			since = recordedVersion + 10
		}
		fmt.Fprintf(&b, "{%d, %q, %q, %d},%s\n", c, s[0], s[1], since, note)
	}
	b.WriteString("}\n")
	return out.add(driverDir+"/zz_generated_results.go", b.String())
}

// writePerThread makes the functions of a PerThread table from a plain one: stream 0 becomes CU_STREAM_PER_THREAD.
func writePerThread(d *dialect, out output) error {
	var b strings.Builder
	b.WriteString("package driver\n\nimport \"unsafe\"\n\n")
	b.WriteString("func derivePTSZ(t, p *Table) {\n")
	for _, f := range d.m.Funcs {
		if d.m.ByName[f.Name+"_ptsz"] == nil {
			continue
		}
		var args, fix []string
		for _, q := range f.Params {
			if q.Type == "CUstream" {
				fix = append(fix, fmt.Sprintf("%s = perThread(%s)", goKeyword(q.Name), goKeyword(q.Name)))
			}
			args = append(args, goKeyword(q.Name))
		}
		if len(fix) == 0 {
			continue // the stream sits in a struct: written by hand in perthread.go
		}
		n := fieldName(f.Name)
		fmt.Fprintf(&b, "if plain := t.%s; plain != nil {\np.%s = func(%s) CUresult {\n%s\nreturn plain(%s)\n}\n}\n", n,
			n, d.goParams(f), strings.Join(fix, "\n"), strings.Join(append([]string{"cur"}, args...), ", "))
	}
	b.WriteString("}\n\n// OverlayPerThread replaces the functions of t by those that p has, a table of _ptds and _ptsz functions.\nfunc (t *Table) OverlayPerThread(p *Table) {\n")
	for _, f := range d.m.Funcs {
		if d.m.ByName[f.Name+"_ptsz"] != nil || d.m.ByName[f.Name+"_ptds"] != nil {
			n := fieldName(f.Name)
			fmt.Fprintf(&b, "if p.%s != nil {\nt.%s = p.%s\n}\n", n, n, n)
		}
	}
	b.WriteString("}\n")
	return out.add(driverDir+"/zz_generated_perthread.go", b.String())
}

// writeGuard puts a boundary around each function: a panic ends there.
func writeGuard(d *dialect, out output) error {
	var b strings.Builder
	b.WriteString("package driver\n\nimport \"unsafe\"\n\n")
	// The compiler takes more than twice as long for one function with all of the closures.
	const together = 16
	b.WriteString("func (g *guard) wrap(t *Table) {\n")
	for i := 0; i < len(d.m.Funcs); i += together {
		fmt.Fprintf(&b, "g.wrap%d(t)\n", i)
	}
	b.WriteString("}\n")
	for i, f := range d.m.Funcs {
		if i%together == 0 {
			fmt.Fprintf(&b, "\nfunc (g *guard) wrap%d(t *Table) {\n", i)
		}
		args := []string{"cur"}
		for _, q := range f.Params {
			args = append(args, goKeyword(q.Name))
		}
		n := fieldName(f.Name)
		fmt.Fprintf(&b, "if inner := t.%s; inner != nil {\nt.%s = func(%s) (ret CUresult) {\ndefer g.leave(%d, cur, &ret)\nreturn inner(%s)\n}\n}\n", n, n, d.goParams(f), i, strings.Join(args, ", "))
		if i%together == together-1 || i == len(d.m.Funcs)-1 {
			b.WriteString("}\n")
		}
	}
	return out.add(driverDir+"/zz_generated_guard.go", b.String())
}
