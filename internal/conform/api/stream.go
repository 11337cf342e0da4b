package api

import "github.com/gocuda/cuda/internal/driver"

func streamCases(c *cases) {
	var (
		s    driver.CUstream
		u    uint32
		a    int32
		ctx  driver.CUcontext
		n    uint64
		dev  driver.CUdevice
		none driver.CUstreamCallback

		capturing driver.CUstreamCaptureStatus
	)
	for _, x := range []int{0, 1, 2, 3, 4, -1} {
		c.add("stream/create/"+itoa(x), func(e *Env) {
			if e.Do("cuStreamCreate", &s, x) == driver.CUDA_SUCCESS {
				e.Do("cuStreamGetFlags", s, &u)
				e.Do("cuStreamDestroy_v2", s)
			}
		})
	}
	c.call("stream/create/null", "cuStreamCreate", nil, 0)
	c.noContext("stream/no-context", func(e *Env) {
		e.Do("cuStreamCreate", in{"&", &s}, 0) // the driver leaves a number there that is no stream
		e.Do("cuStreamSynchronize", nil)
		e.Do("cuStreamQuery", nil)
		e.Do("cuStreamSynchronize", 1)
		e.Do("cuStreamDestroy_v2", nil)
	})
	for _, x := range [][2]int{{0, 0}, {0, -1}, {0, -5}, {0, -6}, {0, 5}, {1, -100}, {2, 0}, {0, 100}} {
		c.add("stream/priority/"+itoa(x[0])+"/"+itoa(x[1]), func(e *Env) {
			if e.Do("cuStreamCreateWithPriority", &s, x[0], x[1]) == driver.CUDA_SUCCESS {
				e.Do("cuStreamGetPriority", s, &a)
				e.Do("cuStreamGetFlags", s, &u)
			}
		})
	}
	for _, what := range []string{"null", "legacy", "per-thread", "blocking", "non-blocking"} {
		c.add("stream/calls/"+what, func(e *Env) {
			var s driver.CUstream
			switch what {
			case "legacy":
				s = 1
			case "per-thread":
				s = 2
			case "blocking":
				s = e.stream(0)
			case "non-blocking":
				s = e.stream(1)
			}
			v := e.event(0)
			e.Must("cuCtxSynchronize")
			e.Do("cuStreamQuery", s)
			e.Do("cuStreamSynchronize", s)
			e.Do("cuStreamGetFlags", s, &u)
			e.Do("cuStreamGetPriority", s, &a)
			e.Do("cuStreamGetCtx", s, &ctx)
			e.Do("cuStreamGetId", s, hidden{&n})
			e.Do("cuStreamGetDevice", s, &dev)
			e.Do("cuStreamIsCapturing", s, &capturing)
			e.Do("cuStreamGetFlags", s, nil)
			e.Do("cuStreamGetPriority", s, nil)
			e.Do("cuStreamGetCtx", s, nil)
			e.Do("cuStreamGetId", s, nil)
			e.Do("cuStreamWaitEvent", s, v, 0)
			e.Do("cuStreamWaitEvent", s, v, 2)
			e.Do("cuStreamWaitEvent", s, nil, 0)
			e.Do("cuEventRecord", v, s)
			e.Do("cuEventRecordWithFlags", v, s, 2)
			e.Do("cuStreamAddCallback", s, none, 0, 0)
			e.Do("cuStreamEndCapture", s, nil)
			e.Do("cuStreamDestroy_v2", s)
		})
	}
	c.alone("stream/garbage", func(e *Env) { e.Do("cuStreamQuery", garbage) })
	c.alone("stream/destroyed/query", func(e *Env) {
		s := e.stream(0)
		e.Do("cuStreamDestroy_v2", s)
		e.Do("cuStreamQuery", s)
	})
	c.alone("stream/destroyed/destroy", func(e *Env) {
		s := e.stream(0)
		e.Do("cuStreamDestroy_v2", s)
		e.Do("cuStreamDestroy_v2", s)
	})
	c.add("stream/no-context-current", func(e *Env) {
		s := e.stream(0)
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuStreamQuery", s)
		e.Do("cuStreamSynchronize", s)
		e.Do("cuStreamGetFlags", s, &u)
		e.Do("cuStreamGetCtx", s, &ctx)
		e.Do("cuStreamDestroy_v2", s)
	})
	c.add("stream/callback", func(e *Env) {
		s := e.stream(0)
		var got driver.CUresult = 99
		fn := driver.CUstreamCallback{Go: func(_ driver.CUstream, r driver.CUresult, _ uintptr) { got = r }}
		e.Do("cuStreamAddCallback", s, named("note", fn), 0, 0)
		e.Do("cuStreamAddCallback", s, named("note", fn), 0, 1)
		e.Do("cuStreamSynchronize", s)
		e.Note("status %v", got)
	})
}

