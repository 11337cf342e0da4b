package image

import (
	"bytes"
	"encoding/hex"
	"errors"

	"github.com/gocuda/cuda/internal/image/cubin"
	"github.com/gocuda/cuda/internal/image/fatbin"
	"github.com/gocuda/cuda/internal/image/fault"
	"github.com/gocuda/cuda/internal/image/hostobj"
)

// Report describes an image and what is nested in it. Exactly one of the pointers is set for the
// kinds that have details. Sizes are in bytes.
type Report struct {
	Name    string `json:"name,omitempty"`
	Kind    Kind   `json:"kind"`
	Size    int    `json:"size"`
	Problem string `json:"problem,omitempty"` // what is wrong with this part; the rest is as far as it could be read
	// DriverResult is the C name of the result a driver gives for the problem.
	DriverResult string         `json:"driver_result,omitempty"`
	PTX          *PTXHeader     `json:"ptx,omitempty"`
	Cubin        *CubinReport   `json:"cubin,omitempty"`
	Fatbin       *FatbinReport  `json:"fatbin,omitempty"`
	Host         *HostReport    `json:"host,omitempty"`
	Archive      *ArchiveReport `json:"archive,omitempty"`
}

// FatbinReport lists the containers that lie one after the other; a module load sees the first only.
type FatbinReport struct {
	Containers []ContainerReport `json:"containers"`
}

// ContainerReport is one container.
type ContainerReport struct {
	Offset  uint64        `json:"offset"`
	Size    uint64        `json:"size"`
	Problem string        `json:"problem,omitempty"`
	Entries []EntryReport `json:"entries"`
}

// EntryReport is one entry of a container. Image describes its payload.
type EntryReport struct {
	Offset       uint64  `json:"offset"`
	Kind         string  `json:"kind"`
	Arch         string  `json:"arch"` // sm_90a; compute_90a for PTX
	Version      string  `json:"version"`
	Ident        string  `json:"ident,omitempty"`
	Options      string  `json:"options,omitempty"`     // compile options when they are text
	OptionsHex   string  `json:"options_hex,omitempty"` // the same when they are not
	Flags        string  `json:"flags"`
	Compression  string  `json:"compression"`
	StoredSize   uint64  `json:"stored_size"` // without padding where that is known
	ImageSize    uint64  `json:"image_size"`  // after decompression
	Transformed  bool    `json:"transformed,omitempty"`
	Problem      string  `json:"problem,omitempty"`
	DriverResult string  `json:"driver_result,omitempty"`
	Image        *Report `json:"image,omitempty"`
}

// HostReport is a host file with the device code in it.
type HostReport struct {
	Format     string                `json:"format"`
	Machine    string                `json:"machine"`
	Type       string                `json:"type"`
	ModuleIDs  []string              `json:"module_ids,omitempty"`
	Containers []HostContainerReport `json:"containers"`
}

// HostContainerReport is a container in a section of a host file.
type HostContainerReport struct {
	Section     string `json:"section"`
	Relocatable bool   `json:"relocatable,omitempty"`
	Wrapper     uint32 `json:"wrapper,omitempty"` // version of the wrapper that points at it
	ContainerReport
}

// ArchiveReport lists the files of a static library.
type ArchiveReport struct {
	Members []Report `json:"members"`
}

// CubinReport describes a CUDA ELF.
type CubinReport struct {
	Arch        string           `json:"arch"`
	Virtual     int              `json:"virtual,omitempty"` // SM number of the compute target it came from
	Relocatable bool             `json:"relocatable,omitempty"`
	OSABI       int              `json:"os_abi"`
	ABIVersion  int              `json:"abi_version"`
	APIVersion  int              `json:"api_version,omitempty"` // 130 is CUDA 13.0
	Tools       []ToolReport     `json:"tools,omitempty"`
	Debug       []string         `json:"debug,omitempty"`
	Kernels     []FunctionReport `json:"kernels"`
	Functions   []FunctionReport `json:"functions,omitempty"`
	Globals     []GlobalReport   `json:"globals,omitempty"`
	Externs     []string         `json:"externs,omitempty"`
	Sections    []SectionReport  `json:"sections"`
}

// ToolReport is a program that made the image.
type ToolReport struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
	Build   string `json:"build,omitempty"`
	Options string `json:"options,omitempty"`
}

