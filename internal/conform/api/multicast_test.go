package api

import (
	"io"
	"testing"

	"github.com/gocuda/cuda/internal/driver"
)

// TestNoMulticastObject: no case makes a multicast object of a driver that can, whatever it asks for.
func TestNoMulticastObject(t *testing.T) {
	made := false
	table := &driver.Table{
		DeviceGetCount: func(_ driver.CUcontext, n *int32) driver.CUresult {
			*n = 2
			return driver.CUDA_SUCCESS
		},
		DeviceGetAttribute: func(_ driver.CUcontext, v *int32, a driver.CUdevice_attribute,
			_ driver.CUdevice) driver.CUresult {
			*v = 0
			if a == driver.CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED {
				*v = 1
			}
			return driver.CUDA_SUCCESS
		},
		MulticastCreate: func(driver.CUcontext, *driver.CUmemGenericAllocationHandle,
			*driver.CUmulticastObjectProp) driver.CUresult {
			made = true
			return driver.CUDA_SUCCESS
		},
	}
	e := &Env{T: table, name: "test", out: io.Discard}
	var h driver.CUmemGenericAllocationHandle
	r := e.Do("cuMulticastCreate", &h, in{"prop", &driver.CUmulticastObjectProp{NumDevices: 1, Size: 2 << 20}})
	if made || r == driver.CUDA_SUCCESS {
		t.Errorf("an object was made: %v", r)
	}
}
