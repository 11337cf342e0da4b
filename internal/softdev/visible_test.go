package softdev

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/env"
	"github.com/gocuda/cuda/profiles"
)

func gpuName(u [16]byte) string {
	return fmt.Sprintf("GPU-%x-%x-%x-%x-%x", u[:4], u[4:6], u[6:8], u[8:10], u[10:])
}

// The first three groups are the CUDA Programming Guide's rules and examples ("CUDA Environment Variables"). That a
// device which comes twice leaves none, and that numbers are read as strtoul does, is what PyTorch's torch.cuda does as
// the driver's way; both are not recorded yet.
func TestVisible(t *testing.T) {
	uuids := [][16]byte{{0x89, 0x32, 0xf9, 0x37, 0xd7}, {0x89, 0x32, 0x11}, {0xab}}
	one := gpuName(uuids[0])
	for _, c := range []struct {
		list string
		want []int
	}{
		{"", nil}, {"0", []int{0}}, {"2,1", []int{2, 1}}, {"0,2,-1,1", []int{0, 2}}, {"1,7,0", []int{1}}, {"3", nil},
		{"-1", nil},
		{one, []int{0}}, {"GPU-8932f937", []int{0}}, {"GPU-ab,GPU-89321", []int{2, 1}}, {"GPU-", nil},
		{"GPU-8932", nil}, {"GPU-ab,GPU-8932,GPU-89321", []int{2}}, {one + "0", nil},
		{"MIG-" + one + "/1/0", nil}, {"MIG-8932f937-d700-0000-0000-000000000000", nil},
		{"0,0", nil}, {"0,1,0", nil}, {"GPU-ab,GPU-ab0", nil}, {"0,9,0", []int{0}},
		{" 1, 2", []int{1, 2}}, {"1gpu,2", []int{1, 2}}, {"+1", []int{1}}, {"01", []int{1}}, {"0x1", []int{0}},
		{"gpu", nil},
		{",1", nil}, {"1,", []int{1}}, {"1,,2", []int{1}}, {"1," + one, []int{1}}, {one + ",1", []int{0}},
		{"99999999999999999999", nil},
	} {
		if got := visible(c.list, uuids); !slices.Equal(got, c.want) {
			t.Errorf("%q: %v, want %v", c.list, got, c.want)
		}
	}
}

// Devices keep what they are when others are hidden.
func TestMasked(t *testing.T) {
	at := func(list string, masked bool) (*Driver, error) {
		lookup := func(name string) (string, bool) {
			if name == env.Visible {
				return list, true
			}
			return "", false
		}
		return New(Options{Profiles: []string{"h200", "a100", "h200"}, Masked: masked, LookupEnv: lookup})
	}
	h200, err := profiles.Get("h200")
	if err != nil {
		t.Fatal(err)
	}
	d, err := at("2,1", true)
	if err != nil {
		t.Fatal(err)
	}
	tab := d.Table()
	must(t, tab.Init(0, 0))
	var n, bus int32
	var uuid driver.CUuuid
	must(t, tab.DeviceGetCount(0, &n))
	must(t, tab.DeviceGetUuid_v2(0, &uuid, 0))
	must(t, tab.DeviceGetAttribute(0, &bus, driver.CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, 0))
	if n != 2 || uuid.Bytes != h200.UUID(2) || d.devices[1].profile.ID != "a100" {
		t.Errorf("%d devices, UUID %x, then %s", n, uuid.Bytes, d.devices[1].profile.ID)
	}
	var dev driver.CUdevice
	var name [32]byte
	must(t, tab.DeviceGetPCIBusId(0, &name[0], 32, 0))
	must(t, tab.DeviceGetByPCIBusId(0, &dev, &name[0]))
	var ctx driver.CUcontext
	must(t, tab.DevicePrimaryCtxRetain(0, &ctx, 0))
	must(t, tab.CtxGetDevice(ctx, &dev))
	if dev != 0 {
		t.Errorf("device %d", dev)
	}
	if err := d.Close(); err != nil {
		t.Error(err)
	}
	var none *NoDeviceError
	if _, err := at("3", true); !errors.As(err, &none) || none.Visible != "3" || none.Devices != 3 {
		t.Errorf("no device left: %v", err)
	}
	if d, err = at("", false); err != nil || len(d.devices) != 3 {
		t.Errorf("not masked: %v", err)
	} else if err := d.Close(); err != nil {
		t.Error(err)
	}
}
