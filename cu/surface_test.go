package cu

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"reflect"
	"strings"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/driver/apitest"
)

// surface is what the package exports, read from its source.
type surface struct {
	types, consts map[string]bool
	funcs         map[string]*ast.FuncDecl // package-level
	methods       map[string]*ast.FuncDecl // of API
}

func readSurface(t *testing.T) *surface {
	t.Helper()
	s := &surface{map[string]bool{}, map[string]bool{}, map[string]*ast.FuncDecl{}, map[string]*ast.FuncDecl{}}
	fset := token.NewFileSet()
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		file, err := parser.ParseFile(fset, f.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if d.Recv == nil {
					s.funcs[d.Name.Name] = d
				} else if id, ok := d.Recv.List[0].Type.(*ast.Ident); ok && id.Name == "API" {
					s.methods[d.Name.Name] = d
				}
			case *ast.GenDecl:
				for _, sp := range d.Specs {
					switch sp := sp.(type) {
					case *ast.TypeSpec:
						s.types[sp.Name.Name] = true
					case *ast.ValueSpec:
						for _, n := range sp.Names {
							s.consts[n.Name] = true
						}
					}
				}
			}
		}
	}
	return s
}

func exportedName(c string) string {
	return strings.ToUpper(c[:1]) + c[1:]
}

func TestEveryFunctionIsThere(t *testing.T) {
	api, s := apitest.Load(t), readSurface(t)
	symbols, bases := 0, map[string]bool{}
	both := func(name, of string) {
		if s.methods[name] == nil {
			t.Errorf("%s: no method API.%s", of, name)
		}
		if s.funcs[name] == nil {
			t.Errorf("%s: no function %s", of, name)
		}
	}
	for _, f := range api.Functions {
		bases[f.Base] = true
		if f.Variant != "" {
			continue
		}
		symbols++
		name, ok := symbolNames[f.Name]
		if !ok {
			t.Errorf("%s has no name here", f.Name)
			continue
		}
		both(name, f.Name)
		if strings.HasPrefix(f.Name, f.Base+"_v") {
			both(strings.TrimPrefix(f.Name, "cu"), f.Name) // the explicit name too
		}
		d := s.methods[name]
		if d == nil {
			continue
		}
		doc := d.Doc.Text()
		for _, want := range []string{f.Name, f.Group, "error"} {
			if want != "error" && !strings.Contains(doc, want) {
				t.Errorf("the documentation of %s does not name %s", name, want)
			}
		}
		for _, p := range f.Params { // a meaning, or where it went and then the meaning
			if !strings.Contains(doc, "  - "+p.Name+": ") && !strings.Contains(doc, "  - "+p.Name+" (") {
				t.Errorf("the documentation of %s does not say what %s means", name, p.Name)
			}
		}
		if strings.Contains(doc, "Deprecated:") != f.Deprecated {
			t.Errorf("%s: deprecated %t", name, f.Deprecated)
		}
	}
	for b := range bases {
		both(strings.TrimPrefix(b, "cu"), b)
	}
	if symbols != 616 || len(bases) != 516 {
		t.Errorf("%d symbols, %d bases; the headers have 616 and 516", symbols, len(bases))
	}
	for name := range s.methods {
		switch name {
		case "In", "Context", "Table", "PerThread", "HostFunc", "fn", "missing", "result", "notSupported": // ours
		default:
			if s.funcs[name] == nil {
				t.Errorf("API.%s has no package-level form", name)
			}
		}
	}
}

func TestEveryTypeConstantAndMacroIsThere(t *testing.T) {
	api, s := apitest.Load(t), readSurface(t)
	types := 0
	for _, td := range api.Typedefs {
		switch td.Name {
		case "cuuint32_t", "cuuint64_t": // Go's uint32 and uint64
			continue
		}
		types++
		if !s.types[exportedName(td.Name)] {
			t.Errorf("no type %s", td.Name)
		}
	}
	for m := range api.Macros {
		if !s.consts[m] {
			t.Errorf("no constant %s", m)
		}
	}
	if n := api.CheckEnums(t, enumValues); n != 1122 {
		t.Errorf("%d enumeration constants", n)
	}
	if n := api.CheckRecords(t, recordTypes); n != 1054 {
		t.Errorf("%d members compared", n)
	}
	if types != 346 || len(api.Macros) != 74 {
		t.Errorf("%d typedefs, %d macros", types, len(api.Macros))
	}
	if CUDA_VERSION != 13050 || CU_STREAM_PER_THREAD != CUstream(2) || CU_DEVICE_INVALID != CUdevice(-2) ||
		CU_PARAM_TR_DEFAULT != -1 || CU_KERNEL_NODE_ATTRIBUTE_PRIORITY != CU_LAUNCH_ATTRIBUTE_PRIORITY {
		t.Error("a macro has a wrong value")
	}
}

