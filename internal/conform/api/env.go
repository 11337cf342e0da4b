package api

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"reflect"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Env is what a case works with: the device's table, and the transcript.
type Env struct {
	T    *driver.Table
	name string
	out  io.Writer
	dir  string

	symbols map[uint64]string
	sizes   map[uint64]uint64 // of the allocations that the case made, by address
	stale   map[uint64]bool
	counts  map[string]int
	keep    []any
	pins    runtime.Pinner
}

// multicast says whether a device can be one of a multicast team. No case makes an object there: on a machine that is
// shared one of a real driver can put its GPUs out of service.
func (e *Env) multicast() bool {
	var n int32
	_ = e.T.DeviceGetCount(0, &n) // before cuInit there is none
	for i := range n {
		var v int32
		r := e.T.DeviceGetAttribute(0, &v, driver.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED, driver.CUdevice(i))
		if r == driver.CUDA_SUCCESS && v != 0 {
			return true
		}
	}
	return false
}

// poison fills outputs before a call, so that one which the call does not write is recognised.
const poison = 0xEE

// label is an argument with its name in the transcript.
type label struct {
	text  string
	value any
}

// named gives an argument a name of its own.
func named(text string, value any) label { return label{text, value} }

// inOut is a pointer that the call reads: it is not poisoned, and shown afterwards.
type inOut struct{ p any }

// in is a pointer to something the call reads; it is not shown.
type in struct {
	text string
	p    any
}

// fields is a pointer to a struct that the call writes, shown field by field.
type fields struct{ p any }

// hidden is an output of which only matters whether it was written.
type hidden struct{ p any }

// image is bytes for a void pointer, with a name.
type image struct {
	name string
	data []byte
}

// raw is host memory of the case, shown by name.
type raw struct {
	name string
	data []byte
}

// params are kernel parameters: pointers to values; nil is a NULL entry.
type params []any

// extra is a list for the parameter extra of a launch.
type extra struct {
	text  string
	words []uintptr
}

type stopCase struct{}

// text makes a C string of the case.
func (e *Env) text(s string) *byte {
	b := append([]byte(s), 0)
	e.keepAlive(b)
	return &b[0]
}

func (e *Env) keepAlive(v any) { e.keep = append(e.keep, v) }

// pin keeps Go memory in place while C knows its address.
func (e *Env) pin(p any) { e.pins.Pin(p) }

func (e *Env) printf(format string, args ...any) {
	fmt.Fprintf(e.out, "%s: %s\n", e.name, fmt.Sprintf(format, args...))
}

// Note writes a line that is no call, for example what memory holds.
func (e *Env) Note(format string, args ...any) { e.printf("# %s", fmt.Sprintf(format, args...)) }

// Must makes a call that belongs to the preparation: no line, and the case ends if it fails.
func (e *Env) Must(name string, args ...any) {
	if r, _ := e.call(name, true, args); r != driver.CUDA_SUCCESS {
		e.printf("# preparation: %s -> %v", name, r)
		panic(stopCase{})
	}
}

// Do makes a call and writes its line.
func (e *Env) Do(name string, args ...any) driver.CUresult {
	r, _ := e.call(name, false, args)
	return r
}

// output is an argument to look at after the call.
type output struct {
	v      reflect.Value // pointer
	hidden bool
	inOut  bool
	fields bool
	label  string
}

