package fatbin

import (
	"encoding/binary"
	"strings"

	"github.com/gocuda/cuda/internal/image/fault"
)

// Device is what the choice of an entry depends on.
type Device struct {
	SM int // compute capability as 10*major+minor
	// RunsSASS: the device executes machine code. A device that does not takes PTX only.
	RunsSASS bool
	// TileIR: the driver accepts CUDA Tile IR (13.1 and later).
	TileIR bool
	// ForcePTX drops machine code before choosing (CUDA_FORCE_PTX_JIT=1).
	ForcePTX bool
	// DisablePTX drops PTX before choosing (CUDA_DISABLE_PTX_JIT=1).
	DisablePTX bool
}

// Fits reports whether the entry's header says that it runs on the device, before ranking. The two
// switches and RunsSASS do not matter here.
func (d Device) Fits(e *Entry) bool {
	switch e.Kind {
	case ELF, MercuryELF:
		return e.Arch.CubinRunsOn(d.SM)
	case PTX, RelocatablePTX:
		return e.Arch.PTXRunsOn(d.SM)
	case TileIR:
		return d.TileIR
	}
	return false
}

// kindRank orders kinds: machine code that fits beats PTX even when the PTX names the exact
// processor (measured on a driver of release 597).
func kindRank(k Kind) int {
	switch k {
	case ELF:
		return 4
	case MercuryELF:
		return 3
	case PTX, RelocatablePTX:
		return 2
	case TileIR:
		return 1
	}
	return 0
}

func suffixRank(s byte) int {
	switch s {
	case 'a':
		return 2
	case 'f':
		return 1
	}
	return 0
}

// better reports whether b, which comes later in the container, wins over a.
func better(a, b *Entry) bool {
	if x, y := kindRank(a.Kind), kindRank(b.Kind); x != y {
		return y > x
	}
	if a.Arch.Number != b.Arch.Number {
		return b.Arch.Number > a.Arch.Number
	}
	if x, y := suffixRank(a.Arch.Suffix), suffixRank(b.Arch.Suffix); x != y {
		return y > x
	}
	if a.Kind.IsPTX() {
		return true // the last of equal PTX entries wins
	}
	if x, y := a.Flags&FlagFinalizable, b.Flags&FlagFinalizable; x != y {
		return y == 0
	}
	return false // the first of equal cubins wins
}

// Select picks the entry a driver would take for the device, by headers alone: kind first (ELF, then
// unfinished ELF, then PTX), then the highest processor number, then the more specific suffix, then
// order. Without RunsSASS machine code is passed over. The error is *fault.Error of class NoBinary,
// or JITDisabled when only PTX would fit and DisablePTX is set.
func Select(entries []Entry, d Device) (*Entry, error) {
	var best *Entry
	jitOff := false
	for i := range entries {
		e := &entries[i]
		if !d.Fits(e) {
			continue
		}
		switch e.Kind {
		case ELF, MercuryELF:
			if d.ForcePTX || !d.RunsSASS {
				continue
			}
		case PTX, RelocatablePTX:
			if d.DisablePTX {
				jitOff = true
				continue
			}
		}
		if best == nil || better(best, e) {
			best = e
		}
	}
	if best != nil {
		return best, nil
	}
	if jitOff {
		return nil, fault.New(fault.JITDisabled, "fatbin", 0,
			"only PTX fits sm_%d and compiling it is disabled (holds %s)", d.SM, describe(entries))
	}
	return nil, fault.New(fault.NoBinary, "fatbin", 0, "nothing runs on sm_%d (holds %s)", d.SM, describe(entries))
}

// Resolve picks an entry and reads its payload, answering like a driver also to damage: a machine
// code entry that would be chosen and is broken fails the whole load, even on a device that runs no
// machine code and would go on to the PTX beside it. runs, when not nil, says that an ELF image is
// one which the device executes although it runs no SASS (a linked image of this project's own
// linker). Errors are those of Select and Payload, Arch when the chosen ELF entry holds no 64-bit
// CUDA ELF, and NoBinary with an explanation when only machine code fits and the device cannot run it.
func Resolve(entries []Entry, d Device, runs func(elf []byte) bool) (*Entry, []byte, error) {
	as := d
	as.RunsSASS = true
	e, err := Select(entries, as)
	if err != nil {
		return nil, nil, err
	}
	data, err := e.Payload()
	if err != nil {
		return nil, nil, err
	}
	if e.Kind != ELF && e.Kind != MercuryELF {
		return e, data, nil
	}
	if err := checkELF(e, data); err != nil {
		return nil, nil, err
	}
	if d.RunsSASS || runs != nil && runs(data) {
		return e, data, nil
	}
	p, err := Select(entries, d)
	if err != nil {
		return nil, nil, fault.Only(fault.NoBinary, "fatbin", e.Offset,
			"holds only machine code for this device and the device runs PTX: "+
				"add PTX to the build, for example -gencode arch=%s,code=%s (holds %s)",
			e.Arch.Compute(), e.Arch.Compute(), describe(entries))
	}
	data, err = p.Payload()
	if err != nil {
		return nil, nil, err
	}
	return p, data, nil
}

// checkELF is the look a driver takes before it believes that the bytes are a cubin.
func checkELF(e *Entry, data []byte) error {
	const classAt, class64, machineAt, machineCUDA = 4, 2, 18, 190
	if len(data) < 20 || string(data[:4]) != "\x7fELF" || data[classAt] != class64 ||
		binary.LittleEndian.Uint16(data[machineAt:]) != machineCUDA {
		return fault.New(fault.Arch, "fatbin entry", e.Offset, "%s payload for %s is no 64-bit CUDA ELF", e.Kind,
			e.Arch)
	}
	return nil
}

// describe lists entries for an error message: "sm_80 elf, compute_75 ptx".
func describe(entries []Entry) string {
	if len(entries) == 0 {
		return "no entries"
	}
	const most = 16
	var s []string
	for i := range entries {
		if i == most {
			s = append(s, "...")
			break
		}
		e := &entries[i]
		name := e.Arch.String()
		if e.Kind.IsPTX() {
			name = e.Arch.Compute()
		}
		s = append(s, name+" "+e.Kind.String())
	}
	return strings.Join(s, ", ")
}
