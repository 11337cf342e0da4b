package main

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
)

const apidocDir = "internal/apidoc"

// writeAPIDoc makes the data of package apidoc: an object a line for each function, by its C symbol.
func writeAPIDoc(m *Model, out output) error {
	d := &dialect{m: m, cu: true}
	type param struct {
		Name  string `json:"name"`
		Type  string `json:"type"`
		Place string `json:"place,omitempty"`
		Words string `json:"words"`
	}
	type function struct {
		C         string   `json:"c"`
		Prototype string   `json:"prototype"`
		Go        string   `json:"go"`
		Signature string   `json:"signature"`
		Params    []param  `json:"params"`
		Results   []string `json:"results"`
	}
	var all []function
	for _, n := range m.cuNames() {
		if n.forOf != "" {
			continue
		}
		s := d.signature(n.f)
		f := function{C: n.f.Name, Prototype: cPrototype(n.f), Go: n.name, Results: n.f.Results, Params: []param{},
			Signature: "func(" + strings.Join(s.params, ", ") + ") (" +
				strings.Join(append(slices.Clone(s.results), "err error"), ", ") + ")"}
		for i, p := range n.f.Params {
			text, err := m.Words.of(n.f, p)
			if err != nil {
				return err
			}
			f.Params = append(f.Params, param{p.Name, p.Type, s.places[i], text})
		}
		all = append(all, f)
	}
	slices.SortFunc(all, func(a, b function) int { return strings.Compare(a.C, b.C) })
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	for i := range all {
		if err := e.Encode(&all[i]); err != nil {
			return err
		}
	}
	out[apidocDir+"/zz_generated_functions.json"] = b.Bytes()
	return nil
}