func (e *Env) call(name string, silent bool, args []any) (driver.CUresult, string) {
	f := reflect.ValueOf(e.T.ByName(name))
	if !f.IsValid() || f.IsNil() {
		e.printf("# %s is not in the table", name)
		return driver.CUDA_ERROR_NOT_FOUND, ""
	}
	if name == "cuMulticastCreate" && e.multicast() {
		e.printf("# %s is not called where devices have multicast", name)
		return driver.CUDA_ERROR_NOT_PERMITTED, ""
	}
	sym, _ := driver.Lookup(name)
	ft := f.Type()
	if len(args) != ft.NumIn()-1 {
		panic(fmt.Sprintf("%s: %s takes %d arguments, not %d", e.name, name, ft.NumIn()-1, len(args)))
	}
	values := make([]reflect.Value, ft.NumIn())
	values[0] = reflect.Zero(ft.In(0))
	labels := make([]string, len(args))
	var outs []output
	var jits []*options
	for i, a := range args {
		t := ft.In(i + 1)
		if o, ok := a.(jitValues); ok {
			jits = append(jits, o.o)
		}
		v, text, out := e.argument(t, a)
		values[i+1], labels[i] = v, text
		if out.v.IsValid() {
			out.label = sym.Params[i].Name
			outs = append(outs, out)
		}
	}
	if !silent {
		// Written before the call: if the process dies here the reader knows in which call.
		fmt.Fprintf(e.out, "%s: %s(%s)", e.name, name, strings.Join(labels, ", "))
		if f, ok := e.out.(interface{ Flush() error }); ok {
			_ = f.Flush()
		}
	}
	r := driver.CUresult(f.Call(values)[0].Uint())
	runtime.KeepAlive(values)
	var text strings.Builder
	for _, o := range outs {
		fmt.Fprintf(&text, " %s=%s", o.label, e.result(o))
	}
	for _, o := range jits {
		text.WriteString(o.results())
	}
	if r == driver.CUDA_SUCCESS && ends(name) {
		for _, v := range values[1:] {
			if v.Kind() == reflect.Uintptr || v.Type() == reflect.TypeFor[driver.CUdeviceptr]() {
				e.stale[v.Convert(reflect.TypeFor[uint64]()).Uint()] = true
			}
		}
	}
	if !silent {
		fmt.Fprintf(e.out, " -> %v%s\n", r, text.String())
	}
	return r, text.String()
}

// ends says whether a function ends the life of its handle.
func ends(name string) bool {
	return strings.Contains(name, "Unload") || strings.Contains(name, "Destroy") || strings.Contains(name, "MemFree") ||
		strings.Contains(name, "Detach")
}

func fill(p unsafe.Pointer, n uintptr) {
	for i := range unsafe.Slice((*byte)(p), n) {
		*(*byte)(unsafe.Add(p, i)) = poison
	}
}

func untouched(p unsafe.Pointer, n uintptr) bool {
	for _, b := range unsafe.Slice((*byte)(p), n) {
		if b != poison {
			return false
		}
	}
	return true
}

func isHandle(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[driver.CUdeviceptr](), reflect.TypeFor[driver.CUmemGenericAllocationHandle](),
		reflect.TypeFor[driver.CUgraphConditionalHandle](), reflect.TypeFor[driver.CUtexObject](),
		reflect.TypeFor[driver.CUsurfObject]():
		return true
	}
	return t.Kind() == reflect.Uintptr && t.Name() != "uintptr"
}

