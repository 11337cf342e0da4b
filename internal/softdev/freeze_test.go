//go:build linux || darwin

package softdev

import (
	"testing"
	"time"

	"github.com/gocuda/cuda/internal/driver"
)

// While memory moves (cuIpcGetMemHandle) launches of graphs wait for the graphs that run, and nothing else waits for
// them.
func TestFreezeBesideGraphLaunches(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	slow, entered := make(chan struct{}), make(chan struct{}, 1)
	var p driver.CUDA_HOST_NODE_PARAMS
	p.Fn, p.UserData, _ = tab.HostFunc(func() { entered <- struct{}{}; <-slow })
	var g driver.CUgraph
	var n driver.CUgraphNode
	var x [2]driver.CUgraphExec
	must(t, tab.GraphCreate(ctx, &g, 0))
	must(t, tab.GraphAddHostNode(ctx, &n, g, nil, 0, &p))
	must(t, tab.GraphInstantiateWithFlags(ctx, &x[0], g, 0))
	must(t, tab.GraphCreate(ctx, &g, 0))
	must(t, tab.GraphInstantiateWithFlags(ctx, &x[1], g, 0))
	s := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	other := newTestStream(t, tab, ctx, uint32(driver.CU_STREAM_NON_BLOCKING))
	memory := alloc(t, tab, ctx, 1<<20)
	must(t, tab.GraphLaunch(ctx, x[0], s))
	<-entered
	results := make(chan driver.CUresult)
	go func() {
		var h driver.CUipcMemHandle
		results <- tab.IpcGetMemHandle(ctx, &h, memory)
	}()
	time.Sleep(20 * time.Millisecond) // it waits for the first graph now
	go func() { results <- tab.GraphLaunch(ctx, x[1], other) }()
	time.Sleep(20 * time.Millisecond)
	asked := make(chan driver.CUresult)
	go func() {
		var h driver.CUgraph
		asked <- tab.GraphCreate(ctx, &h, 0)
	}()
	select {
	case r := <-asked:
		must(t, r)
	case <-time.After(10 * time.Second):
		t.Error("a call about graphs waits for a launch that waits")
		defer func() { <-asked }()
	}
	close(slow)
	must(t, <-results)
	must(t, <-results)
	must(t, tab.CtxSynchronize(ctx))
}