func eventCases(c *cases) {
	var (
		v  driver.CUevent
		ms float32
	)
	for _, x := range []int{0, 1, 2, 3, 4, 5, 6, 7, 8, -1} {
		c.add("event/create/"+itoa(x), func(e *Env) {
			if e.Do("cuEventCreate", &v, x) == driver.CUDA_SUCCESS {
				e.Do("cuEventQuery", v)
				e.Do("cuEventSynchronize", v)
				e.Do("cuEventRecord", v, nil)
				e.Do("cuEventSynchronize", v)
				e.Do("cuEventDestroy_v2", v)
			}
		})
	}
	c.call("event/create/null", "cuEventCreate", nil, 0)
	for _, fn := range []string{"cuEventElapsedTime", "cuEventElapsedTime_v2"} {
		c.add("event/elapsed/"+fn, func(e *Env) {
			a, b, n := e.event(0), e.event(0), e.event(2)
			e.Do(fn, &ms, a, b)
			e.Must("cuEventRecord", a, nil)
			e.Must("cuCtxSynchronize")
			e.Do(fn, &ms, a, b)
			e.Do(fn, &ms, b, a)
			e.Must("cuEventRecord", b, nil)
			e.Must("cuEventRecord", n, nil)
			e.Must("cuCtxSynchronize")
			e.Do(fn, hidden{&ms}, a, b)
			e.Do(fn, hidden{&ms}, b, a)
			e.Do(fn, &ms, a, a)
			e.Do(fn, &ms, a, n)
			e.Do(fn, &ms, n, a)
			e.Do(fn, nil, a, b)
			e.Do(fn, &ms, nil, b)
			e.Do(fn, &ms, a, nil)
		})
	}
	for _, fn := range []string{"cuEventQuery", "cuEventSynchronize", "cuEventDestroy_v2"} {
		c.call("event/null/"+fn, fn, nil)
		c.alone("event/garbage/"+fn, func(e *Env) { e.Do(fn, garbage) })
		c.alone("event/destroyed/"+fn, func(e *Env) {
			v := e.event(0)
			e.Do("cuEventDestroy_v2", v)
			e.Do(fn, v)
		})
	}
	c.alone("event/destroyed/record", func(e *Env) {
		v := e.event(0)
		e.Do("cuEventDestroy_v2", v)
		e.Do("cuEventRecord", v, nil)
	})
	c.add("event/no-context", func(e *Env) {
		v := e.event(0)
		s := e.stream(0)
		e.Must("cuCtxSetCurrent", nil)
		e.Do("cuEventCreate", &v, 0)
		v = 0
		e.Do("cuEventQuery", v)
		e.Do("cuStreamSynchronize", s)
	})
	c.add("event/other-context", func(e *Env) {
		v := e.event(0)
		var other driver.CUcontext
		e.Must("cuCtxCreate_v2", &other, 0, 0)
		s := e.stream(0)
		e.Do("cuEventRecord", v, s)
		e.Do("cuStreamWaitEvent", s, v, 0)
		e.Do("cuEventQuery", v)
		e.Do("cuEventSynchronize", v)
		e.Do("cuEventDestroy_v2", v)
		e.Must("cuCtxDestroy_v2", other)
	})
}
