//go:build !unix

package limits

import "time"

var started = time.Now()

// processorTime is the time since the process started: no less than what one thread can have worked.
func processorTime() time.Duration { return time.Since(started) }
