//go:build race

package skip

// Race says that the race detector is on.
const Race = true
