//go:build race

package nvidia

const raceEnabled = true
