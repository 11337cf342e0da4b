package main

import (
	"fmt"
	"strconv"
	"strings"
)

const cuDir = "cu"

// The rule that turns a C prototype into a Go signature is written in cu/doc.go; the tables here are what it needs to
// know besides the marks in the JSON.

// imageParams are pointers to a module image without a size: they become []byte, terminated by NUL when they hold text.
var imageParams = map[string]bool{"image": true, "code": true, "fatCubin": true}

// optionalSlices may be nil although their count is not zero.
var optionalSlices = map[string]bool{"edgeData": true, "dependencyData": true}

// optionalStrings become NULL when empty.
var optionalStrings = map[string]bool{"cuLinkAddData.name": true, "cuLinkAddData_v2.name": true}

// addressParams are void* that carry a device address.
var addressParams = map[string]bool{"globalAddress": true, "cuMemRetainAllocationHandle.addr": true,
	"cuLogicalEndpointBindAddr.ptr": true}

// cuCallbacks are the Go function types of the C callbacks.
var cuCallbacks = map[string]string{
	"CUhostFn":           "func()",
	"CUstreamCallback":   "func(hStream CUstream, status CUresult)",
	"CUoccupancyB2DSize": "func(blockSize int32) uint64",
	"CUasyncCallback":    "func(info *CUasyncNotificationInfo, callback CUasyncCallbackHandle)",
	"CUlogsCallback":     "func(level CUlogLevel, message string)",
	"CUgraphRecaptureCallback": "func(node CUgraphNode, original, recaptured *CUgraphNodeParams, " +
		"status CUgraphRecaptureStatus) CUresult",
	"CUcoredumpStatusCallback": "func(pid int32, dev CUdevice)",
}

// handwrittenCu are the functions whose methods are in cu/irregular.go; the others follow the rule.
var handwrittenCu = map[string]bool{"cuTensorMapReplaceAddress": true}

// charBuffer is the size in bytes of the buffer behind a string result.
const charBuffer = 256

// signature is a function of package cu in the making.
type signature struct {
	f       *Function
	d       *dialect
	params  []string // "name type"
	names   []string // parameter names, for forwarding
	results []string // "name type"
	pre     []string // statements before the call
	args    []string
	post    []string // statements after it
	rets    []string
	outs    []string // members of the struct that holds what the call writes
	strings int
	used    map[string]bool
	places  []string // where each C parameter went; empty for a plain parameter
}

func (s *signature) param(name, typ string) {
	s.params = append(s.params, name+" "+typ)
	s.names = append(s.names, name)
	s.used[name] = true
}

// image is the argument for an image, which a call of the function checks first.
func (s *signature) image(parameter, name string) string {
	v := name + "Pointer"
	check := fmt.Sprintf("%s, err := imagePointer(%q, %q, %s)", v, s.f.Name, parameter, name)
	s.pre = append(s.pre, check+"\nif err != nil {\nreturn\n}")
	return v
}

func (s *signature) result(name, typ, expr string) {
	for s.used[name] {
		name += "Out"
	}
	s.used[name] = true
	s.results = append(s.results, name+" "+typ)
	s.rets = append(s.rets, expr)
}

// local is a parameter name as package cu writes it: the C name with a small first letter.
func local(c string) string {
	s := strings.ToLower(c[:1]) + c[1:]
	switch s {
	case "a", "call", "out", "err", "res":
		return s + "_"
	}
	return goKeyword(s)
}

// lenOf splits a len mark such as tensorRank-1.
func lenOf(mark string) (name string, minus int) {
	if i := strings.IndexByte(mark, '-'); i > 0 {
		n, err := strconv.Atoi(mark[i+1:])
		if err == nil {
			return mark[:i], n
		}
	}
	return mark, 0
}

func (d *dialect) signature(f *Function) *signature {
	s := &signature{f: f, d: d, used: map[string]bool{}}
	dd := &dialect{m: d.m}
	byName := map[string]*Param{}
	hasCallback := false
	for _, p := range f.Params {
		byName[p.Name] = p
		if t := d.m.Types[p.Type]; t != nil && t.Kind == "callback" {
			hasCallback = true
		}
	}
	// which parameters are counts, and what decides them
	counted := map[string][]*Param{}
	for _, p := range f.Params {
		n, _ := lenOf(p.Len)
		if _, ok := byName[n]; ok {
			counted[n] = append(counted[n], p)
		}
	}
	lead := map[string]*Param{} // count -> the input slice that decides it
	for n, ps := range counted {
		for _, p := range ps {
			if _, minus := lenOf(p.Len); !p.Out && minus == 0 {
				lead[n] = p
				break
			}
		}
	}
	for _, p := range f.Params {
		params, results := len(s.params), len(s.results)
		s.one(p, dd, byName, counted, lead, hasCallback)
		s.places = append(s.places, s.place(p, len(s.params) > params, len(s.results) > results, lead[p.Name]))
	}
	return s
}

