//go:build !linux && !darwin && !windows

package softdev

// threadID is the same for all threads where there is no portable way to ask: the current context is then one for the
// process, and callers have to name the context in each call.
func threadID() uint64 { return 0 }

// threadEnded says whether the process has no thread of this number any more; here it cannot be asked cheaply.
func threadEnded(uint64) bool { return false }
