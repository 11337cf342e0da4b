package main

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gocuda/cuda/internal/apidoc"
	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/softdev"
)

type docCmd struct {
	Name string `arg:"" help:"The function: cuModuleLoadDataEx, or as package cu calls it."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// documented is a function and what the software device does with it.
type documented struct {
	*apidoc.Function
	Software support `json:"software"`
}

// support is what the software device does with a function.
type support struct {
	Does     bool   `json:"does"`               // it does more than answer CUDA_ERROR_NOT_SUPPORTED
	Recorded bool   `json:"recorded"`           // the driver whose answers are recorded has the function
	Note     string `json:"note,omitempty"`     // what of it is left out, or why all
	Needs    string `json:"needs,omitempty"`    // the value of GOCUDA_DRIVER_VERSION that it takes
	Variable string `json:"variable,omitempty"` // its name
}

func (c *docCmd) Run(con *console) error {
	f, err := apidoc.Find(c.Name)
	if err != nil {
		return hint(err, "docs/names.md has all functions")
	}
	d, err := softdev.Open(softdev.Options{DriverVersion: driver.CUDA_VERSION})
	if err != nil {
		return err
	}
	defer d.Close()
	s, _ := d.Support(f.C)
	doc := documented{f, support{Does: s.Implemented, Recorded: s.Recorded, Note: s.Note}}
	if !s.Recorded {
		doc.Software.Needs, doc.Software.Variable = f.Since, "GOCUDA_DRIVER_VERSION"
	}
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		return e.Encode(doc)
	}
	fmt.Fprint(con.out, doc.text())
	return nil
}

// text is the page for people.
func (d *documented) text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n\nGo      cu.%s, and the method of cu.API\n        %s\n", d.Prototype, d.Go, d.Signature)
	if d.Cuda != "" {
		fmt.Fprintf(&b, "cuda    %s\n", strings.ReplaceAll(d.Cuda, "`", ""))
	}
	since := "not recorded"
	if d.Since != "" {
		since = "CUDA " + d.Since
	}
	if d.Deprecated {
		since += ", deprecated"
	}
	if d.Current != "" {
		since += "; the headers mean " + d.Current + " by the plain name"
	}
	fmt.Fprintf(&b, "since   %s\nfrom    %s, group %s\n", since, d.Header, d.Group)
	state := "does it"
	if !d.Software.Does {
		state = "answers CUDA_ERROR_NOT_SUPPORTED"
	}
	if d.Software.Note != "" {
		state += ": " + d.Software.Note
	}
	fmt.Fprintf(&b, "the software device %s\n", state)
	if d.Software.Needs != "" {
		fmt.Fprintf(&b, "        with %s=%s or newer; no driver's answers are recorded\n", d.Software.Variable,
			d.Software.Needs)
	}
	if len(d.Params) > 0 {
		fmt.Fprint(&b, "\nParameters\n")
	}
	for _, p := range d.Params {
		place := ""
		if p.Place != "" {
			place = " (" + p.Place + ")"
		}
		fmt.Fprintf(&b, "  %s %s%s\n      %s\n", p.Type, p.Name, place, p.Words)
	}
	if len(d.Results) > 0 {
		fmt.Fprintf(&b, "\nDocumented results\n  %s\n", strings.Join(d.Results, "\n  "))
	}
	return b.String()
}
