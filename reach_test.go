package cuda_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/gocuda/cuda"
	"github.com/gocuda/cuda/cu"
	"github.com/gocuda/cuda/cudatest"
	"github.com/gocuda/cuda/internal/skip"
)

// bindPTX has kernels k1 to k8 with as many parameters: an address, and numbers whose sum they store there.
func bindPTX() []byte {
	var b strings.Builder
	b.WriteString(".version 8.0\n.target sm_80\n.address_size 64\n")
	for n := 1; n <= 8; n++ {
		fmt.Fprintf(&b, ".visible .entry k%d(.param .u64 .ptr .global out", n)
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, ", .param .u32 v%d", i)
		}
		b.WriteString(")\n{\n.reg .b64 %p;\n.reg .b32 %s, %v;\nld.param.u64 %p, [out];\nmov.u32 %s, 0;\n")
		for i := 1; i < n; i++ {
			fmt.Fprintf(&b, "ld.param.u32 %%v, [v%d];\nadd.u32 %%s, %%s, %%v;\n", i)
		}
		b.WriteString("st.global.u32 [%p], %s;\nret;\n}\n")
	}
	return []byte(b.String())
}

func TestBindAll(t *testing.T) {
	c := cudatest.Open(t)
	m := cudatest.Load(t, c, bindPTX())
	x := cudatest.Alloc[uint32](t, c, 1)
	kernel := func(n int) *cuda.Kernel {
		k, err := m.Kernel(fmt.Sprintf("k%d", n))
		check(t, err)
		return k
	}
	type p = cuda.Pointer[uint32]
	type u = uint32
	k1, err := cuda.Bind1[p](kernel(1))
	check(t, err)
	k2, err := cuda.Bind2[p, u](kernel(2))
	check(t, err)
	k3, err := cuda.Bind3[p, u, u](kernel(3))
	check(t, err)
	k4, err := cuda.Bind4[p, u, u, u](kernel(4))
	check(t, err)
	k5, err := cuda.Bind5[p, u, u, u, u](kernel(5))
	check(t, err)
	k6, err := cuda.Bind6[p, u, u, u, u, u](kernel(6))
	check(t, err)
	k7, err := cuda.Bind7[p, u, u, u, u, u, u](kernel(7))
	check(t, err)
	k8, err := cuda.Bind8[p, u, u, u, u, u, u, u](kernel(8))
	check(t, err)
	if k8.Kernel().Name() != "k8" || k8.Kernel().Context() != c {
		t.Errorf("kernel %s", k8.Kernel().Name())
	}
	one, out := cuda.LinearBlock(1, 1), x.Ptr()
	for i, launch := range []func() error{
		func() error { return k1.Launch(nil, one, out) },
		func() error { return k2.Launch(nil, one, out, 1) },
		func() error { return k3.Launch(nil, one, out, 1, 10) },
		func() error { return k4.Launch(nil, one, out, 1, 10, 100) },
		func() error { return k5.Launch(nil, one, out, 1, 10, 100, 1000) },
		func() error { return k6.Launch(nil, one, out, 1, 10, 100, 1000, 10000) },
		func() error { return k7.Launch(nil, one, out, 1, 10, 100, 1000, 10000, 100000) },
		func() error { return k8.Launch(nil, one, out, 1, 10, 100, 1000, 10000, 100000, 1000000) },
	} {
		check(t, x.Fill(5))
		check(t, launch())
		cudatest.Equal(t, x.View, []uint32{[]uint32{0, 1, 11, 111, 1111, 11111, 111111, 1111111}[i]})
	}
}

func TestDeviceProperties(t *testing.T) {
	sys := cudatest.System(t)
	d := sys.Devices()[0]
	id, err := d.UUID()
	check(t, err)
	if id == [16]byte{} {
		t.Error("the UUID is zero")
	}
	bus, err := d.PCIBusID()
	check(t, err)
	var domain, b, dev, f int
	if n, err := fmt.Sscanf(bus, "%x:%x:%x.%x", &domain, &b, &dev, &f); n != 4 || err != nil {
		t.Errorf("PCI bus id %q", bus)
	}
	in, err := d.Info()
	check(t, err)
	if in.PCIDomain != domain || in.PCIBus != b || in.PCIDevice != dev {
		t.Errorf("PCI %x:%x:%x, want %s", in.PCIDomain, in.PCIBus, in.PCIDevice, bus)
	}
	name, err := d.Name()
	check(t, err)
	if s := d.String(); s != fmt.Sprintf("%s device 0: %s", sys.Kind(), name) {
		t.Errorf("%q", s)
	}
	c, err := d.Primary()
	check(t, err)
	if _, green := c.Green(); green {
		t.Error("the primary context is green")
	}
	check(t, c.SetLimit(cu.CU_LIMIT_STACK_SIZE, 4096))
	v, err := c.Limit(cu.CU_LIMIT_STACK_SIZE)
	check(t, err)
	if v < 4096 {
		t.Errorf("stack limit %d, want 4096 or more", v)
	}
	least, greatest, err := c.PriorityRange()
	check(t, err)
	if greatest > least {
		t.Errorf("priorities %d to %d", greatest, least)
	}
	s, err := c.NewStream(cuda.StreamOptions{Priority: greatest})
	check(t, err)
	if p, err := s.Priority(); p != greatest || err != nil || s.Context() != c {
		t.Errorf("priority %d %v, want %d", p, err, greatest)
	}
	check(t, s.Close())
	check(t, c.Close())
}

