//go:build !race

package nvidia

const raceEnabled = false
