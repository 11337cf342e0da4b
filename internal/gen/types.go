package main

import (
	"fmt"
	"sort"
	"strconv"
	"strings"
)

// dialect says how the C types look in one Go package.
type dialect struct {
	m *Model
	// cu is set for the public package, whose function pointers are Go functions and whose host pointers the collector
	// sees.
	cu bool
}

// hostPointers are the members that point to host memory of the caller. In package cu they are unsafe.Pointer, so that
// the collector keeps the memory; in package driver they are numbers, because a C caller may leave anything in them.
var hostPointers = map[string]bool{
	"srcHost": true, "dstHost": true, "functionTable": true, "dataTable": true,
}

// numberParams are parameters of type void* or void** that carry a number, a device address or a C pointer that is
// never followed: (parameter name) -> Go type in package driver. A small number must never sit in a Go pointer.
var numberParams = map[string]string{
	"userData": "uintptr", "optionValues": "*uintptr", "jitOptionsValues": "*uintptr",
	"libraryOptionValues": "*uintptr", "extra": "*uintptr",
	"osHandle": "uintptr", "globalAddress": "uintptr",
	"cuMemPoolImportFromShareableHandle.handle": "uintptr", "cuUserObjectCreate.ptr": "uintptr",
	"cuGetProcAddress.pfn": "*uintptr", "cuGetProcAddress_v2.pfn": "*uintptr",
	"cuGetExportTable.ppExportTable":   "*uintptr",
	"cuLibraryGetUnifiedFunction.fptr": "*uintptr", "cuDeviceGetNvSciSyncAttributes.nvSciSyncAttrList": "uintptr",
	"cuMemRetainAllocationHandle.addr": "uintptr", "cuLogicalEndpointBindAddr.ptr": "uintptr",
}

// fieldType is the Go type of a struct member.
func (d *dialect) fieldType(f *Field) string {
	t := d.fieldElem(f)
	if f.Count > 0 {
		t = "[" + strconv.Itoa(f.Count) + "]" + t
	}
	return t
}

func (d *dialect) fieldElem(f *Field) string {
	if f.Record != nil {
		return f.Record.GoName
	}
	base, stars := clean(f.CType)
	if stars > 0 {
		switch {
		case base == "void" && stars == 1:
			if d.cu && hostPointers[f.CName] {
				return "unsafe.Pointer"
			}
			return "uintptr"
		case base == "void" && f.CName == "extra":
			return "*uintptr"
		case base == "void":
			return "*unsafe.Pointer"
		default:
			return strings.Repeat("*", stars) + d.named(base)
		}
	}
	if t := d.m.Types[base]; t != nil && t.Kind == "callback" {
		return "uintptr"
	}
	return d.named(base)
}

// named is the Go type for a C type name without stars.
func (d *dialect) named(base string) string {
	if g, ok := scalars[base]; ok {
		return g
	}
	if t := d.m.Types[base]; t != nil {
		return t.Go
	}
	if g, ok := d.m.EnumGo[strings.TrimPrefix(base, "enum ")]; ok {
		return g
	}
	if r, ok := d.m.RecByC[base]; ok {
		return r.GoName
	}
	panic("unknown C type " + strconv.Quote(base))
}

// paramType is the Go type of a function parameter in package driver.
func (d *dialect) paramType(f *Function, p *Param) string {
	if t, ok := numberParams[f.Name+"."+p.Name]; ok {
		return t
	}
	base, stars := clean(p.Type)
	if t, ok := numberParams[p.Name]; ok && base == "void" {
		return t
	}
	switch {
	case base == "void" && stars == 1:
		return "unsafe.Pointer"
	case base == "void":
		return strings.Repeat("*", stars-1) + "unsafe.Pointer"
	case base == "VdpGetProcAddress":
		return "VdpGetProcAddress"
	}
	return strings.Repeat("*", stars) + d.named(base)
}