// argument converts an argument to the type of a parameter.
func (e *Env) argument(t reflect.Type, a any) (v reflect.Value, text string, out output) {
	switch a := a.(type) {
	case nil:
		text = "NULL"
		if k := t.Kind(); k >= reflect.Int && k <= reflect.Float64 && !isHandle(t) {
			text = "0"
		}
		return reflect.Zero(t), text, out
	case label:
		v, _, out = e.argument(t, a.value)
		return v, a.text, out
	case in:
		e.keepAlive(a.p)
		p := reflect.ValueOf(a.p)
		if t.Kind() == reflect.UnsafePointer {
			return reflect.ValueOf(p.UnsafePointer()), a.text, out
		}
		return p, a.text, out
	case inOut:
		p := reflect.ValueOf(a.p)
		e.keepAlive(a.p)
		return p, "&" + e.show(p.Elem()), output{v: p, inOut: true}
	case fields:
		p := reflect.ValueOf(a.p)
		e.keepAlive(a.p)
		fill(p.UnsafePointer(), p.Type().Elem().Size())
		if t.Kind() == reflect.UnsafePointer {
			return reflect.ValueOf(p.UnsafePointer()), "&", output{v: p, fields: true}
		}
		return p, "&", output{v: p, fields: true}
	case hidden:
		p := reflect.ValueOf(a.p)
		e.keepAlive(a.p)
		fill(p.UnsafePointer(), p.Type().Elem().Size())
		if t.Kind() == reflect.UnsafePointer {
			return reflect.ValueOf(p.UnsafePointer()), "&", output{v: p, hidden: true}
		}
		return p, "&", output{v: p, hidden: true}
	case image:
		e.keepAlive(a.data)
		return reflect.ValueOf(unsafe.Pointer(unsafe.SliceData(a.data))), a.name, out
	case raw:
		e.keepAlive(a.data)
		p := unsafe.Pointer(unsafe.SliceData(a.data))
		if t.Kind() == reflect.UnsafePointer {
			return reflect.ValueOf(p), a.name, out
		}
		if t.Kind() == reflect.Pointer {
			return reflect.NewAt(t.Elem(), p), a.name, out
		}
		return reflect.ValueOf(uint64(uintptr(p))).Convert(t), a.name, out
	case params:
		p, text := e.params(a)
		return reflect.ValueOf(p), text, out
	case extra:
		w := append([]uintptr(nil), a.words...)
		e.keepAlive(w)
		return reflect.ValueOf(unsafe.SliceData(w)), a.text, out
	case jitCount:
		return reflect.ValueOf(uint32(len(a.o.list))), strconv.Itoa(len(a.o.list)), out
	case jitIDs:
		return reflect.ValueOf(a.o.idPointer()), a.o.text(), out
	case jitValues:
		return reflect.ValueOf(a.o.valuePointer()), "values", out
	case string:
		if t.Kind() == reflect.Pointer {
			return reflect.ValueOf(e.text(a)), strconv.Quote(strings.ReplaceAll(a, e.dir, "DIR")), out
		}
	case unsafe.Pointer:
		return reflect.ValueOf(a), e.symbol(uint64(uintptr(a)), "pointer"), out
	}
	v = reflect.ValueOf(a)
	if v.Kind() == reflect.Pointer && t.Kind() == reflect.Pointer {
		e.keepAlive(a)
		size := v.Type().Elem().Size()
		fill(v.UnsafePointer(), size)
		if v.Type() != t { // an array for a pointer to its first element
			return reflect.NewAt(t.Elem(), v.UnsafePointer()), "&", output{v: v}
		}
		return v, "&", output{v: v}
	}
	if v.Kind() == reflect.Pointer && t.Kind() == reflect.UnsafePointer {
		e.keepAlive(a)
		fill(v.UnsafePointer(), v.Type().Elem().Size())
		return reflect.ValueOf(v.UnsafePointer()), "&", output{v: v}
	}
	if v.Kind() == reflect.Func || v.Kind() == reflect.Struct {
		return v, "<" + v.Type().Name() + ">", out
	}
	if t.Kind() == reflect.UnsafePointer {
		panic(fmt.Sprintf("%s: a %T for a pointer", e.name, a))
	}
	v = v.Convert(t)
	if isHandle(t) {
		return v, e.symbolOfArgument(v), out
	}
	return v, fmt.Sprint(reflectNumber(v)), out
}

func reflectNumber(v reflect.Value) any {
	switch {
	case v.CanInt():
		return v.Int()
	case v.CanUint():
		return v.Uint()
	case v.CanFloat():
		return v.Float()
	}
	return v.Interface()
}

func (e *Env) symbolOfArgument(v reflect.Value) string {
	n := v.Uint()
	if s, ok := e.find(n); ok {
		return s
	}
	switch {
	case n == 0:
		return "NULL"
	case n < 0x10000 || int64(n) > -0x10000 && int64(n) < 0:
		return "0x" + strconv.FormatUint(n, 16)
	}
	return e.symbol(n, v.Type().Name())
}

// find is the name of a handle, or of an address in an allocation of the case.
func (e *Env) find(n uint64) (string, bool) {
	if s, ok := e.symbols[n]; ok {
		return s, true
	}
	for base, size := range e.sizes {
		if n > base && n-base <= size && !e.stale[base] {
			return fmt.Sprintf("%s+%d", e.symbols[base], n-base), true
		}
	}
	return "", false
}

