package softdev

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/env"
)

// NoDeviceError says that CUDA_VISIBLE_DEVICES leaves no device.
type NoDeviceError struct {
	Visible string // its value
	Devices int    // how many there are without it
}

func (e *NoDeviceError) Error() string {
	return fmt.Sprintf("%s=%q leaves none of %d software devices (%s makes more)", env.Visible, e.Visible, e.Devices,
		env.Profile)
}

// mask leaves the devices that CUDA_VISIBLE_DEVICES names.
func (d *Driver) mask(list string) error {
	uuids := make([][16]byte, len(d.devices))
	for i, dev := range d.devices {
		uuids[i] = dev.uuid()
	}
	all := d.devices
	d.devices = nil
	for ordinal, slot := range visible(list, uuids) {
		all[slot].ordinal = int32(ordinal)
		d.devices = append(d.devices, all[slot])
	}
	if len(d.devices) == 0 {
		return &NoDeviceError{list, len(all)}
	}
	return nil
}

// visible are the devices that a value of CUDA_VISIBLE_DEVICES leaves, of as many as there are UUIDs, in its order
// (CUDA Programming Guide, "CUDA Environment Variables"): ordinals, or names that begin with GPU- and as much of a UUID
// as tells it from the others. The list ends before the first entry that is no device; a device that comes twice leaves
// none. Multi-instance devices (MIG-) are none of the software device's.
func visible(list string, uuids [][16]byte) []int {
	var names []string
	find := func(s string) int { return ordinal(s, len(uuids)) }
	if strings.HasPrefix(list, "GPU-") {
		for _, u := range uuids {
			names = append(names, fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:]))
		}
		find = func(s string) int { return onlyPrefix(s, names) }
	}
	var out []int
	seen := make([]bool, len(uuids))
	for s := range strings.SplitSeq(list, ",") {
		i := find(s)
		if i < 0 {
			break
		}
		if seen[i] {
			return nil
		}
		seen[i] = true
		out = append(out, i)
	}
	return out
}

// ordinal reads a number below n as strtoul does, which takes what a text begins with; -1 when there is none.
func ordinal(s string, n int) int {
	s = strings.TrimLeft(s, " \t\n\v\f\r")
	s = strings.TrimPrefix(s, "+")
	end := 0
	for end < len(s) && '0' <= s[end] && s[end] <= '9' {
		end++
	}
	i, err := strconv.Atoi(s[:end])
	if err != nil || i >= n {
		return -1
	}
	return i
}

// onlyPrefix is the one name that begins with s; -1 when it is none or several.
func onlyPrefix(s string, names []string) int {
	found := -1
	for i, name := range names {
		if !strings.HasPrefix(name, s) {
			continue
		}
		if found >= 0 {
			return -1
		}
		found = i
	}
	return found
}