// writeTypes makes types, enums, structs and macros of one package.
func (d *dialect) writeTypes(dir, pkg string, out output) error {
	m := d.m
	var b strings.Builder
	fmt.Fprintf(&b, "package %s\n\n// Scalars and handles.\ntype (\n", pkg)
	for _, t := range m.Order {
		switch t.Kind {
		case "scalar":
			fmt.Fprintf(&b, "// %s is C's %s.\n%s %s\n", t.Go, t.C, t.Go, t.Base)
		case "handle":
			fmt.Fprintf(&b, "// %s is an opaque handle (C: %s).\n%s %s\n", t.Go, t.C, t.Go, t.Base)
		case "alias":
			fmt.Fprintf(&b, "// %s is another C name of %s.\n%s = %s\n", t.Go, t.Alias, t.Go, t.Alias)
		case "callback":
			if d.cu { // package driver has its own by hand
				fmt.Fprintf(&b, "// %s is C's %s, without the user data.\n%s = %s\n", t.Go, t.C, t.Go,
					cuCallbacks[t.Name])
			}
		}
	}
	fmt.Fprintf(&b, ")\n")
	if err := out.add(dir+"/zz_generated_types.go", b.String()); err != nil {
		return err
	}

	b.Reset()
	fmt.Fprintf(&b, "package %s\n\n", pkg)
	for _, e := range m.API.Enums {
		g := m.EnumGo[e.Tag]
		base := "uint32"
		for _, v := range e.Values {
			if v.Value < 0 {
				base = "int32"
			}
		}
		fmt.Fprintf(&b, "// %s is enum %s.\ntype %s %s\n\n// Values of %s.\nconst (\n", g, e.Tag, g, base, g)
		for _, v := range e.Values {
			fmt.Fprintf(&b, "%s %s = %d\n", v.Name, g, v.Value)
		}
		fmt.Fprintf(&b, ")\n\n")
	}
	names := make([]string, 0, len(m.API.Macros))
	for n := range m.API.Macros {
		names = append(names, n)
	}
	sort.Strings(names)
	fmt.Fprintf(&b, "// Macros of the headers.\nconst (\n")
	for _, n := range names {
		v := m.API.Macros[n]
		v = strings.NewReplacer("((void*)", "(", "((CUstream)0x", "(CUstream)(0x", "((CUdevice)-",
			"(CUdevice)(-", "(~0u)", "0xffffffff").Replace(v)
		v = strings.TrimSuffix(strings.ReplaceAll(v, "))", ")"), "")
		if strings.HasPrefix(v, "(CUstream)") {
			v = "CUstream" + strings.TrimPrefix(v, "(CUstream)")
		}
		if strings.HasPrefix(v, "(CUdevice)") {
			v = "CUdevice" + strings.TrimPrefix(v, "(CUdevice)")
		}
		fmt.Fprintf(&b, "%s = %s\n", n, v)
	}
	fmt.Fprintf(&b, ")\n")
	if err := out.add(dir+"/zz_generated_enums.go", b.String()); err != nil {
		return err
	}

	b.Reset()
	var body strings.Builder
	flat := map[*Record]bool{}
	for _, r := range m.Records {
		for _, f := range r.Fields {
			flat[f.Record] = flat[f.Record] || f.Flat
		}
	}
	for _, r := range m.Records {
		if !flat[r] {
			d.record(&body, r)
		}
	}
	fmt.Fprintf(&b, "package %s\n\n", pkg)
	if strings.Contains(body.String(), "unsafe.") {
		fmt.Fprintf(&b, "import \"unsafe\"\n\n")
	}
	b.WriteString(body.String())
	return out.add(dir+"/zz_generated_records.go", b.String())
}

func (d *dialect) record(b *strings.Builder, r *Record) {
	if r.Union {
		word := map[int]string{1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}[r.Align]
		fmt.Fprintf(b, "// %s is union %s, %d bytes; the methods give a member in place.\n", r.GoName, r.CName, r.Size)
		fmt.Fprintf(b, "// The collector does not see addresses stored in it.\n")
		fmt.Fprintf(b, "type %s struct{ u [%d]%s }\n\n", r.GoName, r.Size/r.Align, word)
		for _, f := range r.Fields {
			t := d.fieldType(f)
			if strings.Contains(t, "unsafe.Pointer") {
				t = strings.ReplaceAll(t, "unsafe.Pointer", "uintptr")
			}
			fmt.Fprintf(b, "// %s is member %s.\nfunc (u *%s) %s() *%s { return (*%s)(unsafe.Pointer(u)) }\n\n",
				f.GoName, f.CName, r.GoName, f.GoName, t, t)
		}
		return
	}
	fmt.Fprintf(b, "// %s is struct %s, %d bytes.\n", r.GoName, r.CName, r.Size)
	if r.Align > 8 {
		fmt.Fprintf(b, "// C aligns it to %d bytes; a Go variable of this type is aligned to 8.\n", r.Align)
	}
	fmt.Fprintf(b, "type %s struct {\n", r.GoName)
	for _, f := range r.Fields {
		switch {
		case f.Flat:
			first := f.Record.Fields[0]
			fmt.Fprintf(b, "%s %s\n", first.GoName, d.fieldType(first))
		case f.Embed:
			fmt.Fprintf(b, "%s\n", d.fieldType(f))
		default:
			fmt.Fprintf(b, "%s %s\n", f.GoName, d.fieldType(f))
		}
	}
	fmt.Fprintf(b, "}\n\n")
	for _, f := range r.Fields {
		if !f.Flat {
			continue
		}
		first := f.Record.Fields[0].GoName
		for _, g := range f.Record.Fields[1:] {
			t := d.fieldType(g)
			fmt.Fprintf(b, "// %s is member %s, which shares its place with %s.\nfunc (r *%s) %s() *%s { return (*%s)(unsafe.Pointer(&r.%s)) }\n\n",
				g.GoName, g.CName, first, r.GoName, g.GoName, t, t, first)
		}
	}
}