// TestPeers: a kernel on one device uses the memory of another.
func TestPeers(t *testing.T) {
	cudatest.SoftwareOnly(t)
	sys := cudatest.System(t, cuda.WithSoftware("h200", "h200"))
	ok, err := sys.Devices()[1].CanAccess(sys.Devices()[0])
	check(t, err)
	if !ok {
		t.Fatal("the devices cannot reach each other")
	}
	a, err := sys.Context(0)
	check(t, err)
	b, err := sys.Context(1)
	check(t, err)
	x, err := cuda.Upload(a, []uint32{1, 2})
	check(t, err)
	check(t, b.EnablePeer(a))
	m, err := b.Load(kernelsPTX)
	check(t, err)
	k, err := m.Kernel("addbias")
	check(t, err)
	check(t, k.Launch(nil, cuda.Linear(2), cuda.Ptr(x), cuda.Val(uint32(2))))
	check(t, b.Synchronize())
	cudatest.Equal(t, x.View, []uint32{6, 7})
	check(t, b.DisablePeer(a))
	if err := b.DisablePeer(a); !errors.Is(err, cuda.ErrPeerAccessNotEnabled) {
		t.Errorf("taken back twice: %v", err)
	}
	for _, r := range []io.Closer{x, m, a, b} {
		check(t, r.Close())
	}
}

func TestOutput(t *testing.T) {
	cudatest.SoftwareOnly(t)
	var out bytes.Buffer
	c := cudatest.Open(t, cuda.WithOutput(&out), cuda.WithWorkers(1))
	k := cudatest.Kernel(t, c, []byte(`.version 8.0
.target sm_80
.address_size 64
.extern .func (.param .b32 r) vprintf(.param .b64 format, .param .b64 args);
.global .align 1 .b8 text[7] = {98, 108, 111, 99, 107, 10, 0};
.visible .entry say()
{
	.reg .b64 %p;
	.reg .b32 %r;
	.param .b64 f, a;
	.param .b32 n;
	cvta.global.u64 %p, text;
	st.param.b64 [f], %p;
	mov.u64 %p, 0;
	st.param.b64 [a], %p;
	call (n), vprintf, (f, a);
	ret;
}
`), "say")
	check(t, k.Launch(nil, cuda.LinearBlock(3, 1)))
	check(t, c.Synchronize())
	if out.String() != "block\nblock\nblock\n" {
		t.Errorf("%q", out.String())
	}
}

func TestManagedPrefetch(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	m, err := cuda.AllocManaged[uint32](c, 3)
	check(t, err)
	copy(m.Data(), []uint32{1, 2, 3})
	check(t, m.Prefetch(nil))
	check(t, k.Launch(nil, cuda.Linear(3), cuda.Ptr(m), cuda.Val(uint32(3))))
	check(t, m.PrefetchHost(nil))
	check(t, c.Synchronize())
	if d := m.Data(); d[0] != 6 || d[2] != 8 {
		t.Errorf("%v, want 6 7 8", d)
	}
	check(t, m.Close())
	if err := m.Prefetch(nil); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
}

func TestMatrixPinned(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	m, err := cuda.AllocVolume[uint16](c, 3, 2, 2)
	check(t, err)
	p, err := cuda.AllocPinned[uint16](c, 12, cuda.PinnedOptions{WriteCombined: true})
	check(t, err)
	for i := range p.Data() {
		p.Data()[i] = uint16(i)
	}
	check(t, m.CopyFromAsync(s, p.PinnedView))
	box := m.Planes(1, 2).Sub(1, 0, 3, 2)
	q, err := cuda.AllocPinned[uint16](c, 4, cuda.PinnedOptions{})
	check(t, err)
	check(t, box.CopyToAsync(s, q.PinnedView))
	check(t, s.Synchronize())
	for i, want := range []uint16{7, 8, 10, 11} { // plane 1 begins at 6, rows of 3
		if q.Data()[i] != want {
			t.Errorf("%v, want 7 8 10 11", q.Data())
			break
		}
	}
	if uint64(box.Ptr()) != uint64(m.Ptr())+2*m.Pitch()+2 || q.Context() != c {
		t.Errorf("box at %#x of %#x", box.Ptr(), m.Ptr())
	}
	if err := box.CopyToAsync(s, p.PinnedView); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("another size: %v", err)
	}
	for _, r := range []io.Closer{p, q, m} {
		check(t, r.Close())
	}
}