// place says where a C parameter went: whether it became a parameter, a result or both.
func (s *signature) place(p *Param, param, result bool, lead *Param) string {
	_, stars := clean(p.Type)
	switch {
	case param && result:
		return "input and result"
	case result:
		return "result"
	case param && p.Buffer:
		return "written by the call"
	case param && stars > 0 && p.InOut:
		return "read and written by the call"
	case param:
		return ""
	case lead != nil:
		return "the length of " + local(lead.Name)
	case p.Name == "userData" || p.Name == "ptr":
		return "not in Go, whose functions carry their own"
	case p.Out:
		return "the length of a result"
	default:
		return "set by this package"
	}
}

func (s *signature) one(p *Param, dd *dialect, byName map[string]*Param, counted map[string][]*Param,
	lead map[string]*Param, hasCallback bool) {
	d, f := s.d, s.f
	name := local(p.Name)
	base, stars := clean(p.Type)
	driverType := dd.paramType(f, p) // type the table wants
	cast := func(ptr string) string {
		return fmt.Sprintf("(%s)(unsafe.Pointer(%s))", qualify(driverType), ptr)
	}
	count, minus := lenOf(p.Len)
	cp := byName[count]

	if t := d.m.Types[base]; t != nil && t.Kind == "callback" {
		s.param(name, cuCallbacks[base])
		s.args = append(s.args, "to"+base+"("+name+")")
		return
	}
	if hasCallback && (p.Name == "userData" || f.Name == "cuUserObjectCreate" && p.Name == "ptr") {
		s.args = append(s.args, "0")
		return
	}
	if qs, ok := counted[p.Name]; ok {
		s.count(p, name, stars, qs, lead[p.Name])
		return
	}
	bytesLike := base == "void" || base == "char" || base == "unsigned char"

	switch {
	case p.Len != "" && cp == nil: // a fixed number of elements
		elem := d.cuNamed(base)
		typ := "[" + p.Len + "]" + elem
		s.outs = append(s.outs, name+" "+typ)
		if p.Out {
			s.result(name, typ, "out."+name)
		} else {
			s.param(name, typ)
			s.pre = append(s.pre, fmt.Sprintf("out.%s = %s", name, name))
		}
		s.args = append(s.args, cast("&out."+name))

	case p.Len != "" && p.Out && base == "char" && stars == 1: // text
		s.outs = append(s.outs, fmt.Sprintf("%s [%d]byte", name, charBuffer))
		s.args = append(s.args, "&out."+name+"[0]")
		s.result(name, "string", "cut(out."+name+"[:])")

	case p.Len != "" && p.Out && stars == 2: // memory of the driver, copied
		cn := "out." + local(count)
		if base == "void" {
			s.outs = append(s.outs, name+" unsafe.Pointer")
			s.args = append(s.args, "&out."+name)
			s.result(name, "[]byte", fmt.Sprintf("copied((*byte)(out.%s), %s)", name, cn))
			return
		}
		elem := d.cuNamed(base)
		s.outs = append(s.outs, name+" *"+elem)
		s.args = append(s.args, cast("&out."+name))
		s.result(name, "[]"+elem, fmt.Sprintf("copied(out.%s, %s)", name, cn))

	case p.Len != "" && p.Out: // array the caller provides
		elem := d.cuNamed(base)
		_, cs := clean(cp.Type)
		var n, trim string
		switch {
		case lead[count] != nil:
			n = "len(" + local(lead[count].Name) + ")"
		case cs == 0 || cp.InOut:
			n = local(count)
		}
		if cp.InOut && cs == 1 {
			trim = fmt.Sprintf("[:min(uint64(%s), uint64(out.%s))]", n, local(count))
		}
		v := name + "Slice"
		if lead[count] == nil {
			s.pre = append(s.pre, fmt.Sprintf("if uint64(%s) > maxElements {\nerr = &ArgumentError{Func: %q, Param: %q, Reason: \"is too large\"}\nreturn\n}", n, f.Name, count))
		}
		s.pre = append(s.pre, fmt.Sprintf("%s := make([]%s, %s)", v, elem, n))
		s.args = append(s.args, fmt.Sprintf("slice[%s](%s)", strings.TrimPrefix(qualify(driverType), "*"), v))
		s.result(name, "[]"+elem, v+trim)

	case p.Len != "": // slice
		typ := "[]" + d.cuElem(base, stars, driverType)
		if bytesLike && stars == 1 {
			typ = "[]byte"
		}
		s.param(name, typ)
		if l := lead[count]; l != nil && l != p {
			cond := fmt.Sprintf("len(%s) != len(%s)", name, local(l.Name))
			if minus > 0 {
				cond = fmt.Sprintf("len(%s) != max(0, len(%s)-%d)", name, local(l.Name), minus)
			}
			if optionalSlices[p.Name] {
				cond = name + " != nil && " + cond
			}
			s.pre = append(s.pre, fmt.Sprintf("if %s {\nerr = &ArgumentError{Func: %q, Param: %q, Reason: %q}\nreturn\n}", cond, f.Name, p.Name, lengthReason(local(l.Name), minus)))
		}
		ptr := fmt.Sprintf("slice[%s](%s)", strings.TrimPrefix(qualify(driverType), "*"), name)
		if driverType == "unsafe.Pointer" {
			ptr = "bytesPointer(" + name + ")"
			if strings.HasPrefix(f.Name, "cuLinkAddData") {
				ptr = s.image(p.Name, name)
			}
		}
		s.args = append(s.args, ptr)

	case imageParams[p.Name] && base == "void":
		s.param(name, "[]byte")
		s.args = append(s.args, s.image(p.Name, name))

	case p.Name == "kernelParams" && stars == 2:
		s.param(name, "[]unsafe.Pointer")
		s.args = append(s.args, "slice[unsafe.Pointer]("+name+")")

	case p.Name == "extra" && stars == 2:
		s.param(name, "[]byte")
		s.pre = append(s.pre, "launch := launchBuffer("+name+")")
		s.args = append(s.args, "launch.pointer()")
		s.post = append(s.post, "runtime.KeepAlive(launch)")

	case addressParams[p.Name] || addressParams[f.Name+"."+p.Name]:
		s.param(name, "CUdeviceptr")
		s.args = append(s.args, "uintptr("+name+")")

	case base == "char" && stars == 1 && strings.HasPrefix(p.Type, "const"):
		s.param(name, "string")
		buf := "text" + strconv.Itoa(s.strings)
		s.strings++
		s.outs = append(s.outs, buf+" textBuffer")
		s.pre = append(s.pre, fmt.Sprintf("%s, ok := out.%s.set(%s)\nif !ok {\nerr = &ArgumentError{Func: %q, Param: %q, Reason: \"contains a NUL byte\"}\nreturn\n}", buf, buf, name, f.Name, p.Name))
		if optionalStrings[f.Name+"."+p.Name] {
			s.pre = append(s.pre, fmt.Sprintf("if %s == \"\" {\n%s = nil\n}", name, buf))
		}
		s.args = append(s.args, buf)

	case p.Out && base == "char" && stars == 2:
		s.outs = append(s.outs, name+" *byte")
		s.args = append(s.args, "&out."+name)
		s.result(name, "string", "driver.String(out."+name+")")

	case p.Out && base == "CUtensorMap":
		s.outs = append(s.outs, name+" alignedTensorMap")
		s.args = append(s.args, "(*driver.CUtensorMap)(unsafe.Pointer(out."+name+".at()))")
		s.result(name, "CUtensorMap", "*out."+name+".at()")

	case p.Out && stars >= 1:
		typ := d.cuElem(base, stars, driverType)
		s.outs = append(s.outs, name+" "+typ)
		s.args = append(s.args, cast("&out."+name))
		if driverType == "*unsafe.Pointer" || driverType == "*uintptr" {
			s.args[len(s.args)-1] = "&out." + name
		}
		s.result(name, typ, "out."+name)

	case stars > 0:
		switch driverType {
		case "unsafe.Pointer", "uintptr", "*unsafe.Pointer":
			s.param(name, driverType)
			s.args = append(s.args, name)
		case "VdpGetProcAddress":
			s.param(name, driverType)
			s.args = append(s.args, "driver.VdpGetProcAddress("+name+")")
		default:
			s.param(name, strings.Repeat("*", stars)+d.cuNamed(base))
			s.args = append(s.args, cast(name))
		}

	default:
		typ := d.cuNamed(base)
		s.param(name, typ)
		t := d.m.Types[base]
		switch {
		case t == nil: // a C scalar
			s.args = append(s.args, name)
		case d.m.isRecord(base):
			s.args = append(s.args, fmt.Sprintf("*(*driver.%s)(unsafe.Pointer(&%s))", t.Go, name))
		default:
			s.args = append(s.args, fmt.Sprintf("driver.%s(%s)", t.Go, name))
		}
	}
}