// symbol names a value, a new one with the next number of its type.
func (e *Env) symbol(n uint64, kind string) string {
	if n == 0 {
		return "NULL"
	}
	if n <= 2 && kind == "CUstream" {
		return []string{"legacy", "per-thread"}[n-1]
	}
	if s, ok := e.symbols[n]; ok && !e.stale[n] && strings.HasPrefix(s, kind) {
		return s
	}
	if kind == "CUdeviceptr" {
		if s, ok := e.find(n); ok && !e.stale[n] {
			return s
		}
	}
	e.counts[kind]++
	s := kind + strconv.Itoa(e.counts[kind])
	e.symbols[n] = s
	delete(e.stale, n)
	return s
}

// result is an output after the call.
func (e *Env) result(o output) string {
	p := o.v.UnsafePointer()
	size := o.v.Type().Elem().Size()
	if !o.inOut && untouched(p, size) {
		clear(unsafe.Slice((*byte)(p), size))
		return "untouched"
	}
	if o.hidden {
		return "set"
	}
	if o.fields {
		return e.showFields(o.v.Elem())
	}
	return e.show(o.v.Elem())
}

// showFields shows a struct: what the call has left alone, what is zero and what is reserved is not there. Pointers
// show whether they are NULL.
func (e *Env) showFields(v reflect.Value) string {
	if v.Kind() != reflect.Struct || v.NumField() > 0 && !v.Type().Field(0).IsExported() {
		return e.show(v)
	}
	var parts []string
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		p := f.Addr().UnsafePointer()
		switch {
		case strings.HasPrefix(name, "Reserved") || strings.Contains(name, "padding") || untouched(p, f.Type().Size()):
		case f.IsZero():
		case f.Kind() == reflect.Pointer || f.Kind() == reflect.UnsafePointer ||
			f.Kind() == reflect.Uintptr && !isHandle(f.Type()):
			parts = append(parts, name+"=set")
		case f.Kind() == reflect.Struct:
			parts = append(parts, name+"="+e.showFields(f))
		default:
			parts = append(parts, name+"="+e.show(f))
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// Fields writes a line about a struct that a call has changed.
func (e *Env) Fields(name string, p any) {
	e.Note("%s %s", name, e.showFields(reflect.ValueOf(p).Elem()))
}

func (e *Env) show(v reflect.Value) string {
	t := v.Type()
	switch {
	case isHandle(t):
		return e.symbol(v.Uint(), t.Name())
	case v.Kind() == reflect.UnsafePointer:
		return e.symbol(uint64(v.Pointer()), "pointer")
	case t == reflect.TypeFor[*byte]():
		if v.IsNil() {
			return "NULL"
		}
		return strconv.Quote(driver.String(v.Interface().(*byte)))
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case v.CanInt() || v.CanUint():
		return fmt.Sprint(reflectNumber(v))
	case v.Kind() == reflect.Array && t.Elem().Kind() == reflect.Uint8:
		b := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(b), v)
		if i := bytes.IndexByte(b, 0); i >= 0 && len(bytes.Trim(b[i:], "\x00\xee")) == 0 {
			return strconv.Quote(string(b[:i]))
		}
		return fmt.Sprintf("%x", b)
	case v.Kind() == reflect.Array:
		parts := make([]string, v.Len())
		for i := range parts {
			parts[i] = e.show(v.Index(i))
			if isHandle(t.Elem()) && v.Index(i).Uint() == math.MaxUint64/0xff*poison {
				parts[i] = "untouched"
			}
		}
		return "[" + strings.Join(parts, " ") + "]"
	}
	return fmt.Sprintf("%x", unsafe.Slice((*byte)(v.Addr().UnsafePointer()), t.Size()))
}

func (e *Env) params(list params) (*unsafe.Pointer, string) {
	ps := make([]unsafe.Pointer, max(len(list), 1))
	texts := make([]string, len(list))
	for i, a := range list {
		if a == nil {
			texts[i] = "NULL"
			continue
		}
		v := reflect.New(reflect.TypeOf(a))
		v.Elem().Set(reflect.ValueOf(a))
		ps[i] = v.UnsafePointer()
		e.keepAlive(ps[i])
		e.pin(ps[i])
		if isHandle(v.Elem().Type()) {
			texts[i] = e.symbolOfArgument(v.Elem())
		} else {
			texts[i] = fmt.Sprint(a)
		}
	}
	e.keepAlive(ps)
	return &ps[0], "{" + strings.Join(texts, ",") + "}"
}

// options are JIT options; its three forms are the three arguments of a call.
type options struct {
	e      *Env
	list   []opt
	ids    []driver.CUjit_option
	values []uintptr
	before []uintptr
}

type (
	jitCount  struct{ o *options }
	jitIDs    struct{ o *options }
	jitValues struct{ o *options }
)

// opt is one option: a number, a buffer (a log), or names.
type opt struct {
	id    driver.CUjit_option
	value any
}

// buffer is a log buffer of so many bytes.
type buffer []byte

// jit makes options.
func (e *Env) jit(list ...opt) *options {
	o := &options{e: e, list: list, ids: make([]driver.CUjit_option, max(len(list), 1)),
		values: make([]uintptr, max(len(list), 1))}
	for i, p := range list {
		o.ids[i] = p.id
		switch v := p.value.(type) {
		case int:
			o.values[i] = uintptr(v)
		case uintptr:
			o.values[i] = v
		case buffer:
			for j := range v {
				v[j] = poison
			}
			if len(v) > 0 {
				e.pin(&v[0])
				o.values[i] = uintptr(unsafe.Pointer(&v[0]))
			}
		case []string:
			list := make([]*byte, len(v))
			for j, s := range v {
				list[j] = e.text(s)
				e.pin(list[j])
			}
			if len(list) > 0 {
				e.pin(&list[0])
				o.values[i] = uintptr(unsafe.Pointer(&list[0]))
			}
			e.keepAlive(list)
		case []uint64:
			e.pin(&v[0])
			o.values[i] = uintptr(unsafe.Pointer(&v[0]))
		default:
			panic(fmt.Sprintf("option value %T", v))
		}
	}
	o.before = append([]uintptr(nil), o.values...)
	e.keepAlive(o)
	e.pin(&o.ids[0])
	e.pin(&o.values[0])
	return o
}

func (o *options) idPointer() *driver.CUjit_option { return &o.ids[0] }
func (o *options) valuePointer() *uintptr          { return &o.values[0] }

// numOptions is CU_JIT_NUM_OPTIONS of CUDA 13.0, whose answers are recorded.
const numOptions driver.CUjit_option = 35

var optionNames = map[driver.CUjit_option]string{
	driver.CU_JIT_MAX_REGISTERS: "MAX_REGISTERS", driver.CU_JIT_THREADS_PER_BLOCK: "THREADS_PER_BLOCK",
	driver.CU_JIT_WALL_TIME:       "WALL_TIME",
	driver.CU_JIT_INFO_LOG_BUFFER: "INFO_LOG", driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES: "INFO_SIZE",
	driver.CU_JIT_ERROR_LOG_BUFFER:            "ERROR_LOG",
	driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES: "ERROR_SIZE", driver.CU_JIT_OPTIMIZATION_LEVEL: "OPTIMIZATION_LEVEL",
	driver.CU_JIT_TARGET_FROM_CUCONTEXT: "TARGET_FROM_CUCONTEXT", driver.CU_JIT_TARGET: "TARGET",
	driver.CU_JIT_FALLBACK_STRATEGY:   "FALLBACK_STRATEGY",
	driver.CU_JIT_GENERATE_DEBUG_INFO: "GENERATE_DEBUG_INFO", driver.CU_JIT_LOG_VERBOSE: "LOG_VERBOSE",
	driver.CU_JIT_GENERATE_LINE_INFO: "GENERATE_LINE_INFO",
	driver.CU_JIT_CACHE_MODE:         "CACHE_MODE", driver.CU_JIT_NEW_SM3X_OPT: "NEW_SM3X_OPT",
	driver.CU_JIT_FAST_COMPILE:            "FAST_COMPILE",
	driver.CU_JIT_GLOBAL_SYMBOL_NAMES:     "GLOBAL_SYMBOL_NAMES",
	driver.CU_JIT_GLOBAL_SYMBOL_ADDRESSES: "GLOBAL_SYMBOL_ADDRESSES",
	driver.CU_JIT_GLOBAL_SYMBOL_COUNT:     "GLOBAL_SYMBOL_COUNT", driver.CU_JIT_LTO: "LTO", driver.CU_JIT_FTZ: "FTZ",
	driver.CU_JIT_PREC_DIV:  "PREC_DIV",
	driver.CU_JIT_PREC_SQRT: "PREC_SQRT", driver.CU_JIT_FMA: "FMA",
	driver.CU_JIT_REFERENCED_KERNEL_NAMES:          "REFERENCED_KERNEL_NAMES",
	driver.CU_JIT_REFERENCED_KERNEL_COUNT:          "REFERENCED_KERNEL_COUNT",
	driver.CU_JIT_REFERENCED_VARIABLE_NAMES:        "REFERENCED_VARIABLE_NAMES",
	driver.CU_JIT_REFERENCED_VARIABLE_COUNT:        "REFERENCED_VARIABLE_COUNT",
	driver.CU_JIT_OPTIMIZE_UNUSED_DEVICE_VARIABLES: "OPTIMIZE_UNUSED_DEVICE_VARIABLES",
	driver.CU_JIT_POSITION_INDEPENDENT_CODE:        "POSITION_INDEPENDENT_CODE",
	driver.CU_JIT_MIN_CTA_PER_SM:                   "MIN_CTA_PER_SM",
	driver.CU_JIT_MAX_THREADS_PER_BLOCK:            "MAX_THREADS_PER_BLOCK",
	driver.CU_JIT_OVERRIDE_DIRECTIVE_VALUES:        "OVERRIDE_DIRECTIVE_VALUES",
	driver.CU_JIT_SPLIT_COMPILE:                    "SPLIT_COMPILE",
}

func optionName(id driver.CUjit_option) string {
	if s := optionNames[id]; s != "" {
		return s
	}
	return strconv.FormatUint(uint64(id), 10)
}

func (o *options) text() string {
	parts := make([]string, len(o.list))
	for i, p := range o.list {
		switch v := p.value.(type) {
		case buffer:
			parts[i] = fmt.Sprintf("%s=[%d]", optionName(p.id), len(v))
		case []string:
			parts[i] = fmt.Sprintf("%s=%v", optionName(p.id), v)
		case []uint64:
			parts[i] = optionName(p.id) + "=addresses"
		default:
			parts[i] = fmt.Sprintf("%s=%d", optionName(p.id), v)
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}

var (
	registers   = regexp.MustCompile(`Used \d+ registers`)
	compileTime = regexp.MustCompile(`Compile time = [\d.]+ ms`)
	spills      = regexp.MustCompile(`\d+ bytes (cumulative )?stack (frame|size)`)
)

// normal takes out of a log what depends on the hardware's compiler: register counts, stack sizes and times.
func normal(s string) string {
	s = registers.ReplaceAllString(s, "Used N registers")
	s = spills.ReplaceAllString(s, "N bytes ${1}stack ${2}")
	return compileTime.ReplaceAllString(s, "Compile time = N ms")
}

// results are the logs and the values that the call changed.
func (o *options) results() string {
	var b strings.Builder
	for i, p := range o.list {
		name := strings.ToLower(optionName(p.id))
		if v, ok := p.value.(buffer); ok {
			text := "untouched"
			if !(len(v) == 0 || untouched(unsafe.Pointer(&v[0]), uintptr(len(v)))) {
				n := bytes.IndexByte(v, 0)
				switch {
				case n < 0:
					text = "unterminated"
				default:
					text = strconv.Quote(normal(string(v[:n])))
				}
			}
			fmt.Fprintf(&b, " %s=%s", name, text)
			continue
		}
		switch p.id {
		case driver.CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES, driver.CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
			// The size of a log that was changed above says nothing.
			if s := b.String(); strings.Contains(s, " N ") {
				fmt.Fprintf(&b, " %s=set", name)
			} else {
				fmt.Fprintf(&b, " %s=%d", name, o.values[i])
			}
		case driver.CU_JIT_WALL_TIME:
			fmt.Fprintf(&b, " %s=%v", name, math.Float32frombits(uint32(o.values[i])) > 0)
		default:
			if o.values[i] != o.before[i] {
				fmt.Fprintf(&b, " %s=%d", name, o.values[i])
			}
		}
	}
	return b.String()
}
