package main

import (
	"fmt"
	"regexp"
	"sort"
	"strings"
)

const nvidiaDir = "internal/nvidia"

const nvidiaBuild = "//go:build !gocuda_nodriver && (linux || windows) && (amd64 || arm64)\n\n"

// nvidiaByHand are the functions of package nvidia that a list of words cannot call: floats and structs by value,
// callbacks and what unregisters them. The value is the method of Driver that makes the function out of the symbol.
var nvidiaByHand = map[string]string{
	"cuParamSetf":                               "paramSetf",
	"cuTexRefSetMipmapLevelBias":                "texRefSetMipmapLevelBias",
	"cuTexRefSetMipmapLevelClamp":               "texRefSetMipmapLevelClamp",
	"cuIpcOpenEventHandle":                      "ipcOpenEventHandle",
	"cuIpcOpenMemHandle":                        "ipcOpenMemHandle",
	"cuIpcOpenMemHandle_v2":                     "ipcOpenMemHandle",
	"cuEGLStreamProducerPresentFrame":           "eglStreamProducerPresentFrame",
	"cuMemAdvise_v2":                            "memAdvise",
	"cuMemPrefetchAsync_v2":                     "memPrefetchAsync",
	"cuLaunchHostFunc":                          "launchHostFunc",
	"cuStreamAddCallback":                       "streamAddCallback",
	"cuUserObjectCreate":                        "userObjectCreate",
	"cuOccupancyMaxPotentialBlockSize":          "occupancyMaxPotentialBlockSize",
	"cuOccupancyMaxPotentialBlockSizeWithFlags": "occupancyMaxPotentialBlockSizeWithFlags",
	"cuDeviceRegisterAsyncNotification":         "deviceRegisterAsyncNotification",
	"cuDeviceUnregisterAsyncNotification":       "deviceUnregisterAsyncNotification",
	"cuLogsRegisterCallback":                    "logsRegisterCallback",
	"cuLogsUnregisterCallback":                  "logsUnregisterCallback",
	"cuLaunchHostFunc_v2":                       "launchHostFuncV2",
	"cuStreamBeginRecaptureToGraph":             "streamBeginRecaptureToGraph",
	"cuStreamEndCapture":                        "streamEndCapture",
	"cuCoredumpRegisterStartCallback":           "coredumpRegister",
	"cuCoredumpRegisterCompleteCallback":        "coredumpRegister",
	"cuCoredumpDeregisterStartCallback":         "coredumpDeregister",
	"cuCoredumpDeregisterCompleteCallback":      "coredumpDeregister",
}

// threadStack matches the functions that work on the calling thread's stack of contexts: they take no notice of cur.
var threadStack = regexp.MustCompile(`^cu(Ctx(Create|Destroy|Attach|Detach|PushCurrent|PopCurrent|SetCurrent)|GLCtxCreate|VDPAUCtxCreate)(_v\d+)?$`)

var driverType = regexp.MustCompile(`\b(CU|GL|EGL|Vdp)[A-Za-z_]\w*`)

// maxCallWords is the length of the argument list of a C function without structs by value.
const maxCallWords = 16

func symbolConst(name string) string { return "sym" + strings.TrimPrefix(name, "cu") }

// writeNVIDIA makes package nvidia: how to find every symbol, and a function per field of the table.
func writeNVIDIA(m *Model, out output) error {
	d := &dialect{m: m}
	if err := writeNVIDIASymbols(m, out); err != nil {
		return err
	}
	files := map[string]*strings.Builder{}
	for _, f := range m.Funcs {
		g := nvidiaFile(f)
		b := files[g]
		if b == nil {
			b = new(strings.Builder)
			files[g] = b
		}
		var perThread string
		for _, v := range []string{"_ptds", "_ptsz"} {
			if m.ByName[f.Name+v] != nil {
				perThread = f.Name + v
			}
		}
		field := fieldName(f.Name)
		if method, ok := nvidiaByHand[f.Name]; ok {
			fmt.Fprintf(b, "t.%s = d.%s(%s)\n", field, method, symbolConst(f.Name))
			if perThread != "" {
				fmt.Fprintf(b, "p.%s = d.%s(%s)\n", field, method, symbolConst(perThread))
			}
			continue
		}
		for _, s := range []struct{ table, symbol string }{{"t", f.Name}, {"p", perThread}} {
			if s.symbol == "" {
				continue
			}
			text, err := nvidiaFunc(d, f, s.symbol)
			if err != nil {
				return err
			}
			fmt.Fprintf(b, "%s.%s = %s\n", s.table, field, text)
		}
	}
	names := make([]string, 0, len(files))
	for g := range files {
		names = append(names, g)
	}
	sort.Strings(names)
	var all strings.Builder
	fmt.Fprintf(&all, "%spackage nvidia\n\nimport \"github.com/gocuda/cuda/internal/driver\"\n\n", nvidiaBuild)
	all.WriteString("// fill sets every field of t, and of p those that have a variant with per-thread default stream.\nfunc (d *Driver) fill(t, p *driver.Table) {\n")
	for _, g := range names {
		fn := "fill" + camel(g)
		body := files[g].String()
		var b strings.Builder
		fmt.Fprintf(&b, "%spackage nvidia\n\nimport (\n", nvidiaBuild)
		if strings.Contains(body, "unsafe.") {
			b.WriteString("\"unsafe\"\n\n")
		}
		b.WriteString("\"github.com/gocuda/cuda/internal/driver\"\n)\n\n")
		params := "t, p *driver.Table"
		if !strings.Contains(body, "\np.") {
			params = "t, _ *driver.Table"
		}
		fmt.Fprintf(&b, "func (d *Driver) %s(%s) {\n%s}\n", fn, params, body)
		if err := out.add(nvidiaDir+"/zz_generated_"+g+".go", b.String()); err != nil {
			return err
		}
		fmt.Fprintf(&all, "d.%s(t, p)\n", fn)
	}
	all.WriteString("}\n\n")
	writeNVIDIACalls(&all)
	return out.add(nvidiaDir+"/zz_generated_fill.go", all.String())
}