func lengthReason(lead string, minus int) string {
	if minus > 0 {
		return fmt.Sprintf("must have len(%s)-%d elements", lead, minus)
	}
	return "must have as many elements as " + lead
}

// count writes a parameter that says how many elements others have.
func (s *signature) count(p *Param, name string, stars int, qs []*Param, lead *Param) {
	typ := s.d.cuNamed(strings.TrimSpace(strings.ReplaceAll(strings.ReplaceAll(p.Type, "*", ""), "const", "")))
	if stars == 0 {
		if lead != nil { // decided by a slice
			l := local(lead.Name)
			switch typ {
			case "int32", "uint32":
				limit := map[string]string{"int32": "math.MaxInt32", "uint32": "math.MaxUint32"}[typ]
				s.pre = append(s.pre, fmt.Sprintf("if uint64(len(%s)) > %s {\nerr = &ArgumentError{Func: %q, Param: %q, Reason: \"is too long for the C type of its count\"}\nreturn\n}", l, limit, s.f.Name, lead.Name))
			}
			s.args = append(s.args, typ+"(len("+l+"))")
			return
		}
		if q := qs[0]; q.Out {
			if b, st := clean(q.Type); b == "char" && st == 1 {
				s.args = append(s.args, strconv.Itoa(charBuffer))
				return
			}
		}
		s.param(name, typ)
		s.args = append(s.args, name)
		return
	}
	s.outs = append(s.outs, name+" "+typ)
	s.args = append(s.args, "&out."+name)
	switch {
	case p.Out: // the length of memory of the driver; the slice carries it
	case lead != nil: // a buffer of the caller
		s.pre = append(s.pre, fmt.Sprintf("out.%s = %s(len(%s))", name, typ, local(lead.Name)))
		if p.InOut {
			s.result(name, typ, "out."+name)
		}
	default:
		s.param(name, typ)
		s.pre = append(s.pre, fmt.Sprintf("out.%s = %s", name, name))
		s.used[name] = true
		s.result(name, typ, "out."+name)
	}
}

