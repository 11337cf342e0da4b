//go:build unix

package limits

import (
	"time"

	"golang.org/x/sys/unix"
)

// processorTime is what all threads of this process have worked.
func processorTime() time.Duration {
	var r unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &r); err != nil {
		return 0
	}
	return time.Duration(r.Utime.Nano() + r.Stime.Nano())
}
