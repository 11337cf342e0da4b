package main

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"sort"
	"strings"
)

// CudartAPI is the content of api/cudart-13.0.json, or of api/cudart-12.9.json, which has what differs in CUDA 12;
// api/README.md says what each field means.
type CudartAPI struct {
	API
	CudartFunctions []*CudartFunction   `json:"functions"`
	ErrorStrings    map[string][]string `json:"error_strings"`
	Absent          []string            `json:"absent_functions"`
}

// CudartFunction is a function of the runtime API.
type CudartFunction struct {
	Function
	VariantSymbol string `json:"variant_symbol"` // its form with per-thread default stream
	Driver        string `json:"driver"`         // the driver's function that does just this with these arguments
	Context       *bool  `json:"context"`        // false: the function works without a context
	Same          string `json:"same"`           // in 12.9: the function of 13.0 with this signature
}

// Cudart is the runtime API of both versions with names resolved.
type Cudart struct {
	V13, V12 *CudartAPI
	Models   map[int]*Model // by major version, with all that the version has
	Calls    []*CudartCall  // sorted by method
	ByName   [2]map[string]*CudartFunction
}

// CudartCall is a function of the runtime in Go: a method, which C functions of one version or both call.
type CudartCall struct {
	Method string
	F      *CudartFunction
	Number int
}

func loadCudart(dir string) (*Cudart, error) {
	c := &Cudart{V13: new(CudartAPI), V12: new(CudartAPI), Models: map[int]*Model{}}
	for name, into := range map[string]*CudartAPI{"cudart-13.0.json": c.V13, "cudart-12.9.json": c.V12} {
		b, err := os.ReadFile(dir + "/" + name)
		if err != nil {
			return nil, err
		}
		if err := json.Unmarshal(b, into); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	var err error
	if c.Models[13], err = cudartModel(&c.V13.API, nil); err != nil {
		return nil, err
	}
	if c.Models[12], err = cudartModel(&c.V12.API, &c.V13.API); err != nil {
		return nil, err
	}
	for tag, r := range c.Models[12].RecByC {
		if c.Models[13].RecByC[tag] == nil {
			c.Models[13].RecByC[tag] = r
		}
	}
	// A constant of an enumeration has the name.
	c.Models[13].RecByC["cudalibraryHostUniversalFunctionAndDataTable"].GoName = "HostUniversalFunctionAndDataTable"
	for _, r := range c.Models[12].Records {
		if tag, _, _ := strings.Cut(r.CName, "::"); c.V12.Records[tag] != nil {
			r.GoName += "_v12"
		}
	}
	return c, c.resolve()
}

// cudartModel lays out the records of one version; base has what the version does not list itself.
func cudartModel(api, base *API) (*Model, error) {
	all := *api
	if base != nil {
		all.Records = map[string]*JSONRecord{}
		for tag, r := range base.Records {
			all.Records[tag] = r
		}
		for tag, r := range api.Records {
			all.Records[tag] = r
		}
		all.Typedefs = slices.Concat(base.Typedefs, api.Typedefs)
		all.Enums = nil
		for _, e := range base.Enums {
			if i := slices.IndexFunc(api.Enums, func(x *Enum) bool { return x.Tag == e.Tag }); i >= 0 {
				e = api.Enums[i]
			}
			all.Enums = append(all.Enums, e)
		}
	}
	m := &Model{API: &all, Types: map[string]*Type{}, RecByC: map[string]*Record{}, EnumGo: map[string]string{},
		byTypedef: map[string]string{}}
	for _, t := range all.Typedefs {
		for _, kind := range []string{"struct ", "union "} {
			if tag, ok := strings.CutPrefix(t.Type, kind); ok && !strings.Contains(tag, "*") {
				m.byTypedef[t.Name] = tag
			}
		}
	}
	tags := make([]string, 0, len(all.Records))
	for tag, jr := range all.Records {
		tags = append(tags, tag)
		m.RecByC[tag] = &Record{GoName: cudartGoName(strings.TrimSuffix(tag, "_st")), CName: tag,
			Union: jr.Kind == "union", Size: jr.Size, Align: jr.Align, Header: jr.Header}
	}
	// Those of vector_types.h, which others write.
	m.RecByC["dim3"] = &Record{GoName: "Dim3", CName: "dim3", Size: 12, Align: 4}
	sort.Strings(tags)
	for _, tag := range tags {
		r := m.RecByC[tag]
		m.Records = append(m.Records, r)
		if _, err := m.tree(r, all.Records[tag].Fields, 1, 0); err != nil {
			return nil, fmt.Errorf("%s: %w", tag, err)
		}
	}
	return m, nil
}

// cudartGoName is a C name without the prefix that the package is named after.
func cudartGoName(name string) string {
	for _, p := range []string{"cuda", "CUDA", "CU"} {
		if s, ok := strings.CutPrefix(name, p); ok && s != "" {
			return export(s)
		}
	}
	return export(name)
}

// resolve makes the list of calls out of the functions of both versions.
func (c *Cudart) resolve() error {
	c.ByName = [2]map[string]*CudartFunction{{}, {}}
	for _, f := range c.V13.CudartFunctions {
		c.ByName[1][f.Name] = f
		c.Calls = append(c.Calls, &CudartCall{Method: cudartGoName(f.Name), F: f})
	}
	for _, f := range c.V12.CudartFunctions {
		c.ByName[0][f.Name] = f
		if f.Same != "" {
			if c.ByName[1][f.Same] == nil {
				return fmt.Errorf("%s is the same as %s, which 13.0 does not have", f.Name, f.Same)
			}
			continue
		}
		method := cudartGoName(f.Name)
		if c.ByName[1][f.Name] != nil {
			method += "_v1" // another signature in 13.0
		}
		c.Calls = append(c.Calls, &CudartCall{Method: method, F: f})
	}
	for _, f := range c.V13.CudartFunctions {
		if c.ByName[0][f.Name] == nil && !slices.Contains(c.V12.Absent, f.Name) {
			c.ByName[0][f.Name] = f
		}
	}
	sort.Slice(c.Calls, func(i, j int) bool { return c.Calls[i].Method < c.Calls[j].Method })
	for i, call := range c.Calls {
		call.Number = i
		if i > 0 && c.Calls[i-1].Method == call.Method {
			return fmt.Errorf("two functions of the runtime are method %s", call.Method)
		}
	}
	return nil
}

// call is the call that a function of a version makes.
func (c *Cudart) call(f *CudartFunction) *CudartCall {
	if f.Same != "" {
		f = c.ByName[1][f.Same]
	}
	i := slices.IndexFunc(c.Calls, func(x *CudartCall) bool { return x.F == f })
	return c.Calls[i]
}

// functions are the functions of a major version by name.
func (c *Cudart) functions(major int) []*CudartFunction {
	var list []*CudartFunction
	for _, f := range c.ByName[major-12] {
		list = append(list, f)
	}
	sort.Slice(list, func(i, j int) bool { return list[i].Name < list[j].Name })
	return list
}

// exported are the symbols of a version's library.
func (c *Cudart) exported(major int) []string {
	if major == 12 {
		return c.V12.ExportedSymbols
	}
	return c.V13.ExportedSymbols
}
