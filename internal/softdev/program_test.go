package softdev

import (
	"testing"

	"github.com/gocuda/cuda/internal/driver"
	"github.com/gocuda/cuda/internal/image/fault"
)

// The results of package fault are those of the API: the same names have the same numbers.
func TestImageResults(t *testing.T) {
	for c := fault.Format; c <= fault.TooLarge; c++ {
		if r := c.Result(); driver.CUresult(r).String() != r.String() {
			t.Errorf("%v: %d is %s, not %s", c, uint32(r), driver.CUresult(r), r)
		}
	}
	for _, r := range fault.Results() {
		if driver.CUresult(r).String() != r.String() {
			t.Errorf("%d is %s, not %s", uint32(r), driver.CUresult(r), r)
		}
	}
}
