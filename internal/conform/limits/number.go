package limits

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

// number is a number of a call.
type number struct {
	name string
	v    reflect.Value // settable
}

// handles are integers that name something: what they are is not a matter of size.
var handles = map[reflect.Type]bool{
	reflect.TypeFor[driver.CUdeviceptr]():                  true,
	reflect.TypeFor[driver.CUdeviceptr_v1]():               true,
	reflect.TypeFor[driver.CUmemGenericAllocationHandle](): true,
	reflect.TypeFor[driver.CUgraphConditionalHandle]():     true,
	reflect.TypeFor[driver.CUtexObject]():                  true,
	reflect.TypeFor[driver.CUsurfObject]():                 true,
}

// numbers appends the numbers in a value. Reserved members are none, nor are unions, whose members the maker of the
// value names.
func numbers(list []number, name string, v reflect.Value) []number {
	t := v.Type()
	switch k := t.Kind(); {
	case handles[t], k == reflect.Uintptr:
	case v.CanInt(), v.CanUint():
		return append(list, number{name, v})
	case k == reflect.Array && t.Elem().Size() > 1:
		for i := range v.Len() {
			list = numbers(list, fmt.Sprintf("%s[%d]", name, i), v.Index(i))
		}
	case k == reflect.Struct:
		for i := range t.NumField() {
			f := t.Field(i)
			if !f.IsExported() || strings.HasPrefix(f.Name, "Reserved") || strings.HasPrefix(f.Name, "Pad") {
				continue
			}
			list = numbers(list, name+"."+f.Name, v.Field(i))
		}
	}
	return list
}

// value is a number that is tried.
type value struct {
	text string
	bits uint64
}

// limits are the values that a number of a type is set to. device and host are addresses, of which sizes are tried that
// wrap with them.
func limits(t reflect.Type, device, host uint64) (list []value) {
	bits := uint(t.Size()) * 8
	powers := []uint{bits - 1, bits}
	list = []value{{"0", 0}, {"1", 1}}
	if bits >= 32 {
		list = append(list, value{"2^24", 1 << 24}) // that one has memory for
	}
	if bits == 64 {
		powers = []uint{31, 32, 63, 64}
	}
	for _, n := range powers {
		text := "2^" + strconv.Itoa(int(n))
		list = append(list, value{text + "-1", 1<<n - 1})
		if n < bits {
			list = append(list, value{text, 1 << n})
		}
	}
	if bits == 64 {
		for _, a := range []value{{"device", device}, {"host", host}} {
			for _, d := range []int64{-1, 0, 1} {
				list = append(list, value{fmt.Sprintf("-%s%+d", a.text, d), uint64(d) - a.bits})
			}
		}
	}
	return list
}

// set gives the number a value.
func (n *number) set(bits uint64) {
	if n.v.CanInt() {
		shift := 64 - uint(n.v.Type().Size())*8
		n.v.SetInt(int64(bits<<shift) >> shift)
		return
	}
	n.v.SetUint(bits)
}
