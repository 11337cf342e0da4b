package main

import (
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/gocuda/cuda/internal/exec/interp"
	"github.com/gocuda/cuda/internal/image"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/hostobj"
	"github.com/gocuda/cuda/internal/ir"
	"github.com/gocuda/cuda/internal/ptx"
	"github.com/gocuda/cuda/internal/ptx/check"
)

type inspectCmd struct {
	File string `arg:"" help:"PTX, cubin, fatbin, Tile IR, host object, archive or program."`
	Text bool   `help:"Print the operations of Tile IR, as tileirdisasm does."`
	JSON bool   `name:"json" help:"Print JSON."`
}

// ptxModule describes a PTX text; the same facts whichever container it came from.
type ptxModule struct {
	Where     string        `json:"where,omitempty"` // container and entry, "" for a bare text
	Version   string        `json:"version"`
	Target    []string      `json:"target"`
	Problem   string        `json:"problem,omitempty"`
	Kernels   []ptxKernel   `json:"kernels"`
	Functions []string      `json:"functions,omitempty"`
	Externs   []string      `json:"externs,omitempty"`
	Globals   []ptxVariable `json:"globals,omitempty"`
}

type ptxKernel struct {
	Name          string     `json:"name"`
	Params        []ir.Param `json:"params"`
	VirtualRegs   int        `json:"virtual_registers"`
	StaticShared  uint32     `json:"static_shared"`
	DynamicShared bool       `json:"uses_dynamic_shared,omitempty"`
	Local         uint32     `json:"local"`
	Instructions  int        `json:"instructions"`
	Attributes    []string   `json:"attributes,omitempty"`
	Problem       string     `json:"problem,omitempty"`
}

type ptxVariable struct {
	Name  string `json:"name"`
	Space string `json:"space"`
	Size  uint64 `json:"size"`
	Align uint64 `json:"align"`
	Init  bool   `json:"initialised,omitempty"`
}

type inspection struct {
	*image.Report
	Modules []ptxModule  `json:"ptx_modules,omitempty"`
	Tiles   []tileModule `json:"tile_modules,omitempty"`
}

func (c *inspectCmd) Run(con *console) error {
	data, err := readFile(c.File)
	if err != nil {
		return hint(err, "a file that exists")
	}
	if len(data) == 0 {
		return hint(fmt.Errorf("%s is empty", c.File), "a PTX, cubin, fatbin, Tile IR, object, archive or program file")
	}
	r, err := image.Inspect(data, c.File)
	if err != nil {
		return hint(err, "a PTX, cubin, fatbin, Tile IR, object, archive or program file")
	}
	in := inspection{Report: r}
	in.modules(data, c.Text)
	if c.JSON {
		e := json.NewEncoder(con.out)
		e.SetIndent("", "  ")
		if err := e.Encode(in); err != nil {
			return err
		}
	} else {
		p := printer{w: con.out}
		p.report(r, 0)
		for i := range in.Modules {
			p.module(&in.Modules[i])
		}
		for i := range in.Tiles {
			p.tile(&in.Tiles[i])
		}
	}
	if text := in.problem(); text != "" {
		return hint(fmt.Errorf("%s: %s", c.File, text), "building the file again; it cannot be used as it is")
	}
	return nil
}

// problem is the first thing that keeps a whole image from being used, "" when there is none.
func (in *inspection) problem() string {
	if in.Problem != "" {
		return in.Problem
	}
	if in.Fatbin != nil {
		for _, c := range in.Fatbin.Containers {
			if c.Problem != "" {
				return c.Problem
			}
		}
	}
	switch {
	case in.Kind == image.PTX && len(in.Modules) > 0:
		return in.Modules[0].Problem
	case in.Kind == image.TileIR && len(in.Tiles) > 0:
		return in.Tiles[0].Problem
	}
	return ""
}

