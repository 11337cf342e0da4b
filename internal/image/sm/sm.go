// Package sm names processor targets (sm_90a, compute_75) and says which devices run code for them.
package sm

import (
	"fmt"
	"strconv"
	"strings"
)

// Arch is a target: the decimal SM number and the feature-set suffix.
type Arch struct {
	Number int  // 10*major+minor: 75, 90, 121
	Suffix byte // 'a' architecture-specific, 'f' family-specific, 0 neither
}

// String is the name of the machine target, for example "sm_90a"; "sm_?" for a zero Arch.
func (a Arch) String() string {
	if a.Number == 0 {
		return "sm_?"
	}
	return "sm_" + a.digits()
}

// Compute is the name of the virtual target, for example "compute_90a".
func (a Arch) Compute() string { return "compute_" + a.digits() }

func (a Arch) digits() string {
	s := strconv.Itoa(a.Number)
	if a.Suffix != 0 {
		s += string(rune(a.Suffix))
	}
	return s
}

// MarshalText writes the name of the machine target.
func (a Arch) MarshalText() ([]byte, error) { return []byte(a.String()), nil }

// UnmarshalText reads what Parse reads.
func (a *Arch) UnmarshalText(text []byte) error {
	p, ok := Parse(string(text))
	if !ok {
		return fmt.Errorf("sm: %q is no target name", text)
	}
	*a = p
	return nil
}

// Parse reads "sm_90a" or "compute_90a". It checks the spelling, not that such a processor exists.
func Parse(name string) (Arch, bool) {
	digits, ok := strings.CutPrefix(name, "sm_")
	if !ok {
		if digits, ok = strings.CutPrefix(name, "compute_"); !ok {
			return Arch{}, false
		}
	}
	var a Arch
	if n := len(digits); n > 0 && (digits[n-1] == 'a' || digits[n-1] == 'f') {
		a.Suffix = digits[n-1]
		digits = digits[:n-1]
	}
	if len(digits) < 2 || len(digits) > 4 {
		return Arch{}, false
	}
	for _, c := range digits {
		if c < '0' || c > '9' {
			return Arch{}, false
		}
		a.Number = 10*a.Number + int(c-'0')
	}
	return a, a.Number >= 10
}

// renamed is the number under which a processor is known now: PTX ISA 9.0 renamed sm_101 to sm_110.
func renamed(n int) int {
	if n == 101 {
		return 110
	}
	return n
}

// tegra lists the embedded processors: their cubins and those of desktop parts do not run on each
// other even within one major number (CUDA programming guide, binary compatibility).
func tegra(n int) bool {
	switch n {
	case 53, 62, 72, 87, 110:
		return true
	}
	return false
}

// CubinRunsOn reports whether machine code for a runs on a device of compute capability device
// (10*major+minor). CUDA programming guide: same major, minor not newer; 'a' needs equality.
func (a Arch) CubinRunsOn(device int) bool {
	n, d := renamed(a.Number), renamed(device)
	if a.Suffix == 'a' {
		return n == d
	}
	return n/10 == d/10 && n <= d && (n == d || tegra(n) == tegra(d))
}

// PTXRunsOn reports whether PTX for a can be compiled for a device of compute capability device
// (10*major+minor). PTX ISA, .target: base targets are ordered by number, 'f' stays in its family
// (10x, 11x, 12x), 'a' needs equality.
func (a Arch) PTXRunsOn(device int) bool {
	n, d := renamed(a.Number), renamed(device)
	switch a.Suffix {
	case 'a':
		return n == d
	case 'f':
		return n/10 == d/10 && n <= d
	}
	return n <= d
}
