// Package plant makes any statement of the module panic, for the test of the boundary for panics (package defect). No
// package imports it: the test builds a copy of the packages below the driver table in which every statement that can
// panic asks Here first (Overlay).
package plant

import (
	"errors"
	"sync/atomic"
)

// ErrPlanted is what a planted statement panics with.
var ErrPlanted = errors.New("planted")

// MaxPlaces bounds the places of a program.
const MaxPlaces = 1 << 16

// The state is the process's: the places are compiled into its packages.
var (
	armed  atomic.Int64 // place and one; 0: none
	before atomic.Int64 // times that the place is passed before
	fired  atomic.Bool
	passed [MaxPlaces]atomic.Uint32 // how often each place was passed
	record atomic.Bool
)

// Here says whether the statement at a place has to panic.
func Here(place int64) bool {
	if record.Load() {
		passed[place].Add(1)
	}
	if armed.Load() != place+1 || before.Add(-1) != -1 {
		return false
	}
	fired.Store(true)
	return true
}

// Arm makes the statement at a place panic once, when it has been passed n times.
func Arm(place, n int) {
	fired.Store(false)
	before.Store(int64(n))
	armed.Store(int64(place) + 1)
}

// Disarm ends what Arm began. It says whether the statement has panicked.
func Disarm() bool {
	armed.Store(0)
	return fired.Load()
}

// Record counts from now on how often each place is passed.
func Record() {
	for i := range passed {
		passed[i].Store(0)
	}
	record.Store(true)
}

// Passed ends what Record began. It returns the counts of the places that were passed.
func Passed() map[int]uint32 {
	record.Store(false)
	m := map[int]uint32{}
	for i := range passed {
		if n := passed[i].Load(); n > 0 {
			m[i] = n
		}
	}
	return m
}
