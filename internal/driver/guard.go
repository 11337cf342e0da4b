package driver

// guard is a boundary for panics.
type guard struct {
	failed func(field int, cur CUcontext, value any) CUresult
}

// Guard puts a boundary around every function of the table, and of its PerThread table: a panic in one becomes the
// result that failed makes of it. It is called in the goroutine that panicked, whose stack still stands, with the
// function (Symbol.Field), the context of the call, 0 for the thread's, and the panic's value. A panic of failed goes
// on in the caller.
func (t *Table) Guard(failed func(field int, cur CUcontext, value any) CUresult) {
	g := &guard{failed}
	g.wrap(t)
	if t.PerThread != nil {
		g.wrap(t.PerThread)
	}
}

// leave is deferred by every function; failed must not see the result's address, or every call would allocate.
func (g *guard) leave(field int, cur CUcontext, result *CUresult) {
	if v := recover(); v != nil {
		*result = g.failed(field, cur, v)
	}
}
