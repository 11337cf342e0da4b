// Package profiles describes the devices that the software device can stand for: attributes, limits, memory and name,
// as data.
//
// A profile is a JSON file. Each attribute has its name and number in the driver API (CUdevice_attribute), its value,
// and where the value comes from: measured on silicon, documented, assumed, or the software device's own. The names say
// that the device is software, so that no log can be mistaken for one of a GPU.
package profiles

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Default is the profile of the machine that the recorded answers come from.
const Default = "h200"

//go:embed *.json
var files embed.FS

// Profile describes one device. It is not changed after it was made, and must not be.
type Profile struct {
	ID    string `json:"id"`    // as Get takes it
	Name  string `json:"name"`  // cuDeviceGetName
	About string `json:"about"` // one sentence
	// DriverVersion is what cuDriverGetVersion says: 1000 * major + 10 * minor.
	DriverVersion int32 `json:"driverVersion"`
	// TotalMemory is what cuDeviceTotalMem says, in bytes, and TotalMemorySource where that comes from.
	TotalMemory       uint64 `json:"totalMemory"`
	TotalMemorySource string `json:"totalMemorySource"`
	// NVLink says that NVLink and its switches join devices of the profile, where there are several: each reaches the
	// memory of every other. Without it a device reaches no other's.
	NVLink bool `json:"nvlink,omitempty"`
	// The range of stream priorities (cuCtxGetStreamPriorityRange); smaller numbers are greater priorities.
	LeastStreamPriority    int32 `json:"leastStreamPriority"`
	GreatestStreamPriority int32 `json:"greatestStreamPriority"`
	// Texture1DLinearElements and Texture1DLinearBytes bound textures on linear memory
	// (cuDeviceGetTexture1DLinearMaxWidth).
	Texture1DLinearElements uint64 `json:"texture1DLinearElements"`
	Texture1DLinearBytes    uint64 `json:"texture1DLinearBytes"`
	// Sources explains the Source of each value.
	Sources    map[string]string `json:"sources"`
	Limits     []Limit           `json:"limits"`     // by ID
	Attributes []Attribute       `json:"attributes"` // by ID
}

// Attribute is a device attribute (cuDeviceGetAttribute).
type Attribute struct {
	ID     int32  `json:"id"`   // CUdevice_attribute
	Name   string `json:"name"` // its C name
	Value  int32  `json:"value"`
	Source string `json:"source"` // key of Profile.Sources
	// Recorded is what the GPU answered where the software device must answer otherwise, as for access to its memory by
	// other hardware.
	Recorded *int32 `json:"recorded,omitempty"`
}

// Limit is a limit of a context (cuCtxGetLimit, cuCtxSetLimit).
type Limit struct {
	ID       int32  `json:"id"`                 // CUlimit
	Name     string `json:"name"`               // its C name
	Value    uint64 `json:"value"`              // in a new context
	Min      uint64 `json:"min,omitempty"`      // less is raised to it
	Max      uint64 `json:"max,omitempty"`      // 0 for none; Over says what becomes of more
	Multiple uint64 `json:"multiple,omitempty"` // values are rounded up to a multiple; 0 for none
	Over     Over   `json:"over,omitempty"`
	Set      Set    `json:"set,omitempty"`
	Source   string `json:"source"` // key of Profile.Sources
	Note     string `json:"note,omitempty"`
}

// Over is what becomes of a limit above the maximum.
type Over string

// What becomes of a limit above the maximum.
const (
	Clamp  Over = "clamp"  // it becomes the maximum
	Refuse Over = "refuse" // CUDA_ERROR_INVALID_VALUE
)

// Set is whether a limit can be set.
type Set string

// Whether a limit can be set.
const (
	Settable    Set = ""
	Denied      Set = "denied"      // it can be read; setting it is CUDA_ERROR_NOT_PERMITTED
	Unsupported Set = "unsupported" // both are CUDA_ERROR_UNSUPPORTED_LIMIT
)