func (m *Model) isRecord(c string) bool {
	for {
		t := m.Types[c]
		if t == nil {
			return m.RecByC[c] != nil
		}
		if t.Rec != nil {
			return true
		}
		if t.Kind != "alias" {
			return false
		}
		c = t.C
	}
}

// cuNamed is the Go type of a C name in package cu.
func (d *dialect) cuNamed(base string) string {
	if base == "void" {
		return "byte"
	}
	return d.named(base)
}

// cuElem is the type that a pointer parameter points to.
func (d *dialect) cuElem(base string, stars int, driverType string) string {
	if strings.Contains(driverType, "unsafe.Pointer") || strings.Contains(driverType, "uintptr") {
		if base == "void" {
			return strings.TrimPrefix(driverType, "*")
		}
	}
	return strings.Repeat("*", stars-1) + d.cuNamed(base)
}

// qualify adds the package to a type of package driver.
func qualify(t string) string {
	n := strings.TrimLeft(t, "*")
	switch n {
	case "unsafe.Pointer", "uintptr", "byte", "int32", "uint32", "uint64", "int64", "float32", "uint16", "uint8":
		return t
	}
	return t[:len(t)-len(n)] + "driver." + n
}

// cuName is a function to be written: its Go name and the symbol behind it.
type cuName struct {
	name   string
	f      *Function
	forOf  string // set when the name is only another one of the plain name
	newest string // set on an older version: the plain name
}

