package softdev

import (
	"fmt"
	"testing"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// Clusters on the device at once: recorded on an H200 (group func, occ/clusters).
func TestActiveClusters(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	nop := fn(t, d, ctx, load(t, d, ctx, graphPTX), "nop")
	config := func(cluster, threads, shared uint32) *driver.CUlaunchConfig {
		a := &driver.CUlaunchAttribute{Id: driver.CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION}
		*a.Value.ClusterDim() = driver.CUlaunchAttributeValue_clusterDim{X: cluster, Y: 1, Z: 1}
		c := &driver.CUlaunchConfig{GridDimX: cluster * 132, GridDimY: 1, GridDimZ: 1, BlockDimX: threads, BlockDimY: 1,
			BlockDimZ: 1, SharedMemBytes: shared}
		if cluster > 0 {
			c.Attrs, c.NumAttrs = a, 1
		} else {
			c.GridDimX = 1320
		}
		return c
	}
	for _, c := range []struct {
		cluster, threads, shared uint32
		result                   driver.CUresult
		n                        int32
	}{
		{1, 128, 0, 0, 1056}, {2, 128, 0, 0, 528}, {8, 128, 0, 0, 124},
		{16, 128, 0, driver.CUDA_ERROR_INVALID_CLUSTER_SIZE, -1}, {8, 1024, 0, 0, 30}, {8, 1024, 100000, 0, 0},
		{4, 256, 49152, 0, 124},
	} {
		n := int32(-1)
		want(t, fmt.Sprint(c), tab.OccupancyMaxActiveClusters(ctx, &n, nop, config(c.cluster, c.threads, c.shared)),
			c.result)
		if n != c.n {
			t.Errorf("%+v: %d", c, n)
		}
	}
	for _, c := range []struct {
		threads, shared uint32
		n               int32
	}{{128, 0, 8}, {1024, 0, 8}, {1024, 200000, 0}} {
		n := int32(-1)
		must(t, tab.OccupancyMaxPotentialClusterSize(ctx, &n, nop, config(0, c.threads, c.shared)))
		if n != c.n {
			t.Errorf("largest cluster of %+v: %d", c, n)
		}
	}
}

// The resource of the device is recorded (132 multiprocessors in units of 8); the rest is as
// cuDevSmResourceSplitByCount and cuGreenCtxCreate document it.
func TestGreenContexts(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	var all, rest driver.CUdevResource
	for _, typ := range []driver.CUdevResourceType{0, 2, 3, 4} {
		want(t, "type", tab.DeviceGetDevResource(ctx, 0, &all, typ), driver.CUDA_ERROR_INVALID_RESOURCE_TYPE)
	}
	must(t, tab.DeviceGetDevResource(ctx, 0, &all, driver.CU_DEV_RESOURCE_TYPE_SM))
	if *smOf(&all) != (driver.CUdevSmResource{SmCount: 132, MinSmPartitionSize: 8, SmCoscheduledAlignment: 8}) {
		t.Errorf("%+v", *smOf(&all))
	}
	n := uint32(0)
	must(t, tab.DevSmResourceSplitByCount(ctx, nil, &n, &all, nil, 0, 20))
	if n != 5 { // groups of 24
		t.Errorf("%d groups possible", n)
	}
	parts := make([]driver.CUdevResource, 2)
	n = 2
	must(t, tab.DevSmResourceSplitByCount(ctx, &parts[0], &n, &all, &rest, 0, 20))
	if n != 2 || smOf(&parts[1]).SmCount != 24 || smOf(&rest).SmCount != 84 {
		t.Errorf("%d groups of %d, rest %d", n, smOf(&parts[1]).SmCount, smOf(&rest).SmCount)
	}
	want(t, "more than there are", tab.DevSmResourceSplitByCount(ctx, &parts[0], &n, &all, &rest, 0, 133),
		driver.CUDA_ERROR_INVALID_RESOURCE_CONFIGURATION)
	var desc driver.CUdevResourceDesc
	must(t, tab.DevResourceGenerateDesc(ctx, &desc, &parts[0], 2))
	var g driver.CUgreenCtx
	want(t, "without the flag", tab.GreenCtxCreate(ctx, &g, desc, 0, 0), bad)
	must(t, tab.GreenCtxCreate(ctx, &g, desc, 0, uint32(driver.CU_GREEN_CTX_DEFAULT_STREAM)))
	must(t, tab.GreenCtxGetDevResource(ctx, g, &rest, driver.CU_DEV_RESOURCE_TYPE_SM))
	if smOf(&rest).SmCount != 48 {
		t.Errorf("the context has %d", smOf(&rest).SmCount)
	}
	var s driver.CUstream
	want(t, "blocking stream", tab.GreenCtxStreamCreate(ctx, &s, g, 0, 0), bad)
	must(t, tab.GreenCtxStreamCreate(ctx, &s, g, uint32(driver.CU_STREAM_NON_BLOCKING), 0))
	var back driver.CUgreenCtx
	must(t, tab.StreamGetGreenCtx(ctx, s, &back))
	if back != g {
		t.Errorf("the stream's green context %#x, made %#x", back, g)
	}
	var gc driver.CUcontext
	must(t, tab.CtxFromGreenCtx(ctx, &gc, g))
	nop := fn(t, d, gc, load(t, d, gc, graphPTX), "nop")
	gate := newGate()
	gate.hold(t, tab, gc, s)
	must(t, launch1(tab, gc, nop, s))
	e := newTestEvent(t, tab, gc)
	must(t, tab.GreenCtxRecordEvent(ctx, g, e))
	want(t, "event behind the stream's work", tab.EventQuery(gc, e), notReady)
	close(gate.open)
	must(t, tab.EventSynchronize(gc, e))
	must(t, tab.GreenCtxDestroy(ctx, g))
	// as NULL (recorded: internal/conform/sequence)
	want(t, "destroyed", tab.GreenCtxGetId(ctx, g, new(uint64)), driver.CUDA_ERROR_INVALID_CONTEXT)
}

// A registered notification has a handle; what it would tell of never happens.
func TestAsyncNotification(t *testing.T) {
	_, tab, ctx := open(t, Options{})
	var h driver.CUasyncCallbackHandle
	f := driver.CUasyncCallback{Go: func(*driver.CUasyncNotificationInfo, uintptr, driver.CUasyncCallbackHandle) {
		t.Error("called")
	}}
	must(t, tab.DeviceRegisterAsyncNotification(ctx, 0, f, 1, &h))
	must(t, tab.DeviceUnregisterAsyncNotification(ctx, 0, h))
	want(t, "twice", tab.DeviceUnregisterAsyncNotification(ctx, 0, h), bad)
}

// What makes no sense without hardware says why.
func TestAbsent(t *testing.T) {
	d, tab, ctx := open(t, Options{})
	want(t, "buffer of OpenGL", tab.GraphicsGLRegisterBuffer(ctx, new(driver.CUgraphicsResource), 1, 0),
		driver.CUDA_ERROR_NOT_SUPPORTED)
	if got := d.LastDetail(ctx); got != "cuGraphicsGLRegisterBuffer: "+noGraphics {
		t.Errorf("detail %q", got)
	}
	var fd int32
	want(t, "dma-buf", tab.MemGetHandleForAddressRange(ctx, unsafe.Pointer(&fd), alloc(t, tab, ctx, 64), 64,
		driver.CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0), driver.CUDA_ERROR_NOT_SUPPORTED)
}

// TestImplements counts what is there.
func TestImplements(t *testing.T) {
	d, _, _ := open(t, Options{})
	have, all := 0, 0
	for s := range driver.Symbols() {
		all++
		if d.Implements(s.Name) {
			have++
		} else {
			t.Log("not implemented:", s.Name)
		}
	}
	t.Logf("%d of %d functions", have, all)
	if have < 530 {
		t.Errorf("only %d functions are implemented", have)
	}
}