// camel makes MemPool of mem_pool.
func camel(s string) string {
	var b strings.Builder
	for _, w := range strings.Split(s, "_") {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	return b.String()
}

// nvidiaFile is the group of a function, deprecated ones with the others. A name must not end as a build constraint
// does.
func nvidiaFile(f *Function) string {
	return strings.ToLower(strings.TrimSuffix(strings.TrimPrefix(f.Group, "CUDA_"), "_DEPRECATED"))
}

func nvidiaFunc(d *dialect, f *Function, symbol string) (string, error) {
	cur := "cur"
	if threadStack.MatchString(f.Name) {
		cur = "_"
	}
	params := []string{cur + " driver.CUcontext"}
	if cur == "_" {
		cur = "0"
	}
	args := []string{symbolConst(symbol), cur}
	if len(f.Params) > maxCallWords {
		return "", fmt.Errorf("%s has %d parameters, package nvidia is made for %d", f.Name, len(f.Params),
			maxCallWords)
	}
	for _, p := range f.Params {
		t := d.paramType(f, p)
		name := goKeyword(p.Name)
		if name == "d" || name == "t" || name == "p" {
			name += "_"
		}
		params = append(params, name+" "+driverType.ReplaceAllString(t, "driver.$0"))
		switch base, stars := clean(p.Type); {
		case strings.HasPrefix(t, "*"):
			args = append(args, "uintptr(unsafe.Pointer("+name+"))")
		case t == "unsafe.Pointer" || t == "uintptr":
			args = append(args, "uintptr("+name+")")
		case stars == 0 && d.m.Types[base] != nil && (d.m.Types[base].Rec != nil || d.m.Types[base].Kind == "callback"),
			t == "float32":
			return "", fmt.Errorf("%s: parameter %s of type %s needs a function by hand in package nvidia", f.Name,
				p.Name, p.Type)
		default:
			args = append(args, "uintptr("+name+")")
		}
	}
	return fmt.Sprintf("func(%s) driver.CUresult {\nreturn d.call%d(%s)\n}", strings.Join(params, ", "), len(f.Params),
		strings.Join(args, ", ")), nil
}

// writeNVIDIACalls makes call0 to call16.
func writeNVIDIACalls(b *strings.Builder) {
	for n := 0; n <= maxCallWords; n++ {
		var names, set []string
		for i := range n {
			names = append(names, fmt.Sprintf("a%d", i))
			set = append(set, fmt.Sprintf("f.a[%d] = a%d\n", i, i))
		}
		list := ""
		if n > 0 {
			list = ", " + strings.Join(names, ", ") + " uintptr"
		}
		fmt.Fprintf(b, "//go:uintptrescapes\nfunc (d *Driver) call%d(sym int, cur driver.CUcontext%s) driver.CUresult {\nf := d.frame()\n%sreturn d.call(sym, cur, f, %d)\n}\n\n", n, list, strings.Join(set, ""), n)
	}
}

// writeNVIDIASymbols makes the list of symbols with the version at which cuGetProcAddress gives each.
func writeNVIDIASymbols(m *Model, out output) error {
	type symbol struct {
		name, base     string
		version, since int
		variant        bool
	}
	var all []symbol
	for _, f := range m.Funcs {
		for _, v := range []string{"", "_ptds", "_ptsz"} {
			g := m.ByName[f.Name+v]
			if g == nil {
				continue
			}
			s := symbol{name: g.Name, base: f.Base, since: g.Since, variant: v != ""}
			if s.since == 0 {
				s.since = f.Since
			}
			s.version = pinnedVersion(m.API.EntryPoints[f.Base], g.Name, s.variant)
			if f.Base == "cuGetProcAddress" {
				s.version = 0 // the function that is asked is found by dlsym
			}
			all = append(all, s)
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%spackage nvidia\n\n// Indices of symbols.\nconst (\n", nvidiaBuild)
	for i, s := range all {
		if i == 0 {
			fmt.Fprintf(&b, "%s = iota\n", symbolConst(s.name))
		} else {
			fmt.Fprintf(&b, "%s\n", symbolConst(s.name))
		}
	}
	fmt.Fprintf(&b, "\nnumSymbols\n)\n\n// symbols are in the order of the table, a variant with per-thread default stream after its plain form.\nvar symbols = [numSymbols]entry{\n")
	for _, s := range all {
		flags := 1 // CU_GET_PROC_ADDRESS_LEGACY_STREAM
		if s.variant {
			flags = 2 // CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM
		}
		fmt.Fprintf(&b, "{%q, %q, %d, %d, %d},\n", s.name, s.base, s.version, s.since, flags)
	}
	b.WriteString("}\n")
	return out.add(nvidiaDir+"/zz_generated_symbols.go", b.String())
}

// pinnedVersion is the version for which cuGetProcAddress answers with exactly this symbol: the one it came with,
// unless another symbol of the same name came with it. 0 when there is none.
func pinnedVersion(entries []*Entry, symbol string, perThread bool) int {
	at, newest := 0, ""
	for _, e := range entries {
		if e.Symbol == symbol {
			at = e.Version
		}
	}
	best := 0
	for _, e := range entries {
		if (e.Variant != "") == perThread && e.Version <= at && e.Version >= best {
			best, newest = e.Version, e.Symbol
		}
	}
	if newest != symbol {
		return 0
	}
	return at
}