// modules finds and describes every PTX text and every Tile IR module in an image.
func (in *inspection) modules(data []byte, text bool) {
	budget := fatbin.NewBudget(len(data))
	add := func(where string, cs []*fatbin.Container) {
		for ci, c := range cs {
			for ei := range c.Entries {
				e := &c.Entries[ei]
				if !e.Kind.IsPTX() && e.Kind != fatbin.TileIR {
					continue
				}
				payload, err := budget.Payload(e)
				if err != nil {
					continue // the report says why
				}
				w := fmt.Sprintf("entry %d", ei)
				if len(cs) > 1 {
					w = fmt.Sprintf("container %d, %s", ci, w)
				}
				if where != "" {
					w = where + ", " + w
				}
				if e.Kind == fatbin.TileIR {
					in.Tiles = append(in.Tiles, describeTile(payload, w, text))
				} else {
					in.Modules = append(in.Modules, describe(payload, w))
				}
			}
		}
	}
	switch image.Detect(data) {
	case image.PTX:
		in.Modules = append(in.Modules, describe(data, ""))
	case image.TileIR:
		in.Tiles = append(in.Tiles, describeTile(data, "", text))
	case image.Fatbin:
		cs, _ := fatbin.ParseAll(data)
		add("", cs)
	case image.HostObject, image.Archive:
		cs, _ := hostobj.Containers(data)
		for i := range cs {
			add(strings.TrimSpace(cs[i].Member+" "+cs[i].Section), []*fatbin.Container{cs[i].Container})
		}
	}
}

func describe(text []byte, where string) ptxModule {
	m := ptxModule{Where: where}
	h := image.ScanPTX(text)
	m.Version, m.Target = h.Version, h.Targets
	ast, err := ptx.Parse(image.Text(text))
	if err != nil {
		m.Problem = firstLine(err)
		return m
	}
	cm, err := check.Check(ast, check.Options{Newest: check.NewestPTX})
	if err != nil {
		m.Problem = firstLine(err)
		return m
	}
	for _, v := range cm.Vars {
		m.Globals = append(m.Globals, ptxVariable{v.Name, v.Space, v.Size, v.Align, v.Init != nil})
	}
	syms := &ir.Symbols{Builtin: interp.Builtin, Handles: map[*check.Func]uint64{}}
	for _, f := range cm.Funcs {
		switch {
		case f.Entry && f.Defined:
			m.Kernels = append(m.Kernels, describeKernel(f, syms))
		case f.Defined:
			m.Functions = append(m.Functions, f.Name)
		default:
			m.Externs = append(m.Externs, f.Name)
		}
	}
	return m
}

func describeKernel(f *check.Func, syms *ir.Symbols) ptxKernel {
	k := ptxKernel{Name: f.Name, Instructions: len(f.Insts), VirtualRegs: len(f.Regs)}
	a := &f.Attrs
	dim := func(name string, d [3]uint32) {
		if d[0] != 0 {
			k.Attributes = append(k.Attributes, fmt.Sprintf("%s %d,%d,%d", name, d[0], d[1], d[2]))
		}
	}
	one := func(name string, v uint32) {
		if v != 0 {
			k.Attributes = append(k.Attributes, fmt.Sprintf("%s %d", name, v))
		}
	}
	dim(".maxntid", a.MaxNTid)
	dim(".reqntid", a.ReqNTid)
	dim(".reqnctapercluster", a.ReqNCtaPerCluster)
	one(".minnctapersm", a.MinNCtaPerSM)
	one(".maxnreg", a.MaxNReg)
	one(".maxclusterrank", a.MaxClusterRank)
	lk, err := ir.Lower(f, syms)
	if err != nil {
		k.Problem = err.Error()
		return k
	}
	k.Params, k.StaticShared, k.Local, k.DynamicShared = lk.Params, lk.SharedSize, uint32(lk.Local),
		lk.UsesDynamicShared
	return k
}

func firstLine(err error) string {
	s, _, more := strings.Cut(err.Error(), "\n")
	if more {
		s += " ..."
	}
	return s
}

type printer struct{ w io.Writer }

func (p *printer) line(depth int, format string, args ...any) {
	fmt.Fprintf(p.w, strings.Repeat("  ", depth)+format+"\n", args...)
}

