package sequence

import (
	"bytes"
	"fmt"
	"reflect"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/mem"
)

// poison fills outputs before a call, so that one which the call does not write is recognised.
const poison = 0xEE

// hostSize is how much pageable memory the interpreter has.
const hostSize = 64 << 10

// Machine runs the calls of one sequence, or the same calls of several at once with the variables shared.
type Machine struct {
	table *driver.Table

	mu      sync.Mutex
	vars    map[string]uint64
	names   map[uint64]string
	threads map[int]chan func()
	keep    []any
	pins    runtime.Pinner
	// outside Go's heap: copies on several threads may meet there, which the race detector must not take for ours
	host   *mem.Scratch
	calls  atomic.Int64 // of callbacks
	timers sync.WaitGroup
	ended  sync.WaitGroup
}

// NewMachine makes an interpreter without variables.
func NewMachine(t *driver.Table) *Machine {
	m := &Machine{table: t, vars: map[string]uint64{}, names: map[uint64]string{}, threads: map[int]chan func(){}}
	var err error
	if m.host, err = mem.NewScratch(hostSize); err != nil {
		panic(err) // 64 KiB
	}
	return m
}

// Close ends the threads; no line may run. Callbacks that are still queued may come until the table's device is closed.
func (m *Machine) Close() {
	m.timers.Wait()
	m.mu.Lock()
	for _, q := range m.threads {
		close(q)
	}
	m.threads = nil
	m.mu.Unlock()
	m.ended.Wait()
	m.pins.Unpin()
}

// Do makes one call, on its thread, and returns the answer: the result and the outputs.
func (m *Machine) Do(c Call) string {
	m.mu.Lock()
	q := m.threads[c.Thread]
	if q == nil {
		q = make(chan func())
		m.threads[c.Thread] = q
		m.ended.Add(1)
		go func() {
			defer m.ended.Done()
			runtime.LockOSThread() // and never unlocked: the thread goes with what the driver keeps for it
			for f := range q {
				f()
			}
		}()
	}
	m.mu.Unlock()
	answer := make(chan string, 1)
	q <- func() { answer <- m.do(c) }
	return <-answer
}

// failure is a line that cannot be run: it says a wrong thing about a function.
type failure string

// undefined is the use of a variable that no call has set.
type undefined struct{}

func (m *Machine) do(c Call) (answer string) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case undefined:
			answer = "SKIPPED"
		case failure:
			answer = "WRONG " + string(p)
		default:
			panic(p)
		}
	}()
	if !c.api() {
		return m.statement(c)
	}
	f := reflect.ValueOf(m.table.ByName(c.Fn))
	if !f.IsValid() || f.IsNil() {
		panic(failure("no function " + c.Fn))
	}
	sym, _ := driver.Lookup(c.Fn)
	ft := f.Type()
	if len(c.Args) != ft.NumIn()-1 {
		panic(failure(fmt.Sprintf("%s takes %d arguments", c.Fn, ft.NumIn()-1)))
	}
	x := &call{m: m, keep: make([]any, 0, 8)}
	values := make([]reflect.Value, ft.NumIn())
	values[0] = reflect.Zero(ft.In(0))
	for i, a := range c.Args {
		x.param = sym.Params[i].Name
		values[i+1] = x.value(ft.In(i+1), a)
	}
	// What the call reads may be used when its work runs, long after it.
	m.mu.Lock()
	m.keep = append(m.keep, x.keep...)
	m.mu.Unlock()
	r := driver.CUresult(f.Call(values)[0].Uint())
	var b strings.Builder
	b.WriteString(r.String())
	for _, o := range x.outs {
		s := o.show()
		if s != "" {
			fmt.Fprintf(&b, " %s=%s", o.param, s)
		}
	}
	runtime.KeepAlive(values)
	return b.String()
}