// FunctionReport is a kernel or device function.
type FunctionReport struct {
	Name           string        `json:"name"`
	CodeSize       uint64        `json:"code_size"`
	Weak           bool          `json:"weak,omitempty"`
	Registers      uint32        `json:"registers"`
	Barriers       uint32        `json:"barriers,omitempty"`
	StaticShared   uint64        `json:"static_shared,omitempty"`
	Local          uint32        `json:"local,omitempty"`
	UnknownStack   bool          `json:"unknown_stack,omitempty"` // recursion or calls through pointers
	ParamBase      uint32        `json:"param_base,omitempty"`
	ParamSize      uint32        `json:"param_size,omitempty"`
	Params         []ParamReport `json:"params,omitempty"`
	MaxThreads     []uint32      `json:"maxntid,omitempty"`
	ReqThreads     []uint32      `json:"reqntid,omitempty"`
	MaxRegisters   uint16        `json:"maxnreg,omitempty"`
	ClusterDim     []uint32      `json:"cluster,omitempty"`
	MaxClusterRank uint32        `json:"max_cluster_rank,omitempty"`
	Attributes     []string      `json:"attributes,omitempty"` // names of its .nv.info records
	Externs        []string      `json:"externs,omitempty"`
}

// ParamReport is a kernel parameter.
type ParamReport struct {
	Offset uint32 `json:"offset"`
	Size   uint32 `json:"size"`
}

// GlobalReport is a module variable.
type GlobalReport struct {
	Name        string `json:"name"`
	Size        uint64 `json:"size"`
	Section     string `json:"section"`
	Constant    bool   `json:"constant,omitempty"`
	Managed     bool   `json:"managed,omitempty"`
	Local       bool   `json:"local,omitempty"`
	Initialised bool   `json:"initialised,omitempty"`
}

// SectionReport is an ELF section.
type SectionReport struct {
	Name string `json:"name"`
	Type uint32 `json:"type"`
	Size uint64 `json:"size"`
}

// Inspect describes data and everything nested in it. name is kept in the report. The error is set
// only when nothing at all can be said (class Format); damage further in is told by the Problem
// fields of the parts it is in.
func Inspect(data []byte, name string) (*Report, error) {
	in := inspector{budget: fatbin.NewBudget(len(data))}
	r := in.inspect(data, name, false)
	if r.Kind == Unknown {
		return r, fault.New(fault.Format, "image", 0, "not recognised (first bytes % x)", data[:min(len(data), 8)])
	}
	return r, nil
}

type inspector struct{ budget *fatbin.Budget }

// inspect describes data. A leaf is the payload of an entry: what it nests further is not opened, for
// no tool nests containers in entries.
func (in *inspector) inspect(data []byte, name string, leaf bool) *Report {
	r := &Report{Name: name, Kind: Detect(data), Size: len(data)}
	if leaf && (r.Kind == Fatbin || r.Kind == HostObject || r.Kind == Archive) {
		return r
	}
	var err error
	switch r.Kind {
	case PTX:
		h := ScanPTX(data)
		r.PTX = &h
	case Cubin:
		var f *cubin.File
		if f, err = cubin.Parse(data); err == nil {
			r.Cubin = cubinReport(f)
		}
	case Fatbin:
		var all []*fatbin.Container
		all, err = fatbin.ParseAll(data)
		r.Fatbin = &FatbinReport{}
		for _, c := range all {
			r.Fatbin.Containers = append(r.Fatbin.Containers, in.container(c))
		}
	case HostObject:
		var f *hostobj.File
		f, err = hostobj.Parse(data)
		if f != nil {
			h := &HostReport{Format: f.Format, Machine: f.Machine, Type: f.Type, ModuleIDs: f.ModuleIDs}
			for _, c := range f.Containers {
				h.Containers = append(h.Containers,
					HostContainerReport{c.Section, c.Relocatable, c.Wrapper, in.container(c.Container)})
				h.Containers[len(h.Containers)-1].Offset = c.Offset
			}
			r.Host = h
		}
	case Archive:
		var members []hostobj.Member
		members, err = hostobj.Members(data)
		r.Archive = &ArchiveReport{}
		for _, m := range members {
			r.Archive.Members = append(r.Archive.Members, *in.inspect(m.Data, m.Name, Detect(m.Data) == Archive))
		}
	}
	if err != nil {
		r.Problem, r.DriverResult = problem(err)
	}
	return r
}

func problem(err error) (text, result string) {
	var c fault.Class
	if errors.As(err, &c) {
		result = c.Result().String()
	}
	return err.Error(), result
}

func (in *inspector) container(c *fatbin.Container) ContainerReport {
	r := ContainerReport{Offset: c.Offset, Size: c.Total()}
	if c.Problem != nil {
		r.Problem = c.Problem.Error()
	} else if c.Truncated {
		r.Problem = "the data ends before the container does"
	}
	for i := range c.Entries {
		r.Entries = append(r.Entries, in.entry(&c.Entries[i]))
	}
	return r
}