func TestPoolUse(t *testing.T) {
	sys := cudatest.System(t)
	d := sys.Devices()[0]
	c, err := d.Primary()
	check(t, err)
	s, err := c.NewStream(cuda.StreamOptions{})
	check(t, err)
	own, err := d.NewPool(cuda.PoolOptions{KeepBytes: cuda.KeepAll})
	check(t, err)
	standard, err := d.DefaultPool()
	check(t, err)
	if own.Handle() == standard.Handle() {
		t.Error("the new pool is the default pool")
	}
	check(t, own.Use())
	x, err := cuda.AllocAsync[byte](s, 1<<20)
	check(t, err)
	u, err := own.Usage()
	check(t, err)
	if u.Used < 1<<20 {
		t.Errorf("usage %+v, want a MiB", u)
	}
	if text := x.String(); !strings.HasPrefix(text, "[1048576]uint8 at 0x") {
		t.Errorf("%q", text)
	}
	check(t, x.CloseAsync(s))
	check(t, s.Synchronize())
	u, err = own.Usage()
	check(t, err)
	if u.Used != 0 || u.UsedHigh < 1<<20 {
		t.Errorf("usage %+v, want none, and a MiB at some time", u)
	}
	check(t, own.Trim(0))
	check(t, standard.Use())
	check(t, standard.Close()) // does nothing
	for _, r := range []io.Closer{own, s, c} {
		check(t, r.Close())
	}
}

func TestJITOptions(t *testing.T) {
	c := cudatest.Open(t)
	for i, options := range [][]cuda.JITOption{
		{cuda.MaxRegisters(32)}, {cuda.ThreadsPerBlock(64)}, {cuda.OptLevel(0), cuda.LineInfo()},
		{cuda.DebugInfo(), cuda.OptLevel(0)},
		{cuda.CacheMode(cu.CU_JIT_CACHE_OPTION_CG)}, {cuda.JIT(cu.CU_JIT_FALLBACK_STRATEGY, uint32(cu.CU_PREFER_PTX))},
	} {
		m, err := c.Load(kernelsPTX, options...)
		if err != nil {
			t.Errorf("options %d: %v", i, err)
			continue
		}
		check(t, m.Close())
	}
}

func TestLibraryFS(t *testing.T) {
	sys := cudatest.System(t)
	files := fstest.MapFS{"m.ptx": {Data: []byte(`.version 8.0
.target sm_80
.address_size 64
.visible .global .attribute(.managed) .align 4 .u32 shared = 3;
.visible .entry none() { ret; }
`)}}
	l, err := sys.LoadLibraryFS(files, "m.ptx")
	check(t, err)
	c, err := sys.Context(0)
	check(t, err)
	v, err := l.In(c).Managed("shared")
	check(t, err)
	n, err := cuda.Cast[uint32](v)
	check(t, err)
	cudatest.Equal(t, n, []uint32{3})
	if _, err := sys.LoadLibraryFS(files, "other.ptx"); !errors.Is(err, cuda.ErrFileNotFound) {
		t.Errorf("no such file: %v", err)
	}
	check(t, l.Close())
	if _, err := l.In(c).Managed("shared"); !errors.Is(err, cuda.ErrClosed) {
		t.Errorf("after Close: %v", err)
	}
	check(t, c.Close())
}

func TestClusterOccupancy(t *testing.T) {
	c := cudatest.Open(t)
	if major, _, err := c.Device().ComputeCapability(); err != nil || major < 9 {
		skip.Without(t, skip.DeviceFeature, "clusters")
	}
	k := cudatest.Kernel(t, c, bytes.Replace(kernelsPTX, []byte("sm_80"), []byte("sm_90"), 1), "fill")
	cfg := cuda.LaunchConfig{Grid: cuda.Dim(16), Block: cuda.Dim(128), Cluster: cuda.Dim(2)}
	n, err := k.ResidentClusters(cfg)
	check(t, err)
	largest, err := k.LargestCluster(cuda.LaunchConfig{Grid: cuda.Dim(16), Block: cuda.Dim(128)})
	check(t, err)
	check(t, k.AllowLargeClusters())
	large, err := k.LargestCluster(cuda.LaunchConfig{Grid: cuda.Dim(16), Block: cuda.Dim(128)})
	check(t, err)
	// 8 is the portable size (CUDA C++ Programming Guide, Thread Block Clusters)
	if n < 1 || largest != 8 || large < largest {
		t.Errorf("%d clusters of 2; largest %d, then %d", n, largest, large)
	}
	free, err := k.AvailableShared(2, 256)
	check(t, err)
	if free < 16<<10 {
		t.Errorf("%d bytes of shared memory for each of 2 blocks", free)
	}
}

