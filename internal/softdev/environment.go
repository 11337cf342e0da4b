package softdev

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/internal/mem"
	"github.com/gocuda/cuda/internal/ptx/check"
)

// MemorySizeError says that an amount of memory (Options.Memory or GOCUDA_MEMORY) is none.
type MemorySizeError struct {
	Value string
	Why   string
}

func (e *MemorySizeError) Error() string {
	return fmt.Sprintf("%s=%q: %s", env.Memory, e.Value, e.Why)
}

// The least memory of a device holds its own buffers and some modules; the most is what a window can hold.
const (
	leastMemory = 64 << 20
	mostMemory  = mem.MaxWindow / 2
)

// parseMemory reads the value of GOCUDA_MEMORY: bytes, or a number with K, M, G or T behind it (powers of 1024), a
// multiple of 2 MiB after rounding down. Programs that allocate a share of the device's memory are kept from asking the
// host for all that the device of the profile would have. 0 means that it says nothing.
func parseMemory(text string) (uint64, error) {
	value := strings.TrimSpace(text)
	if value == "" {
		return 0, nil
	}
	digits, shift := value, 0
	if i := strings.IndexByte("KMGT", value[len(value)-1]&^0x20); i >= 0 {
		digits, shift = value[:len(value)-1], 10*(i+1)
	}
	n, err := strconv.ParseUint(digits, 10, 64)
	switch {
	case err != nil:
		return 0, &MemorySizeError{text, "not a number of bytes, optionally followed by K, M, G or T"}
	case bits.Len64(n)+shift > 64 || n<<shift > mostMemory:
		return 0, &MemorySizeError{text, fmt.Sprintf("more than the %d GiB that the address window allows",
			uint64(mostMemory)>>30)}
	case n<<shift < leastMemory:
		return 0, &MemorySizeError{text, fmt.Sprintf("less than %d MiB", leastMemory>>20)}
	}
	return n << shift &^ (mem.Granule - 1), nil
}

// PTXVersionError is a version of PTX that cannot be the newest one that is taken.
type PTXVersionError struct{ Value string }

func (e *PTXVersionError) Error() string {
	return fmt.Sprintf("%s=%q: must be a version of PTX from %d.%d to %d.%d", env.PTX, e.Value, check.MaxPTX/10,
		check.MaxPTX%10, check.NewestPTX/10, check.NewestPTX%10)
}

// parsePTX reads a version of PTX, "9.0" say, times ten; "" is the newest.
func parsePTX(text string) (int, error) {
	if text == "" {
		return check.NewestPTX, nil
	}
	for v := check.MaxPTX; v <= check.NewestPTX; v++ {
		if text == fmt.Sprintf("%d.%d", v/10, v%10) {
			return v, nil
		}
	}
	return 0, &PTXVersionError{text}
}