// Round returns the value that a limit gets when it is set to n; ok is false when n is refused.
func (l *Limit) Round(n uint64) (v uint64, ok bool) {
	if l.Max != 0 && n > l.Max {
		return l.Max, l.Over == Clamp
	}
	n = max(n, l.Min)
	if l.Multiple > 1 {
		if n > math.MaxUint64-l.Multiple {
			return 0, false
		}
		n = (n + l.Multiple - 1) / l.Multiple * l.Multiple
	}
	return n, true
}

// UnknownError says that there is no profile of a name.
type UnknownError struct {
	Name  string
	Known []string
}

func (e *UnknownError) Error() string {
	return fmt.Sprintf("no device profile %q; there are %s", e.Name, strings.Join(e.Known, ", "))
}

// InvalidError says what is wrong with the text of a profile.
type InvalidError struct {
	ID  string // "" when not known
	Why string
	Err error // of the JSON decoder; may be nil
}

func (e *InvalidError) Error() string {
	s := "device profile"
	if e.ID != "" {
		s += " " + e.ID
	}
	s += ": " + e.Why
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the decoder's error.
func (e *InvalidError) Unwrap() error { return e.Err }

// Names returns the names of the profiles that Get knows, sorted.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		return nil
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".json"))
	}
	slices.Sort(names)
	return names
}

// Get returns a profile by its name, which may be written in capitals; "" is the default. The error is an
// *UnknownError.
func Get(name string) (*Profile, error) {
	id := strings.ToLower(name)
	if id == "" {
		id = Default
	}
	if !slices.Contains(Names(), id) {
		return nil, &UnknownError{name, Names()}
	}
	text, err := files.ReadFile(id + ".json")
	if err != nil {
		return nil, &UnknownError{name, Names()}
	}
	return Parse(text)
}

// MaxDevices is how many devices Expand makes at most.
const MaxDevices = 64

// CountError says that a list of profiles asks for no number of devices that there can be.
type CountError struct{ Name string }

func (e *CountError) Error() string {
	return fmt.Sprintf("devices %q: a profile may be followed by * and how many there are, %d in all at most", e.Name,
		MaxDevices)
}

// Expand returns a name for each device: "h200*2" is two devices of profile h200. The names themselves are not looked
// at. The error is a *CountError.
func Expand(names []string) ([]string, error) {
	var all []string
	for _, name := range names {
		id, times, several := strings.Cut(name, "*")
		n := 1
		if several {
			var err error
			if n, err = strconv.Atoi(strings.TrimSpace(times)); err != nil || n < 1 {
				return nil, &CountError{name}
			}
			id = strings.TrimSpace(id)
		}
		if n > MaxDevices-len(all) {
			return nil, &CountError{name}
		}
		for range n {
			all = append(all, id)
		}
	}
	return all, nil
}

// Parse reads the JSON text of a profile, as in the files of this package, and checks it. The error is an
// *InvalidError.
func Parse(text []byte) (*Profile, error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	p := new(Profile)
	if err := d.Decode(p); err != nil {
		return nil, &InvalidError{"", "not readable", err}
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, &InvalidError{p.ID, "text after the profile", nil}
	}
	if err := p.check(); err != nil {
		return nil, err
	}
	return p, nil
}

