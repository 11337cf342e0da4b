package cu

import (
	"errors"
	"os"
	"sync"

	"github.com/gocuda/cuda/internal/device"
	"github.com/gocuda/cuda/internal/driver"
)

// Default returns the API that the functions of the package use. The first call opens the device, later ones return the same. The environment variable
// GOCUDA_DEVICE chooses it: driver (the NVIDIA driver), software (the software CUDA device), or auto, also when unset: the driver if it loads
// and has a device, else the software device. The error is a [*DeviceError].
func Default() (*API, error) { return defaultAPI() }

var defaultAPI = sync.OnceValues(func() (*API, error) { return openChoice(os.Getenv("GOCUDA_DEVICE")) })

func openChoice(choice string) (*API, error) {
	switch choice {
	case "":
		choice = "auto"
	case "auto", "driver", "software":
	default:
		return nil, &DeviceError{Choice: choice, Err: errors.New("must be driver, software or auto")}
	}
	t, err := openDefault(choice)
	if err != nil {
		return nil, &DeviceError{Choice: choice, Err: err}
	}
	return New(t), nil
}

// openDefault opens a device by its choice: driver, software or auto.
func openDefault(choice string) (*driver.Table, error) {
	kind, err := device.ParseKind(choice)
	if err != nil {
		return nil, err
	}
	d, err := device.Open(device.Options{Kind: kind})
	if err != nil {
		return nil, err
	}
	return d.Table, nil
}
