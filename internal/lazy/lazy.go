// Package lazy does things when they are first needed, once. Other than with package sync, what panicked counts as not
// done: the next caller tries again, where sync.Once would let it go on with what is half made.
package lazy

import (
	"sync"
	"sync/atomic"
)

// Once is as sync.Once. The zero value is ready.
type Once struct {
	done atomic.Bool
	mu   sync.Mutex
}

// Do calls f unless a call of Do has returned before. Callers that come meanwhile wait. f may run again after a panic.
func (o *Once) Do(f func()) {
	if o.done.Load() {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if !o.done.Load() {
		f()
		o.done.Store(true)
	}
}

// Func is as sync.OnceValue: a function that calls f when it is first called, and returns its value from then on.
func Func[T any](f func() T) func() T {
	var once Once
	var value T
	make := func() { value = f() }
	return func() T {
		once.Do(make)
		return value
	}
}