// statement runs a line that is no call.
func (m *Machine) statement(c Call) string {
	number := func(i int) uint64 {
		if i >= len(c.Args) {
			panic(failure("too short"))
		}
		n, err := strconv.ParseUint(c.Args[i], 0, 32)
		if err != nil {
			panic(failure(err.Error()))
		}
		return n
	}
	place := func(i int) *uint32 {
		if i >= len(c.Args) {
			panic(failure("too short"))
		}
		return (*uint32)(pointer(m.address(c.Args[i])))
	}
	switch c.Fn {
	case "set":
		atomic.StoreUint32(place(0), uint32(number(1)))
	case "later":
		p, n, ms := place(1), uint32(number(2)), min(number(0), 1000)
		m.timers.Add(1)
		time.AfterFunc(time.Duration(ms)*time.Millisecond, func() {
			defer m.timers.Done()
			atomic.StoreUint32(p, n)
		})
	case "show":
		return fmt.Sprintf("%x", unsafe.Slice(place(0), min(number(1), 64)))
	case "callbacks":
		return fmt.Sprint(m.calls.Load())
	default:
		panic(failure("no statement " + c.Fn))
	}
	return "done"
}

// pointer is an address that a call gave, or of memory that is pinned.
func pointer(n uint64) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&n)) }