func (p *printer) report(r *image.Report, depth int) {
	if depth == 0 || r.Name != "" {
		p.line(depth, "%s: %v, %d bytes", r.Name, r.Kind, r.Size)
		depth++
	}
	if r.Problem != "" {
		p.line(depth, "problem: %s (a driver answers %s)", r.Problem, r.DriverResult)
	}
	if r.Fatbin != nil {
		for i := range r.Fatbin.Containers {
			p.container(&r.Fatbin.Containers[i], fmt.Sprintf("container %d", i), depth)
		}
	}
	if r.Host != nil {
		p.line(depth, "%s %s for %s", r.Host.Format, r.Host.Type, r.Host.Machine)
		for i := range r.Host.Containers {
			c := &r.Host.Containers[i]
			p.container(&c.ContainerReport, "section "+c.Section, depth)
		}
	}
	if r.Archive != nil {
		for i := range r.Archive.Members {
			p.report(&r.Archive.Members[i], depth)
		}
	}
	if r.Cubin != nil {
		p.cubin(r.Cubin, depth)
	}
}

func (p *printer) container(c *image.ContainerReport, what string, depth int) {
	p.line(depth, "%s at %#x, %d bytes, %d entries", what, c.Offset, c.Size, len(c.Entries))
	if c.Problem != "" {
		p.line(depth+1, "problem: %s", c.Problem)
	}
	for i := range c.Entries {
		e := &c.Entries[i]
		size := fmt.Sprintf("%d bytes", e.ImageSize)
		if e.StoredSize != e.ImageSize {
			size = fmt.Sprintf("%d bytes, %d stored", e.ImageSize, e.StoredSize)
		}
		p.line(depth+1, "entry %d: %s %s, version %s, %s, compression %s %s", i, e.Kind, e.Arch, e.Version, size,
			e.Compression, e.Ident)
		if e.Problem != "" {
			p.line(depth+2, "problem: %s (a driver answers %s)", e.Problem, e.DriverResult)
		}
		if e.Image != nil && e.Image.Cubin != nil {
			p.cubin(e.Image.Cubin, depth+2)
		}
	}
}

func (p *printer) cubin(c *image.CubinReport, depth int) {
	kind := "linked"
	if c.Relocatable {
		kind = "relocatable"
	}
	p.line(depth, "cubin for %s, %s", c.Arch, kind)
	for i := range c.Kernels {
		f := &c.Kernels[i]
		p.line(depth+1, "kernel %s: %d registers, %d bytes shared, %d local, %d parameters (%d bytes)", f.Name,
			f.Registers, f.StaticShared, f.Local, len(f.Params), f.ParamSize)
	}
	for i := range c.Globals {
		g := &c.Globals[i]
		p.line(depth+1, "variable %s: %d bytes in %s", g.Name, g.Size, g.Section)
	}
}

func (p *printer) module(m *ptxModule) {
	where := ""
	if m.Where != "" {
		where = " (" + m.Where + ")"
	}
	p.line(1, "PTX %s for %s%s", m.Version, strings.Join(m.Target, ", "), where)
	if m.Problem != "" {
		p.line(2, "problem: %s", m.Problem)
	}
	for i := range m.Kernels {
		k := &m.Kernels[i]
		p.line(2, "kernel %s: %d instructions, %d virtual registers, %d bytes shared, %d local", k.Name, k.Instructions,
			k.VirtualRegs, k.StaticShared, k.Local)
		for j, q := range k.Params {
			p.line(3, "parameter %d %s: %d bytes at %d", j, q.Name, q.Size, q.Offset)
		}
		if len(k.Attributes) > 0 {
			p.line(3, "%s", strings.Join(k.Attributes, ", "))
		}
		if k.Problem != "" {
			p.line(3, "problem: %s", k.Problem)
		}
	}
	if len(m.Functions) > 0 {
		p.line(2, "functions: %s", strings.Join(m.Functions, ", "))
	}
	if len(m.Externs) > 0 {
		p.line(2, "needs: %s", strings.Join(m.Externs, ", "))
	}
	for _, g := range m.Globals {
		p.line(2, "variable %s: %d bytes in .%s", g.Name, g.Size, g.Space)
	}
}