func (m *Model) cuNames() []cuName {
	var out []cuName
	for _, f := range m.Funcs {
		plain := fieldName(f.Base)
		cur, renamed := m.API.CurrentSymbol[f.Base]
		if !renamed {
			cur = f.Base
		}
		switch {
		case f.Name == cur && f.Name == f.Base:
			out = append(out, cuName{name: plain, f: f})
		case f.Name == cur:
			out = append(out, cuName{name: plain, f: f}, cuName{name: fieldName(f.Name), f: f, forOf: plain})
		case f.Name == f.Base:
			out = append(out, cuName{name: plain + "_v1", f: f, newest: plain})
		default:
			out = append(out, cuName{name: fieldName(f.Name), f: f, newest: plain})
		}
		// a base whose current symbol belongs to another base (cuGraphInstantiate)
		if f.Name == f.Base && renamed {
			if g := m.ByName[cur]; g != nil && g.Base != f.Base {
				out = append(out, cuName{name: plain, f: g, forOf: fieldName(g.Name)})
			}
		}
	}
	return out
}

func writeCu(m *Model, out output) error {
	d := &dialect{m: m, cu: true}
	if err := d.writeTypes(cuDir, "cu", out); err != nil {
		return err
	}
	names := m.cuNames()
	for _, g := range m.Groups {
		var api, pkg strings.Builder
		for _, n := range names {
			if n.f.Group != g {
				continue
			}
			if err := d.writeFunc(&api, &pkg, n); err != nil {
				return err
			}
		}
		file := strings.ToLower(strings.TrimPrefix(g, "CUDA_"))
		for suffix, body := range map[string]string{"": api.String(), "_default": pkg.String()} {
			var b strings.Builder
			b.WriteString("package cu\n\n")
			var imports []string
			for _, i := range []struct{ use, path string }{{"math.", "math"}, {"runtime.", "runtime"},
				{"unsafe.", "unsafe"}, {"driver.", "github.com/gocuda/cuda/internal/driver"}} {
				if usesPackage(body, i.use) {
					imports = append(imports, strconv.Quote(i.path))
				}
			}
			if len(imports) > 0 {
				fmt.Fprintf(&b, "import (\n%s\n)\n\n", strings.Join(imports, "\n"))
			}
			b.WriteString(body)
			if err := out.add(cuDir+"/zz_generated_"+file+suffix+".go", b.String()); err != nil {
				return err
			}
		}
	}
	return writeTests(d, names, out)
}

// usesPackage looks for the qualifier outside comments.
func usesPackage(src, use string) bool {
	for l := range strings.Lines(src) {
		if i := strings.Index(l, use); i >= 0 && !strings.HasPrefix(strings.TrimSpace(l), "//") {
			if i == 0 || !isIdent(l[i-1]) {
				return true
			}
		}
	}
	return false
}

