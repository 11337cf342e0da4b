package softdev

import "github.com/gocuda/cuda/internal/driver"

// Opened is a Driver as other packages hold it. A package that names the Driver itself compiles the methods of each of
// its tables of handles once more, since they are generic: more than a second of processor time for each such package.
type Opened interface {
	Table() *driver.Table
	Close() error
	LastDetail(cur driver.CUcontext) string
	TakeDetail(cur driver.CUcontext) string
	Interrupt(ctx driver.CUcontext) bool
	Broken(ctx driver.CUcontext) driver.CUresult
	Stoppable(values *uintptr) (stop, forget func())
	Params(f driver.CUfunction) []Param
	Occupancy(f driver.CUfunction, threads int32, dynamic uint64) (Occupancy, bool)
	EngineName() string
	EngineISA() string
	EngineWhy() error
	Support(symbol string) (s Support, ok bool)
}

// Open is New for other packages.
func Open(o Options) (Opened, error) {
	d, err := New(o)
	if err != nil {
		return nil, err
	}
	return d, nil
}
