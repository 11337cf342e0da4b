package softdev

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
)

// recordedVersion is the CUDA version of the driver whose answers are recorded.
const recordedVersion = 13000

// DriverVersionError says that a version for cuDriverGetVersion (Options.DriverVersion or GOCUDA_DRIVER_VERSION) is
// none that the software device can be.
type DriverVersionError struct {
	Value  string
	Oldest int32 // of the profile
}

func (e *DriverVersionError) Error() string {
	return fmt.Sprintf("%s=%q: not a CUDA version from %s to %s", env.DriverVersion, e.Value, versionText(e.Oldest),
		versionText(driver.CUDA_VERSION))
}

// versionText is a CUDA version as people write it.
func versionText(v int32) string { return fmt.Sprintf("%d.%d", v/1000, v%1000/10) }

// parseVersion reads 13.5 as 13050. The empty text is the profile's version.
func parseVersion(text string, profile int32) (int32, error) {
	value := strings.TrimSpace(text)
	if value == "" {
		return profile, nil
	}
	major, minor, _ := strings.Cut(value, ".")
	a, err := strconv.ParseUint(major, 10, 8)
	b, err2 := strconv.ParseUint(minor, 10, 4)
	v := int32(a)*1000 + int32(b)*10
	if err != nil || err2 != nil || len(major) != 2 || len(minor) != 1 || v < profile || v > driver.CUDA_VERSION {
		return 0, &DriverVersionError{text, profile}
	}
	return v, nil
}

// chooseVersion decides what cuDriverGetVersion says, and with it which functions and numbers there are. Profiles say
// the version that was recorded.
func (d *Driver) chooseVersion() (err error) {
	text := d.env.DriverVersion
	if d.opts.DriverVersion != 0 {
		text = versionText(d.opts.DriverVersion)
	}
	d.cudaVersion, err = parseVersion(text, d.devices[0].profile.DriverVersion)
	return err
}

// version is the CUDA version that the driver reports.
func (d *Driver) version() int32 { return d.cudaVersion }

// pick chooses the end of an enumeration, which is longer in versions after the recorded one. In which of them it grew
// is not recorded.
func pick[T any](d *Driver, recorded, newer T) T {
	if d.version() > recordedVersion {
		return newer
	}
	return recorded
}

// The ends of enumerations that CUDA 13.0 has less of.

func (d *Driver) limitMax() driver.CUlimit { return pick(d, 10, driver.CU_LIMIT_MAX) }

func (d *Driver) jitOptionMax() driver.CUjit_option { return pick(d, 35, driver.CU_JIT_NUM_OPTIONS) }

func (d *Driver) funcAttributeMax() driver.CUfunction_attribute {
	return pick(d, 16, driver.CU_FUNC_ATTRIBUTE_MAX)
}

// withhold takes the functions out of a table that a driver of the device's version does not have.
func (d *Driver) withhold(t *driver.Table) {
	v := reflect.ValueOf(t).Elem()
	for s := range driver.Symbols() {
		if s.Since > int(d.version()) {
			v.Field(s.Field).SetZero()
		}
	}
}

// refusal says why a function only answers CUDA_ERROR_NOT_SUPPORTED.
func (d *Driver) refusal(name string) string {
	if s, ok := driver.Lookup(name); ok && s.Since > int(d.version()) {
		return fmt.Sprintf("%s needs CUDA %s; the software device is a driver of CUDA %s (%s)", name,
			versionText(int32(s.Since)), versionText(d.version()), env.DriverVersion)
	}
	return name + " is not supported by the software device"
}

// laterAttribute is an attribute that 13.0 does not have: what it is about is not here, and every device has one
// locality domain, which is all of it.
func (dev *device) laterAttribute(attr driver.CUdevice_attribute) (v int32, ok bool) {
	switch {
	case dev.d.version() <= recordedVersion, attr < driver.CU_DEVICE_ATTRIBUTE_ATOMIC_REDUCTION_SUPPORTED,
		attr >= driver.CU_DEVICE_ATTRIBUTE_MAX:
		return 0, false
	case attr == driver.CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_COUNT:
		return 1, true
	case attr == driver.CU_DEVICE_ATTRIBUTE_LOCALITY_DOMAIN_MULTIPROCESSOR_COUNT:
		return int32(dev.limits.sms), true
	}
	return 0, true
}
