package trace

import "strings"

// Occupancy is how many warps of a launch fit on a multiprocessor, and what stands in the way of more.
type Occupancy struct {
	Threads   uint64 `json:"block_threads"`
	Warps     uint64 `json:"block_warps"`
	Registers uint64 `json:"registers"`    // of a thread; an estimate, since PTX has no such number
	Shared    uint64 `json:"shared_bytes"` // of a block, with the dynamic and the system's part, rounded up
	Limits    Limits `json:"limits"`
	Blocks    uint64 `json:"blocks_per_sm"` // resident at once: the least of Limits
	MaxWarps  uint64 `json:"max_warps_per_sm"`
	SMs       uint64 `json:"sms"`
	Grid      uint64 `json:"grid_blocks"`
}

// Limits is how many blocks fit on a multiprocessor by each resource alone.
type Limits struct {
	Blocks    uint64 `json:"blocks"` // that a multiprocessor can hold
	Warps     uint64 `json:"warps"`
	Registers uint64 `json:"registers"`
	Shared    uint64 `json:"shared_memory"`
}

// Least is the least of them.
func (l Limits) Least() uint64 { return min(l.Blocks, l.Warps, l.Registers, l.Shared) }

// Resource is what limits occupancy.
type Resource uint8

// The resources of a multiprocessor.
const (
	BlockSlots Resource = iota
	BlockSize           // threads
	Registers
	SharedBytes
)

var resourceNames = [...]string{"block slots", "block size", "registers", "shared memory"}

func (r Resource) String() string { return resourceNames[r] }

// By is the limit of a resource.
func (l Limits) By(r Resource) uint64 {
	return [...]uint64{l.Blocks, l.Warps, l.Registers, l.Shared}[r]
}

// Limiters are the resources that allow the fewest blocks.
func (o *Occupancy) Limiters() (list []Resource) {
	for r := range SharedBytes + 1 {
		if o.Limits.By(r) == o.Limits.Least() {
			list = append(list, r)
		}
	}
	return list
}

// Theoretical is the share of a multiprocessor's warps that resident blocks have.
func (o *Occupancy) Theoretical() float64 { return ratio(o.Blocks*o.Warps, o.MaxWarps) }

// Launch is the most that this launch can reach on average over all multiprocessors: less than Theoretical when the
// grid has fewer blocks than fit on the device.
func (o *Occupancy) Launch() float64 {
	return min(o.Theoretical(), ratio(o.Grid*o.Warps, o.SMs*o.MaxWarps))
}

// Waves is how many times the device is filled with blocks.
func (o *Occupancy) Waves() float64 { return ratio(o.Grid, o.Blocks*o.SMs) }

// LimitedBy names the limiters.
func (o *Occupancy) LimitedBy() string {
	var names []string
	for _, r := range o.Limiters() {
		names = append(names, r.String())
	}
	return strings.Join(names, " and ")
}