func isIdent(c byte) bool {
	return c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

func (d *dialect) writeFunc(api, pkg *strings.Builder, n cuName) error {
	f := n.f
	s := d.signature(f)
	params := strings.Join(s.params, ", ")
	results := strings.Join(append(append([]string{}, s.results...), "err error"), ", ")
	names := strings.Join(s.names, ", ")

	var doc strings.Builder
	switch {
	case n.forOf != "":
		fmt.Fprintf(&doc, "// %s is %s, under the name of its version.\n", n.name, n.forOf)
		if !strings.HasPrefix(n.name, n.forOf+"_") {
			doc.Reset()
			fmt.Fprintf(&doc, "// %s is %s, as the header defines it.\n", n.name, n.forOf)
		}
	case n.newest != "":
		fmt.Fprintf(&doc, "// %s calls %s, an older version; %s is the current one.\n", n.name, f.Name, n.newest)
		if version(f.Name) > version(d.m.API.CurrentSymbol[f.Base]) {
			doc.Reset()
			fmt.Fprintf(&doc, "// %s calls %s, which the header offers beside %s.\n", n.name, f.Name, n.newest)
		}
	default:
		fmt.Fprintf(&doc, "// %s calls %s.\n", n.name, f.Name)
	}
	if n.forOf == "" {
		fmt.Fprintf(&doc, "//\n//\t%s\n//\n// Declared in %s, group %s", cPrototype(f), f.Header, f.Group)
		if f.Since > 0 {
			fmt.Fprintf(&doc, ", since CUDA %s", versionText(f.Since))
		}
		doc.WriteString(".")
		if len(f.Results) > 0 {
			fmt.Fprintf(&doc, " Documented results: %s.", strings.Join(f.Results, ", "))
		}
		doc.WriteString("\n")
		list, err := d.parameterDoc(f, s)
		if err != nil {
			return err
		}
		doc.WriteString(list)
	}
	if f.Deprecated {
		fmt.Fprintf(&doc, "//\n// Deprecated: %s is marked as deprecated in the headers of CUDA %s.\n", f.Name, versionText(d.m.API.CUDAVersion))
	}

	// package-level form
	pkg.WriteString(doc.String())
	fmt.Fprintf(pkg, "func %s(%s) (%s) {\na, err := Default()\nif err != nil {\nreturn %serr\n}\nreturn a.%s(%s)\n}\n\n", n.name, params, results, zeroResults(s), n.name, names)

	if handwrittenCu[f.Name] {
		return nil
	}
	api.WriteString(doc.String())
	fmt.Fprintf(api, "func (a API) %s(%s) (%s) {\n", n.name, params, results)
	if n.forOf != "" {
		fmt.Fprintf(api, "return a.%s(%s)\n}\n\n", n.forOf, names)
		return nil
	}
	fmt.Fprintf(api, "call := a.fn().%s\nif call == nil {\nerr = a.missing(%q)\nreturn\n}\n", fieldName(f.Name), f.Name)
	if len(s.outs) > 0 {
		fmt.Fprintf(api, "var out struct {\n%s\n}\n", strings.Join(s.outs, "\n"))
	}
	var pre string
	said := map[string]bool{}
	for _, p := range s.pre {
		if !said[p] {
			said[p] = true
			pre += p + "\n"
		}
	}
	if pre != "" {
		api.WriteString(pre)
	}
	callExpr := "call(" + strings.Join(append([]string{"a.cur"}, s.args...), ", ") + ")"
	if len(s.rets) == 0 && len(s.post) == 0 {
		fmt.Fprintf(api, "return a.result(%q, CUresult(%s))\n}\n\n", f.Name, callExpr)
		return nil
	}
	fmt.Fprintf(api, "res := CUresult(%s)\n", callExpr)
	for _, p := range s.post {
		fmt.Fprintln(api, p)
	}
	if s.needsSuccess() {
		fmt.Fprintf(api, "if res != CUDA_SUCCESS {\nerr = a.result(%q, res)\nreturn\n}\n", f.Name)
		fmt.Fprintf(api, "return %s, nil\n}\n\n", strings.Join(s.rets, ", "))
		return nil
	}
	fmt.Fprintf(api, "return %s\n}\n\n", strings.Join(append(append([]string{}, s.rets...),
		fmt.Sprintf("a.result(%q, res)", f.Name)), ", "))
	return nil
}

// needsSuccess reports results that must not be read after a failure: text and memory of the driver.
func (s *signature) needsSuccess() bool {
	for _, r := range s.rets {
		if strings.Contains(r, "(") || strings.Contains(r, "Slice") {
			return true
		}
	}
	return false
}

func zeroResults(s *signature) string {
	var z strings.Builder
	for _, r := range s.results {
		z.WriteString(r[:strings.IndexByte(r, ' ')] + ", ")
	}
	return z.String()
}

// writeTests makes the tables that the tests of both packages need: every record with its Go type.
func writeTests(d *dialect, names []cuName, out output) error {
	for _, p := range []struct{ dir, pkg string }{{driverDir, "driver"}, {cuDir, "cu"}} {
		var b strings.Builder
		fmt.Fprintf(&b, "package %s\n\nimport \"reflect\"\n\n// recordTypes maps the tag of every struct and union of the JSON to its Go type.\nvar recordTypes = map[string]reflect.Type{\n", p.pkg)
		for _, r := range d.m.Records {
			if strings.Contains(r.CName, "::") {
				continue
			}
			fmt.Fprintf(&b, "%q: reflect.TypeFor[%s](),\n", r.CName, r.GoName)
		}
		b.WriteString("}\n\n// enumValues holds every enumeration constant as the package has it.\nvar enumValues = map[string]int64{\n")
		for _, e := range d.m.API.Enums {
			for _, v := range e.Values {
				fmt.Fprintf(&b, "%q: int64(%s),\n", v.Name, v.Name)
			}
		}
		b.WriteString("}\n")
		if p.pkg == "cu" {
			b.WriteString("\n// symbolNames maps every C symbol to the name it has here.\nvar symbolNames = map[string]string{\n")
			for _, n := range names {
				if n.forOf == "" {
					fmt.Fprintf(&b, "%q: %q,\n", n.f.Name, n.name)
				}
			}
			b.WriteString("}\n")
		}
		if err := out.add(p.dir+"/zz_generated_test.go", b.String()); err != nil {
			return err
		}
	}
	return nil
}
