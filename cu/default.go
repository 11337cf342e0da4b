package cu

import (
	"cmp"
	"errors"
	"sync"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/env"
)

// Default returns the API that the functions of the package use. The first call opens the device, later ones return the
// same. The environment variable GOCUDA_DEVICE chooses it: driver (the NVIDIA driver), software (the software CUDA
// device), or auto, also when unset: the driver if it loads and has a device, else the software device. The error is a
// [*DeviceError].
func Default() (*API, error) { return defaultAPI() }

var defaultAPI = sync.OnceValues(openDefault)

func openDefault() (*API, error) {
	d, err := device.Open(device.Options{})
	if errors.As(err, new(*device.ChoiceError)) {
		err = errors.New("must be driver, software or auto")
	}
	if err != nil {
		return nil, &DeviceError{Choice: cmp.Or(env.Read(nil).Device, "auto"), Err: err}
	}
	return New(d.Table), nil
}