func (p *Profile) check() error {
	bad := func(format string, args ...any) error {
		return &InvalidError{ID: p.ID, Why: fmt.Sprintf(format, args...)}
	}
	if p.ID == "" || p.Name == "" {
		return bad("it has no id or no name")
	}
	if p.DriverVersion < 1000 || p.TotalMemory == 0 || p.GreatestStreamPriority > p.LeastStreamPriority {
		return bad("driverVersion, totalMemory or the stream priorities make no sense")
	}
	source := func(s string) bool { _, ok := p.Sources[s]; return ok }
	if !source(p.TotalMemorySource) {
		return bad("source %q of totalMemory is not explained", p.TotalMemorySource)
	}
	for i, a := range p.Attributes {
		if a.ID < 1 || a.Name == "" || i > 0 && a.ID <= p.Attributes[i-1].ID {
			return bad("attribute %d (%s) has no name or is out of order", a.ID, a.Name)
		}
		if !source(a.Source) {
			return bad("source %q of %s is not explained", a.Source, a.Name)
		}
	}
	for i, l := range p.Limits {
		if l.ID < 0 || l.Name == "" || i > 0 && l.ID <= p.Limits[i-1].ID {
			return bad("limit %d (%s) has no name or is out of order", l.ID, l.Name)
		}
		if !source(l.Source) {
			return bad("source %q of %s is not explained", l.Source, l.Name)
		}
		if l.Over != "" && l.Over != Clamp && l.Over != Refuse ||
			l.Set != Settable && l.Set != Denied && l.Set != Unsupported {
			return bad("limit %s is %q, %q", l.Name, l.Over, l.Set)
		}
		if l.Max != 0 && (l.Min > l.Max || l.Over == "") {
			return bad("limit %s has a maximum below its minimum, or does not say what becomes of more", l.Name)
		}
	}
	for _, id := range needed {
		if v, ok := p.Attribute(id); !ok || v < 1 {
			return bad("attribute %d is missing or not positive", id)
		}
	}
	return nil
}

// needed are the attributes without which nothing can be launched: threads of a block, their dimensions, those of a
// grid, warp size, clock rate, multiprocessors, threads of one, major compute capability (CUdevice_attribute).
var needed = [...]int32{1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 13, 16, 39, 75, 81, 97, 106}

// Attribute returns the value of a device attribute by its number.
func (p *Profile) Attribute(id int32) (value int32, ok bool) {
	i, ok := slices.BinarySearchFunc(p.Attributes, id, func(a Attribute, id int32) int { return cmp.Compare(a.ID, id) })
	if !ok {
		return 0, false
	}
	return p.Attributes[i].Value, true
}

// AttributeByName returns a device attribute by its C name, with or without CU_DEVICE_ATTRIBUTE_.
func (p *Profile) AttributeByName(name string) (a Attribute, ok bool) {
	const prefix = "CU_DEVICE_ATTRIBUTE_"
	name = prefix + strings.TrimPrefix(name, prefix)
	for _, a := range p.Attributes {
		if a.Name == name {
			return a, true
		}
	}
	return Attribute{}, false
}

// Limit returns a limit by its number.
func (p *Profile) Limit(id int32) (l Limit, ok bool) {
	i, ok := slices.BinarySearchFunc(p.Limits, id, func(l Limit, id int32) int { return cmp.Compare(l.ID, id) })
	if !ok {
		return Limit{}, false
	}
	return p.Limits[i], true
}

// ComputeCapability returns the compute capability: 9, 0 for 9.0.
func (p *Profile) ComputeCapability() (major, minor int32) {
	major, _ = p.Attribute(75)
	minor, _ = p.Attribute(76)
	return major, minor
}

// Properties returns the fields of CUdevprop in the order of the C structure, as cuDeviceGetProperties gives them:
// threads of a block, its three dimensions, the grid's three, shared memory of a block, constant memory, warp size,
// pitch, registers of a block, clock rate in kHz, texture alignment. They are the attributes of those names.
func (p *Profile) Properties() [14]int32 {
	var v [14]int32
	for i, id := range [...]int32{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14} {
		v[i], _ = p.Attribute(id)
	}
	return v
}

// Texture1DLinearMaxWidth returns the most elements of a one-dimensional texture on linear memory, for elements of the
// given bytes.
func (p *Profile) Texture1DLinearMaxWidth(elementBytes uint64) uint64 {
	if elementBytes == 0 {
		return 0
	}
	return min(p.Texture1DLinearElements, p.Texture1DLinearBytes/elementBytes)
}

// UUID returns the identity of the software device of an ordinal (cuDeviceGetUuid): the same in every process,
// different for each profile and ordinal, and marked as version 8 of RFC 9562, which no GPU's is defined to be.
func (p *Profile) UUID(ordinal int) [16]byte {
	sum := sha256.Sum256(fmt.Appendf(nil, "gocuda software device %s %d", p.ID, ordinal))
	u := [16]byte(sum[:16])
	u[6] = u[6]&0x0f | 0x80
	u[8] = u[8]&0x3f | 0x80
	return u
}