func (in *inspector) entry(e *fatbin.Entry) EntryReport {
	r := EntryReport{
		Offset: e.Offset, Kind: e.Kind.String(), Arch: e.Arch.String(),
		Version: uitoa(uint64(e.Major)) + "." + uitoa(uint64(e.Minor)),
		Ident:   e.Ident, Flags: "0x" + hexWord(uint64(e.Flags)),
		Compression: e.Flags.Compression().String(),
		StoredSize:  e.PayloadSize, ImageSize: e.PayloadSize,
		Transformed: e.Flags&fatbin.FlagTransformed != 0,
	}
	if e.Kind.IsPTX() {
		r.Arch = e.Arch.Compute()
	}
	if e.CompressedSize != 0 {
		r.StoredSize, r.ImageSize = uint64(e.CompressedSize), e.UncompressedSize
	}
	if printable(e.Options) {
		r.Options = string(e.Options)
	} else {
		r.OptionsHex = hex.EncodeToString(e.Options)
	}
	payload, err := in.budget.Payload(e)
	switch {
	case err == nil:
		r.ImageSize = uint64(len(payload))
		r.Image = in.inspect(payload, "", true)
	case errors.Is(err, fault.Obfuscated) && !e.Kind.IsPTX():
		// Ordinary for LTO-IR: told by Transformed, no damage.
	default:
		r.Problem, r.DriverResult = problem(err)
	}
	return r
}

func printable(b []byte) bool {
	return bytes.IndexFunc(b, func(c rune) bool { return c != '\t' && c != '\n' && (c < ' ' || c > '~') }) < 0
}

func uitoa(v uint64) string {
	if v >= 10 {
		return uitoa(v/10) + string(rune('0'+v%10))
	}
	return string(rune('0' + v))
}

func hexWord(v uint64) string {
	s := hex.EncodeToString([]byte{byte(v >> 56), byte(v >> 48), byte(v >> 40), byte(v >> 32), byte(v >> 24),
		byte(v >> 16), byte(v >> 8), byte(v)})
	for len(s) > 1 && s[0] == '0' {
		s = s[1:]
	}
	return s
}

func cubinReport(f *cubin.File) *CubinReport {
	r := &CubinReport{
		Arch: f.Arch.String(), Virtual: f.Virtual, Relocatable: f.Relocatable,
		OSABI: int(f.OSABI), ABIVersion: int(f.ABIVersion), APIVersion: f.APIVersion, Externs: f.Externs,
	}
	for _, t := range f.Tool {
		r.Tools = append(r.Tools, ToolReport(t))
	}
	for _, d := range []struct {
		set  bool
		name string
	}{{f.Debug.DWARF, "dwarf"}, {f.Debug.Lines, "lines"}, {f.Debug.SASSLine, "sass-lines"},
		{f.Debug.PTXText, "ptx-text"}} {
		if d.set {
			r.Debug = append(r.Debug, d.name)
		}
	}
	for i := range f.Kernels {
		r.Kernels = append(r.Kernels, functionReport(&f.Kernels[i]))
	}
	for i := range f.Functions {
		r.Functions = append(r.Functions, functionReport(&f.Functions[i]))
	}
	for _, g := range f.Globals {
		r.Globals = append(r.Globals, GlobalReport{
			Name: g.Name, Size: g.Size, Section: g.Section, Constant: g.Bank >= 0,
			Managed: g.Managed, Local: !g.Visible, Initialised: g.Initialised,
		})
	}
	for i := range f.ELF.Sections {
		if s := &f.ELF.Sections[i]; i > 0 {
			r.Sections = append(r.Sections, SectionReport{s.Name, s.Type, s.Size})
		}
	}
	return r
}

func functionReport(fn *cubin.Function) FunctionReport {
	r := FunctionReport{
		Name: fn.Name, CodeSize: fn.CodeSize, Weak: fn.Weak, Registers: fn.Registers, Barriers: fn.Barriers,
		StaticShared: fn.StaticShared, Local: fn.LocalSize(), UnknownStack: fn.MinStackSize == cubin.UnknownStack,
		ParamBase: fn.ParamBase, ParamSize: fn.ParamSize, MaxRegisters: fn.MaxRegisters,
		MaxThreads: triple(fn.MaxThreads), ReqThreads: triple(fn.ReqThreads), ClusterDim: triple(fn.ClusterDim),
		MaxClusterRank: fn.MaxClusterRank, Externs: fn.Externs,
	}
	for _, p := range fn.Params {
		r.Params = append(r.Params, ParamReport{p.Offset, p.Size})
	}
	seen := make(map[cubin.Attr]bool)
	for _, rec := range fn.Info {
		if !seen[rec.ID] {
			seen[rec.ID] = true
			r.Attributes = append(r.Attributes, rec.ID.String())
		}
	}
	return r
}

func triple(t [3]uint32) []uint32 {
	if t == [3]uint32{} {
		return nil
	}
	return t[:]
}