// TestMoreAttributes launches with the attributes that TestLaunchAttributes does not have.
func TestMoreAttributes(t *testing.T) {
	c := cudatest.Open(t)
	k := cudatest.Kernel(t, c, bytes.Replace(kernelsPTX, []byte("sm_80"), []byte("sm_90"), 1), "fill")
	x := cudatest.Alloc[uint32](t, c, 256)
	e, err := c.NewEvent(cuda.EventOptions{NoTiming: true})
	check(t, err)
	defer func() { check(t, e.Close()) }()
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	var raw cu.CUlaunchAttribute
	raw.Id = cu.CU_LAUNCH_ATTRIBUTE_PRIORITY
	p, err := k.Prepare(cuda.Linear(256), cuda.Ptr(x), cuda.Val(uint32(0)), cuda.Val(uint32(256)))
	check(t, err)
	for i, attr := range []cuda.LaunchAttr{
		cuda.RawAttr(raw), cuda.ProgrammaticEvent(e, true), cuda.PreferredCluster(cuda.Dim(1)),
		cuda.MemSyncDomainMap(0, 1),
		cuda.AccessPolicy(x, x.Bytes(), 0.5, cu.CU_ACCESS_PROPERTY_PERSISTING, cu.CU_ACCESS_PROPERTY_STREAMING),
		cuda.NVLinkCentric(),
	} {
		cfg := cuda.Linear(256)
		cfg.Attrs = []cuda.LaunchAttr{attr}
		if i == 2 {
			cfg.Cluster = cuda.Dim(1)
		}
		check(t, p.SetConfig(cfg))
		check(t, p.Set(1, cuda.Val(uint32(i+1))))
		err := p.Launch(s)
		if i == 5 && cudatest.OnDriver() && errors.Is(err, cuda.ErrNotSupported) {
			continue // a GPU without NVLink
		}
		if err != nil {
			t.Errorf("attribute %d: %v", i, err)
			continue
		}
		check(t, s.Synchronize())
		if got := cudatest.Download(t, x.View)[255]; got != uint32(i+1) {
			t.Errorf("attribute %d: the kernel wrote %d", i, got)
		}
	}
	wantMistake(t, p.SetConfig(cuda.Linear(0)), "the grid is empty")
	check(t, s.SetAttribute(cuda.SyncPolicy(cu.CU_SYNC_POLICY_BLOCKING_SYNC)))
	check(t, s.SetAttribute(cuda.MemSyncDomain(cu.CU_LAUNCH_MEM_SYNC_DOMAIN_REMOTE)))
	cfg := cuda.Linear(256)
	cfg.Attrs = []cuda.LaunchAttr{cuda.SyncPolicy(cu.CU_SYNC_POLICY_SPIN)} // cuda.h: valid for streams
	check(t, p.SetConfig(cfg))
	if err := p.Launch(s); !errors.Is(err, cuda.ErrInvalidValue) {
		t.Errorf("a stream's attribute for a launch: %v", err)
	}
	if p.Kernel() != k {
		t.Error("the kernel of the launch")
	}
}

func TestGraphEventsAndText(t *testing.T) {
	c := cudatest.Open(t)
	s := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	k := cudatest.Kernel(t, c, kernelsPTX, "addbias")
	x := cudatest.Alloc[uint32](t, c, 1)
	e, err := c.NewEvent(cuda.EventOptions{NoTiming: true})
	check(t, err)
	g, err := c.NewGraph()
	check(t, err)
	wait, err := g.AddWait(nil, e)
	check(t, err)
	_, err = g.AddKernel([]cuda.Node{wait}, k, cuda.Linear(1), cuda.Ptr(x), cuda.Val(uint32(1)))
	check(t, err)
	path := filepath.Join(t.TempDir(), "g.dot")
	check(t, g.WriteDOT(path))
	text, err := os.ReadFile(path)
	check(t, err)
	if !strings.Contains(string(text), "digraph") || !strings.Contains(string(text), "addbias") {
		t.Errorf("%s", text)
	}
	exec, err := g.Instantiate(cuda.NodePriority)
	check(t, err)
	gate := make(chan struct{})
	u := cudatest.Stream(t, c, cuda.StreamOptions{NonBlocking: true})
	check(t, u.HostFunc(func() { <-gate }))
	check(t, e.Record(u))
	check(t, exec.Launch(s))
	if done, err := s.Done(); done || err != nil {
		t.Errorf("the graph did not wait for the event: %v %v", done, err)
	}
	close(gate)
	check(t, s.Synchronize())
	cudatest.Equal(t, x.View, []uint32{5})
	for _, r := range []io.Closer{exec, g, e} {
		check(t, r.Close())
	}
}