// A function that returned CUresult, or put one into an error itself, would make err != nil true for success.
func TestNoResultEscapesAsError(t *testing.T) {
	s := readSurface(t)
	for _, set := range []map[string]*ast.FuncDecl{s.funcs, s.methods} {
		for name, d := range set {
			if !ast.IsExported(name) || d.Type.Results == nil {
				continue
			}
			var last ast.Expr
			for _, r := range d.Type.Results.List {
				last = r.Type
				if id, ok := r.Type.(*ast.Ident); ok && (id.Name == "CUresult" || id.Name == "Result") {
					t.Errorf("%s returns %s", name, id.Name)
				}
			}
			switch name {
			case "New", "NewJITOptions", "In", "Context", "Table", "PerThread":
				continue
			}
			if id, ok := last.(*ast.Ident); !ok || id.Name != "error" {
				t.Errorf("%s does not return an error last", name)
			}
		}
	}
}

// Every method answers a success as nil and a failure as the code, whatever its shape.
func TestEveryMethodMapsTheResult(t *testing.T) {
	table := new(driver.Table)
	code := driver.CUDA_ERROR_NOT_FOUND
	calls := 0
	tv := reflect.ValueOf(table).Elem()
	for i := range driver.NumSymbols {
		f := tv.Field(i)
		f.Set(reflect.MakeFunc(f.Type(), func([]reflect.Value) []reflect.Value {
			calls++
			return []reflect.Value{reflect.ValueOf(code)}
		}))
	}
	api := New(table).In(5)
	av := reflect.ValueOf(api)
	at := av.Type()
	seen := 0
	for i := range at.NumMethod() {
		m := at.Method(i)
		switch m.Name {
		case "In", "Context", "Table", "PerThread", "HostFunc":
			continue
		}
		seen++
		args := []reflect.Value{av}
		for j := 1; j < m.Type.NumIn(); j++ {
			args = append(args, reflect.Zero(m.Type.In(j)))
		}
		for _, c := range []driver.CUresult{driver.CUDA_SUCCESS, driver.CUDA_ERROR_NOT_FOUND} {
			code = c
			before := calls
			out := m.Func.Call(args)
			err := out[len(out)-1].Interface()
			if calls != before+1 {
				t.Errorf("%s called %d functions", m.Name, calls-before)
			}
			if c == driver.CUDA_SUCCESS && err != nil {
				t.Errorf("%s turns success into %v", m.Name, err)
			}
			if c != driver.CUDA_SUCCESS && err != error(CUDA_ERROR_NOT_FOUND) {
				t.Errorf("%s turns %v into %v", m.Name, c, err)
			}
		}
	}
	// 616 symbols, 88 plain names beside the versioned symbol they stand for
	if seen != 704 {
		t.Errorf("%d methods", seen)
	}
}

func TestLayoutsOfBothPackagesAgree(t *testing.T) {
	for tag, typ := range recordTypes {
		if typ.Size() == 0 {
			t.Errorf("%s is empty", tag)
		}
	}
	for _, p := range [][2]reflect.Type{
		{reflect.TypeFor[CUdeviceptr](), reflect.TypeFor[driver.CUdeviceptr]()},
		{reflect.TypeFor[CUgraphNode](), reflect.TypeFor[driver.CUgraphNode]()},
		{reflect.TypeFor[CUDA_MEMCPY3D](), reflect.TypeFor[driver.CUDA_MEMCPY3D]()},
		{reflect.TypeFor[CUgraphNodeParams](), reflect.TypeFor[driver.CUgraphNodeParams]()},
		{reflect.TypeFor[CUlaunchAttributeValue](), reflect.TypeFor[driver.CUlaunchAttributeValue]()},
		{reflect.TypeFor[CUtensorMap](), reflect.TypeFor[driver.CUtensorMap]()},
		{reflect.TypeFor[CUjit_option](), reflect.TypeFor[driver.CUjit_option]()},
	} {
		if p[0].Size() != p[1].Size() || p[0].Align() != p[1].Align() {
			t.Errorf("%s: %d/%d bytes here, %d/%d in driver", p[0], p[0].Size(), p[0].Align(), p[1].Size(),
				p[1].Align())
		}
	}
}

// A function that is newer than the driver says both versions, and is CUDA_ERROR_NOT_SUPPORTED all the same.
func TestNewerThanTheDriver(t *testing.T) {
	table := new(driver.Table)
	table.FillNotSupported()
	table.DriverGetVersion = func(_ driver.CUcontext, v *int32) driver.CUresult {
		*v = 12020
		return driver.CUDA_SUCCESS
	}
	_, err := New(table).GraphGetId(0)
	var missing *MissingError
	if !errors.As(err, &missing) || missing.Since != 13010 || missing.Have != 12020 ||
		!errors.Is(err, CUDA_ERROR_NOT_SUPPORTED) ||
		err.Error() != "cuGraphGetId needs a driver for CUDA 13.1 or newer; this one is of 12.2" {
		t.Errorf("%v", err)
	}
	if err := New(table).GraphDestroy(0); err != error(CUDA_ERROR_NOT_SUPPORTED) {
		t.Errorf("a function that the driver has: %v", err)
	}
}