// variable is a name with an offset.
func (m *Machine) address(s string) uint64 {
	name, off, _ := strings.Cut(s, "+")
	var n uint64
	if off != "" {
		var err error
		if n, err = strconv.ParseUint(off, 0, 64); err != nil {
			panic(failure(err.Error()))
		}
	}
	if name == "h" {
		if n > hostSize {
			panic(failure("beyond the host memory"))
		}
		return uint64(uintptr(unsafe.Pointer(&m.host.Bytes()[0]))) + n
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	v, ok := m.vars[name]
	if !ok {
		panic(undefined{})
	}
	return v + n
}

func (m *Machine) define(name string, v uint64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if v == 0 {
		delete(m.vars, name)
		return
	}
	m.vars[name] = v
	m.names[v] = name
}

// nameOf is the name of a handle, or an address, that an earlier call gave.
func (m *Machine) nameOf(v uint64) string {
	if v == 0 {
		return "NULL"
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if n, ok := m.names[v]; ok {
		return n
	}
	return "new"
}

// call is a call that is being made.
type call struct {
	m     *Machine
	param string
	outs  []out
	keep  []any
}

// out is an output to look at after the call.
type out struct {
	param string
	show  func() string
}

func (x *call) out(show func() string) { x.outs = append(x.outs, out{x.param, show}) }

// memory is poisoned, or zero, memory that C may keep the address of.
func (x *call) memory(t reflect.Type, fill byte) reflect.Value {
	v := reflect.New(t)
	x.m.mu.Lock()
	x.m.pins.Pin(v.UnsafePointer())
	x.m.mu.Unlock()
	x.keep = append(x.keep, v.Interface())
	b := unsafe.Slice((*byte)(v.UnsafePointer()), t.Size())
	for i := range b {
		b[i] = fill
	}
	return v
}

func untouched(v reflect.Value) bool {
	for _, b := range unsafe.Slice((*byte)(v.UnsafePointer()), v.Type().Elem().Size()) {
		if b != poison {
			return false
		}
	}
	return true
}

var unsafePointer = reflect.TypeFor[unsafe.Pointer]()

// value makes an argument, or a field of a struct, of its text.
func (x *call) value(t reflect.Type, s string) reflect.Value {
	switch {
	case s == "NULL":
		return reflect.Zero(t)
	case s == "fn":
		return x.callback(t)
	case strings.HasPrefix(s, "&"):
		return x.output(t, s[1:])
	case strings.HasPrefix(s, "{") && strings.HasSuffix(s, "}"):
		if t.Kind() != reflect.Pointer {
			panic(failure("a struct for " + t.String()))
		}
		v := x.memory(t.Elem(), 0)
		x.fields(v, s[1:len(s)-1])
		return v
	case strings.HasPrefix(s, "<") && strings.HasSuffix(s, ">"):
		v := x.memory(t, 0)
		x.fields(v, s[1:len(s)-1])
		return v.Elem()
	case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
		if t.Kind() != reflect.Pointer {
			panic(failure("a list for " + t.String()))
		}
		parts := split(s[1:len(s)-1], ' ')
		a := x.memory(reflect.ArrayOf(max(len(parts), 1), t.Elem()), 0)
		for i, p := range parts {
			a.Elem().Index(i).Set(x.value(t.Elem(), p))
		}
		return reflect.NewAt(t.Elem(), a.UnsafePointer())
	case strings.HasPrefix(s, "k("):
		return x.params(t, split(strings.TrimSuffix(s[2:], ")"), ' '))
	case strings.HasPrefix(s, "@"):
		text, ok := images[s[1:]]
		if !ok || t != unsafePointer {
			panic(failure("no image " + s))
		}
		b := append([]byte(text), make([]byte, 64)...)
		x.keep = append(x.keep, b)
		return reflect.ValueOf(unsafe.Pointer(&b[0]))
	case strings.HasPrefix(s, "u4:"), strings.HasPrefix(s, "u8:"):
		n := x.number(s[3:])
		if s[1] == '4' {
			v := x.memory(reflect.TypeFor[uint32](), 0)
			v.Elem().SetUint(uint64(uint32(n)))
			return reflect.ValueOf(v.UnsafePointer())
		}
		v := x.memory(reflect.TypeFor[uint64](), 0)
		v.Elem().SetUint(n)
		return reflect.ValueOf(v.UnsafePointer())
	case strings.HasPrefix(s, `"`) && strings.HasSuffix(s, `"`) && len(s) > 1:
		b := append([]byte(s[1:len(s)-1]), 0)
		x.keep = append(x.keep, b)
		x.m.mu.Lock()
		x.m.pins.Pin(&b[0])
		x.m.mu.Unlock()
		if t != reflect.TypeFor[*byte]() {
			panic(failure("a text for " + t.String()))
		}
		return reflect.ValueOf(&b[0])
	}
	switch t.Kind() {
	case reflect.Float32, reflect.Float64:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil {
			panic(failure(err.Error()))
		}
		return reflect.ValueOf(f).Convert(t)
	case reflect.UnsafePointer:
		return reflect.ValueOf(pointer(x.m.address(s)))
	case reflect.Pointer:
		return reflect.NewAt(t.Elem(), pointer(x.m.address(s)))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint, reflect.Uint8,
		reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Uintptr:
		return reflect.ValueOf(x.number(s)).Convert(t)
	}
	panic(failure("no value of " + t.String() + ": " + s))
}

// number is a number or an address.
func (x *call) number(s string) uint64 {
	if s != "" && (s[0] >= '0' && s[0] <= '9' || s[0] == '-') {
		if n, err := strconv.ParseInt(s, 0, 64); err == nil {
			return uint64(n)
		}
		n, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			panic(failure(err.Error()))
		}
		return n
	}
	return x.m.address(s)
}

// fields sets fields of the struct that v points to.
func (x *call) fields(v reflect.Value, s string) {
	for _, part := range split(s, ' ') {
		path, text, ok := strings.Cut(part, ":")
		if !ok {
			panic(failure("no field: " + part))
		}
		at := v
		for _, name := range strings.Split(path, ".") {
			at = member(at, name)
		}
		if text == "fn" && at.Type().Elem().Kind() == reflect.Uintptr {
			// A C function with its own argument, in a field each.
			fn, data, _ := x.m.table.HostFunc(func() { x.m.calls.Add(1) })
			at.Elem().SetUint(uint64(fn))
			member(v, "UserData").Elem().SetUint(uint64(data))
			continue
		}
		at.Elem().Set(x.value(at.Type().Elem(), text))
	}
}

// member is a pointer to a field of the struct that v points to, to an element of an array, or what a method for a part
// of a union gives.
func member(v reflect.Value, name string) reflect.Value {
	if v.Elem().Kind() == reflect.Array {
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < v.Elem().Len() {
			return v.Elem().Index(i).Addr()
		}
	}
	if f := v.MethodByName(name); f.IsValid() && f.Type().NumIn() == 0 && f.Type().NumOut() == 1 {
		return f.Call(nil)[0]
	}
	if v.Elem().Kind() == reflect.Struct {
		if f := v.Elem().FieldByName(name); f.IsValid() {
			return f.Addr()
		}
	}
	panic(failure("no field " + name + " in " + v.Type().String()))
}

// params are kernel parameters: a variable is 8 bytes, a number 4.
func (x *call) params(t reflect.Type, list []string) reflect.Value {
	if t != reflect.TypeFor[*unsafe.Pointer]() {
		panic(failure("parameters for " + t.String()))
	}
	a := x.memory(reflect.ArrayOf(len(list)+1, unsafePointer), 0)
	for i, s := range list {
		n := x.number(s)
		v := x.memory(reflect.TypeFor[uint64](), 0)
		v.Elem().SetUint(n)
		a.Elem().Index(i).Set(reflect.ValueOf(v.UnsafePointer()))
	}
	return reflect.NewAt(unsafePointer, a.UnsafePointer())
}

// callback is a Go function of a callback's type that counts its calls.
func (x *call) callback(t reflect.Type) reflect.Value {
	if t.Kind() == reflect.Struct {
		if f, ok := t.FieldByName("Go"); ok {
			v := reflect.New(t).Elem()
			v.FieldByName("Go").Set(reflect.MakeFunc(f.Type, func([]reflect.Value) []reflect.Value {
				x.m.calls.Add(1)
				r := make([]reflect.Value, f.Type.NumOut())
				for i := range r {
					r[i] = reflect.Zero(f.Type.Out(i))
				}
				return r
			}))
			return v
		}
	}
	panic(failure("a callback for " + t.String()))
}

// output makes the argument of an output and says how to show it.
func (x *call) output(t reflect.Type, s string) reflect.Value {
	shown := func(v reflect.Value, show func() string) {
		x.out(func() string {
			if untouched(v) {
				return "untouched"
			}
			return show()
		})
	}
	if t == unsafePointer {
		var v reflect.Value
		switch {
		case s == "u4":
			v = x.memory(reflect.TypeFor[uint32](), poison)
		case s == "u8":
			v = x.memory(reflect.TypeFor[uint64](), poison)
		case s == "w4":
			v = x.memory(reflect.TypeFor[[4]uint32](), poison)
			shown(v, func() string { return fmt.Sprintf("%x", v.Elem().Interface()) })
			return reflect.ValueOf(v.UnsafePointer())
		case s == "_":
			v = x.memory(reflect.TypeFor[[64]uint64](), poison)
			shown(v, func() string { return "set" })
			return reflect.ValueOf(v.UnsafePointer())
		default:
			panic(failure("no output &" + s))
		}
		shown(v, func() string { return fmt.Sprint(v.Elem().Interface()) })
		return reflect.ValueOf(v.UnsafePointer())
	}
	if t.Kind() != reflect.Pointer {
		panic(failure("an output for " + t.String()))
	}
	switch {
	case s == "":
		v := x.memory(t.Elem(), poison)
		shown(v, func() string { return x.show(v.Elem()) })
		return v
	case s == "_":
		v := x.memory(t.Elem(), poison)
		shown(v, func() string { return "set" })
		return v
	case s == "f":
		v := x.memory(t.Elem(), poison)
		shown(v, func() string { return x.showFields(v.Elem()) })
		return v
	case strings.HasPrefix(s, "+"):
		v := x.memory(t.Elem(), poison)
		x.out(func() string {
			if untouched(v) || !defines(v.Elem().Kind()) {
				return "untouched"
			}
			n := number(v.Elem())
			x.m.define(s[1:], n)
			if n == 0 {
				return "NULL"
			}
			return ""
		})
		return v
	case strings.HasPrefix(s, "="):
		v := x.memory(t.Elem(), 0)
		v.Elem().Set(x.value(t.Elem(), s[1:]))
		x.out(func() string { return x.show(v.Elem()) })
		return v
	case strings.HasPrefix(s, "["):
		n, err := strconv.Atoi(strings.Trim(s, "[]"))
		if err != nil || n < 1 || n > 1024 {
			panic(failure("no array &" + s))
		}
		v := x.memory(reflect.ArrayOf(n, t.Elem()), poison)
		shown(v, func() string { return x.show(v.Elem()) })
		return reflect.NewAt(t.Elem(), v.UnsafePointer())
	}
	panic(failure("no output &" + s))
}

func defines(k reflect.Kind) bool {
	return k == reflect.Uintptr || k == reflect.Uint64 || k == reflect.Uint32 || k == reflect.UnsafePointer
}

func number(v reflect.Value) uint64 {
	if v.Kind() == reflect.UnsafePointer {
		return uint64(v.Pointer())
	}
	return v.Uint()
}

func isHandle(t reflect.Type) bool {
	switch t {
	case reflect.TypeFor[driver.CUdeviceptr](), reflect.TypeFor[driver.CUmemGenericAllocationHandle](),
		reflect.TypeFor[driver.CUgraphConditionalHandle](), reflect.TypeFor[driver.CUtexObject](),
		reflect.TypeFor[driver.CUsurfObject]():
		return true
	}
	return t.Kind() == reflect.Uintptr
}

func (x *call) show(v reflect.Value) string {
	t := v.Type()
	switch {
	case isHandle(t):
		return x.m.nameOf(v.Uint())
	case v.Kind() == reflect.UnsafePointer:
		return x.m.nameOf(uint64(v.Pointer()))
	case t == reflect.TypeFor[*byte]():
		if v.IsNil() {
			return "NULL"
		}
		return strconv.Quote(driver.String(v.Interface().(*byte)))
	case v.Kind() == reflect.Pointer:
		return "pointer"
	case v.CanFloat():
		return strconv.FormatFloat(v.Float(), 'g', -1, 32)
	case v.CanInt(), v.CanUint():
		return fmt.Sprint(v.Interface())
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
			if untouched(v.Index(i).Addr()) {
				parts[i] = "-"
				continue
			}
			parts[i] = x.show(v.Index(i))
		}
		if isHandle(t.Elem()) {
			slices.Sort(parts) // no order is documented
		}
		return "[" + strings.Join(parts, " ") + "]"
	case v.Kind() == reflect.Struct:
		return x.showFields(v)
	}
	return "?"
}

// showFields shows a struct: what the call has left alone, what is zero and what is reserved is not there. Pointers
// show whether they are NULL.
func (x *call) showFields(v reflect.Value) string {
	if v.Kind() != reflect.Struct {
		return x.show(v)
	}
	var parts []string
	for i := range v.NumField() {
		f, field := v.Field(i), v.Type().Field(i)
		switch {
		case !field.IsExported() || strings.HasPrefix(field.Name, "Reserved") ||
			strings.Contains(field.Name, "adding") || untouched(f.Addr()):
		case f.IsZero():
		case f.Kind() == reflect.Pointer, f.Kind() == reflect.UnsafePointer, f.Type() == reflect.TypeFor[uintptr]():
			parts = append(parts, field.Name+"=set")
		case f.Kind() == reflect.Struct:
			parts = append(parts, field.Name+"="+x.showFields(f))
		default:
			parts = append(parts, field.Name+"="+x.show(f))
		}
	}
	return "{" + strings.Join(parts, " ") + "}"
}
