package api

import (
	"strings"
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

func (e *Env) graph() driver.CUgraph {
	var g driver.CUgraph
	e.Must("cuGraphCreate", &g, 0)
	return g
}

// nodeList is an argument of several nodes, or NULL.
func (e *Env) nodeList(nodes ...driver.CUgraphNode) any {
	if len(nodes) == 0 {
		return nil
	}
	names := make([]string, len(nodes))
	for i, n := range nodes {
		names[i] = "NULL"
		if n != 0 {
			names[i] = e.symbol(uint64(n), "CUgraphNode")
		}
	}
	return in{"{" + strings.Join(names, " ") + "}", &nodes[0]}
}

// empty adds an empty node.
func (e *Env) empty(g driver.CUgraph, deps ...driver.CUgraphNode) driver.CUgraphNode {
	var n driver.CUgraphNode
	e.Must("cuGraphAddEmptyNode", &n, g, e.nodeList(deps...), len(deps))
	e.symbol(uint64(n), "CUgraphNode")
	return n
}

// kernelParams are the parameters of a kernel node; the kernel takes one address.
func (e *Env) kernelParams(f driver.CUfunction, grid, block int, p driver.CUdeviceptr) *driver.CUDA_KERNEL_NODE_PARAMS {
	k := &driver.CUDA_KERNEL_NODE_PARAMS{Func: f, GridDimX: uint32(grid), GridDimY: 1, GridDimZ: 1,
		BlockDimX: uint32(block), BlockDimY: 1, BlockDimZ: 1}
	if p != 0 {
		v := &p
		args := &[1]unsafe.Pointer{unsafe.Pointer(v)}
		e.keepAlive(args)
		e.pin(v)
		e.pin(args)
		k.KernelParams = &args[0]
	}
	e.keepAlive(k)
	return k
}

// nodes shows the nodes that a call lists, for a count asked for with NULL and for one of room.
func (e *Env) nodes(fn string, of any, room int) {
	var n uint64
	e.Do(fn, of, nil, &n)
	list := new([4]driver.CUgraphNode)
	n = uint64(room)
	e.Do(fn, of, list, inOut{&n})
}

func graphCases(c *cases) {
	var (
		g, h   driver.CUgraph
		n      driver.CUgraphNode
		x      driver.CUgraphExec
		u      uint32
		count  uint64
		typ    driver.CUgraphNodeType
		status driver.CUstreamCaptureStatus
		info   driver.CUgraphExecUpdateResultInfo
	)
	c.noContext("graph/no-context", func(e *Env) {
		e.Do("cuGraphCreate", &g, 0)
		e.Do("cuGraphAddEmptyNode", &n, g, nil, 0)
		e.Do("cuGraphClone", &h, g)
		e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
		e.Do("cuGraphAddMemsetNode", &n, g, nil, 0,
			in{"memset", &driver.CUDA_MEMSET_NODE_PARAMS{Dst: 16, ElementSize: 1, Width: 1, Height: 1}}, nil)
		e.Do("cuGraphDestroy", g)
	})
	c.add("graph/structure", func(e *Env) {
		g := e.graph()
		a := e.empty(g)
		b := e.empty(g, a)
		d := e.empty(g, a)
		z := e.empty(g, b, d)
		e.nodes("cuGraphGetNodes", g, 4)
		e.nodes("cuGraphGetNodes", g, 2)
		e.nodes("cuGraphGetNodes", g, 0)
		e.nodes("cuGraphGetRootNodes", g, 4)
		e.nodes("cuGraphNodeGetDependencies", z, 4)
		e.nodes("cuGraphNodeGetDependencies", a, 4)
		e.nodes("cuGraphNodeGetDependentNodes", a, 4)
		e.nodes("cuGraphNodeGetDependentNodes", z, 1)
		e.Do("cuGraphGetNodes", g, new([4]driver.CUgraphNode), nil)
		from, to := new([4]driver.CUgraphNode), new([4]driver.CUgraphNode)
		e.Do("cuGraphGetEdges", g, nil, nil, &count)
		count = 4
		e.Do("cuGraphGetEdges", g, from, to, inOut{&count})
		count = 4
		e.Do("cuGraphGetEdges", g, from, nil, inOut{&count})
		count = 1
		e.Do("cuGraphGetEdges", g, from, to, inOut{&count})
		e.Do("cuGraphAddDependencies_v2", g, e.nodeList(a), e.nodeList(z), nil, 1)
		e.Do("cuGraphAddDependencies_v2", g, e.nodeList(a), e.nodeList(z), nil, 1)
		e.Do("cuGraphAddDependencies_v2", g, e.nodeList(z), e.nodeList(z), nil, 1)
		e.Do("cuGraphAddDependencies_v2", g, nil, nil, nil, 0)
		e.Do("cuGraphAddDependencies_v2", g, nil, nil, nil, 1)
		e.Do("cuGraphAddDependencies", g, e.nodeList(b), e.nodeList(d), 1)
		e.Do("cuGraphRemoveDependencies", g, e.nodeList(b), e.nodeList(d), 1)
		e.Do("cuGraphRemoveDependencies", g, e.nodeList(b), e.nodeList(d), 1)
		e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(a, b), e.nodeList(z, z), nil, 2)
		e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(a, a), e.nodeList(b, b), nil, 2)
		e.Do("cuGraphNodeGetType", z, &typ)
		e.Do("cuGraphNodeGetType", z, nil)
		e.Do("cuGraphDestroyNode", a)
		e.nodes("cuGraphGetNodes", g, 4)
		e.nodes("cuGraphGetRootNodes", g, 4)
		e.Do("cuGraphDestroy", g)
	})
	c.add("graph/edges", func(e *Env) {
		g := e.graph()
		f := e.fn("nop")
		var a, b driver.CUgraphNode
		e.Must("cuGraphAddKernelNode_v2", &a, g, nil, 0, in{"nop", e.kernelParams(f, 1, 1, 0)})
		e.Must("cuGraphAddKernelNode_v2", &b, g, nil, 0, in{"nop", e.kernelParams(f, 1, 1, 0)})
		z := e.empty(g)
		for _, d := range []struct {
			name string
			data driver.CUgraphEdgeData
		}{{"default", driver.CUgraphEdgeData{}}, {"programmatic-0", driver.CUgraphEdgeData{Type: 1}},
			{"programmatic-1", driver.CUgraphEdgeData{Type: 1, From_port: 1}},
			{"programmatic-2", driver.CUgraphEdgeData{Type: 1, From_port: 2}},
			{"programmatic-3", driver.CUgraphEdgeData{Type: 1, From_port: 3}},
			{"port-1", driver.CUgraphEdgeData{From_port: 1}},
			{"to-1", driver.CUgraphEdgeData{To_port: 1}}, {"type-2", driver.CUgraphEdgeData{Type: 2}}} {
			data := in{d.name, &d.data}
			if e.Do("cuGraphAddDependencies_v2", g, e.nodeList(a), e.nodeList(b), data, 1) == driver.CUDA_SUCCESS {
				got := new(driver.CUgraphEdgeData)
				from, to := new([1]driver.CUgraphNode), new([1]driver.CUgraphNode)
				count = 1
				e.Do("cuGraphGetEdges_v2", g, from, to, fields{got}, inOut{&count})
				count = 1
				e.Do("cuGraphGetEdges", g, from, to, inOut{&count})
				count = 1
				e.Do("cuGraphNodeGetDependencies_v2", b, from, fields{got}, inOut{&count})
				count = 1
				e.Do("cuGraphNodeGetDependencies", b, from, inOut{&count})
				e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(a), e.nodeList(b), nil, 1)
				e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(a), e.nodeList(b), data, 1)
			}
			if e.Do("cuGraphAddDependencies_v2", g, e.nodeList(z), e.nodeList(b), data, 1) == driver.CUDA_SUCCESS {
				e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(z), e.nodeList(b), data, 1)
			}
			if e.Do("cuGraphAddDependencies_v2", g, e.nodeList(a), e.nodeList(z), data, 1) == driver.CUDA_SUCCESS {
				e.Do("cuGraphRemoveDependencies_v2", g, e.nodeList(a), e.nodeList(z), data, 1)
			}
		}
	})
	c.add("graph/clone", func(e *Env) {
		g := e.graph()
		a := e.empty(g)
		b := e.empty(g, a)
		e.Do("cuGraphClone", &h, g)
		e.nodes("cuGraphGetNodes", h, 4)
		e.Do("cuGraphNodeFindInClone", &n, b, h)
		e.Do("cuGraphNodeFindInClone", &n, b, g)
		e.Do("cuGraphNodeFindInClone", nil, b, h)
		e.Must("cuGraphNodeFindInClone", &n, b, h)
		e.Do("cuGraphDestroyNode", n)
		e.Do("cuGraphNodeFindInClone", &n, b, h)
		e.Do("cuGraphClone", nil, g)
		var k driver.CUgraph
		e.Do("cuGraphClone", &k, nil)
		e.Do("cuGraphClone", &k, h)
		e.Do("cuGraphNodeFindInClone", &n, a, k)
		e.Do("cuGraphDestroy", h)
		e.Do("cuGraphDestroy", g)
		e.nodes("cuGraphGetNodes", k, 4)
	})
	c.add("graph/dot", func(e *Env) {
		g := e.graph()
		e.empty(g)
		e.Do("cuGraphDebugDotPrint", g, e.dir+"/g.dot", 0)
		e.Do("cuGraphDebugDotPrint", g, e.dir+"/v.dot", 1)
		e.Do("cuGraphDebugDotPrint", g, e.dir+"/all.dot", 1<<14)
		e.Do("cuGraphDebugDotPrint", g, e.dir+"/none/g.dot", 0)
		e.Do("cuGraphDebugDotPrint", g, nil, 0)
		e.Do("cuGraphDebugDotPrint", nil, e.dir+"/g.dot", 0)
	})
	for _, flags := range []int{0, 1, 2, 4, 8, 3, 16, 256, -1} {
		c.add("graph/instantiate/flags/"+itoa(flags), func(e *Env) {
			g := e.graph()
			e.empty(g)
			if e.Do("cuGraphInstantiateWithFlags", &x, g, flags) == driver.CUDA_SUCCESS {
				e.Do("cuGraphExecGetFlags", x, &count)
				e.Do("cuGraphLaunch", x, nil)
				e.Do("cuCtxSynchronize")
			}
			p := &driver.CUDA_GRAPH_INSTANTIATE_PARAMS{Flags: uint64(flags)}
			e.Do("cuGraphInstantiateWithParams", &x, g, in{"params", p})
			e.Note("result %d, node %v", p.Result_out, p.HErrNode_out != 0)
		})
	}
	c.add("graph/instantiate/old", func(e *Env) {
		g := e.graph()
		e.empty(g)
		log := make([]byte, 64)
		e.Do("cuGraphInstantiate_v2", &x, g, &n, in{"log", &log[0]}, 64)
		e.Do("cuGraphInstantiate_v2", &x, g, nil, nil, 0)
		e.Do("cuGraphInstantiate_v2", &x, g, nil, nil, 64)
		e.Do("cuGraphInstantiate", &x, g, &n, in{"log", &log[0]}, 64)
		e.Do("cuGraphInstantiate_v2", nil, g, &n, in{"log", &log[0]}, 64)
	})
	c.add("graph/instantiate/upload", func(e *Env) {
		g := e.graph()
		e.empty(g)
		s := e.stream(0)
		for _, flags := range []uint64{2, 0} {
			for _, h := range []driver.CUstream{s, 0, 1} {
				p := &driver.CUDA_GRAPH_INSTANTIATE_PARAMS{Flags: flags, HUploadStream: h}
				e.Do("cuGraphInstantiateWithParams", &x, g, in{"params", p})
				e.Note("result %d", p.Result_out)
			}
		}
		e.Do("cuGraphUpload", x, s)
		e.Do("cuGraphUpload", x, nil)
		e.Do("cuGraphLaunch", x, s)
		e.Do("cuStreamSynchronize", s)
	})
	c.add("graph/instantiate/cycle", func(e *Env) {
		g := e.graph()
		a := e.empty(g)
		b := e.empty(g, a)
		e.Do("cuGraphAddDependencies_v2", g, e.nodeList(b), e.nodeList(a), nil, 1)
		e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
		e.Do("cuGraphInstantiate_v2", &x, g, &n, nil, 0)
		p := &driver.CUDA_GRAPH_INSTANTIATE_PARAMS{}
		e.Do("cuGraphInstantiateWithParams", &x, g, in{"params", p})
		e.Note("result %d, node %v", p.Result_out, p.HErrNode_out != 0)
	})
	c.add("graph/child", func(e *Env) {
		g, k := e.graph(), e.graph()
		e.empty(k)
		e.Do("cuGraphAddChildGraphNode", &n, g, nil, 0, k)
		child := n
		e.Do("cuGraphChildGraphNodeGetGraph", child, &h)
		e.nodes("cuGraphGetNodes", h, 4)
		e.Do("cuGraphDestroy", k)
		e.Do("cuGraphAddChildGraphNode", &n, g, nil, 0, nil)
		e.Do("cuGraphChildGraphNodeGetGraph", child, nil)
		e.Do("cuGraphChildGraphNodeGetGraph", e.empty(g), &h)
		e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
		k = e.graph()
		e.Do("cuGraphExecChildGraphNodeSetParams", x, child, k)
		e.empty(k)
		e.Do("cuGraphExecChildGraphNodeSetParams", x, child, k)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuCtxSynchronize")
	})
	c.add("graph/child/move", func(e *Env) {
		g, k := e.graph(), e.graph()
		e.empty(k)
		p := &driver.CUgraphNodeParams{Type: driver.CU_GRAPH_NODE_TYPE_GRAPH}
		for _, own := range []driver.CUgraphChildGraphNodeOwnership{2, 0, 1, 1} {
			*p.Graph() = driver.CUDA_CHILD_GRAPH_NODE_PARAMS{Graph: k, Ownership: own}
			if e.Do("cuGraphAddNode_v2", &n, g, nil, nil, 0,
				in{"graph,ownership " + itoa(int(own)), p}) == driver.CUDA_SUCCESS {
				e.Do("cuGraphChildGraphNodeGetGraph", n, &h)
				e.Note("the same: %v", h == k)
			}
		}
		e.Do("cuGraphDestroy", k)
	})
	c.add("graph/update", func(e *Env) {
		f, d := e.load(basic), e.alloc(64)
		st1, spin := e.function(f, "st1"), e.function(f, "spin")
		build := func(k driver.CUfunction, p driver.CUdeviceptr, more int) driver.CUgraph {
			g := e.graph()
			e.Must("cuGraphAddKernelNode_v2", &n, g, nil, 0, in{"kernel", e.kernelParams(k, 1, 1, p)})
			for range more {
				n = e.empty(g, n)
			}
			return g
		}
		g := build(st1, d, 1)
		e.Must("cuGraphInstantiateWithFlags", &x, g, 0)
		for _, u := range []struct {
			name string
			with driver.CUgraph
		}{{"same", build(st1, d, 1)}, {"params", build(st1, d+16, 1)}, {"function", build(spin, d, 1)},
			{"more", build(st1, d, 2)}, {"fewer", build(st1, d, 0)}, {"back", g}} {
			e.Note("%s", u.name)
			e.Do("cuGraphExecUpdate_v2", x, u.with, fields{&info})
			e.Do("cuGraphLaunch", x, nil)
			e.Do("cuCtxSynchronize")
			e.word(d)
			e.word(d + 16)
			e.Must("cuMemsetD8_v2", d, 0, 64)
		}
		other := e.graph()
		e.empty(other)
		e.Must("cuGraphAddMemsetNode", &n, other, nil, 0,
			in{"memset", &driver.CUDA_MEMSET_NODE_PARAMS{Dst: d, ElementSize: 4, Width: 1, Height: 1}}, e.current())
		e.Do("cuGraphExecUpdate_v2", x, other, fields{&info})
		var res driver.CUgraphExecUpdateResult
		e.Do("cuGraphExecUpdate", x, other, &n, &res)
		e.Do("cuGraphExecUpdate", x, g, &n, &res)
		e.Do("cuGraphExecUpdate_v2", x, g, nil)
		e.Do("cuGraphExecUpdate_v2", x, nil, fields{&info})
		e.Do("cuGraphExecUpdate_v2", nil, g, fields{&info})
	})
	c.add("graph/destroyed", func(e *Env) {
		g := e.graph()
		e.empty(g)
		e.Must("cuGraphInstantiateWithFlags", &x, g, 0)
		e.Do("cuGraphDestroy", g)
		e.Do("cuGraphLaunch", x, nil)
		e.Do("cuCtxSynchronize")
		e.Do("cuGraphExecDestroy", x)
		e.Do("cuGraphDestroy", nil)
		e.Do("cuGraphExecDestroy", nil)
		e.Do("cuGraphDestroyNode", nil)
		e.Do("cuGraphLaunch", nil, nil)
	})
	c.alone("graph/destroyed/graph-twice", func(e *Env) {
		g := e.graph()
		e.Do("cuGraphDestroy", g)
		e.Do("cuGraphDestroy", g)
	})
	c.alone("graph/destroyed/node-used", func(e *Env) {
		n := e.empty(e.graph())
		e.Do("cuGraphDestroyNode", n)
		e.Do("cuGraphNodeGetType", n, &typ)
	})
	c.add("graph/enabled", func(e *Env) {
		g, d := e.graph(), e.alloc(64)
		a := e.empty(g)
		var k, m driver.CUgraphNode
		e.Must("cuGraphAddKernelNode_v2", &k, g, nil, 0, in{"st1", e.kernelParams(e.fn("st1"), 1, 1, d)})
		e.Must("cuGraphAddMemsetNode", &m, g, nil, 0,
			in{"memset", &driver.CUDA_MEMSET_NODE_PARAMS{Dst: d + 16, Value: 3, ElementSize: 4, Width: 1, Height: 1}},
			e.current())
		e.Must("cuGraphInstantiateWithFlags", &x, g, 0)
		for _, n := range []driver.CUgraphNode{a, k, m} {
			e.Do("cuGraphNodeGetEnabled", x, n, &u)
			e.Do("cuGraphNodeSetEnabled", x, n, 0)
			e.Do("cuGraphNodeGetEnabled", x, n, &u)
		}
		e.Do("cuGraphLaunch", x, nil)
		e.word(d)
		e.word(d + 16)
		e.Do("cuGraphNodeSetEnabled", x, k, 2)
		e.Do("cuGraphNodeGetEnabled", x, k, &u)
		e.Do("cuGraphNodeSetEnabled", x, m, 1)
		e.Do("cuGraphLaunch", x, nil)
		e.word(d)
		e.word(d + 16)
		e.Do("cuGraphNodeGetEnabled", x, k, nil)
		e.Do("cuGraphNodeGetEnabled", nil, k, &u)
		e.Do("cuGraphNodeGetEnabled", x, nil, &u)
		e.Do("cuGraphNodeGetEnabled", x, e.empty(e.graph()), &u)
	})
	c.add("graph/user-object", func(e *Env) {
		var o driver.CUuserObject
		gone := 0
		fn := driver.CUhostFn{Go: func(uintptr) { gone++ }}
		for _, a := range [][2]int{{1, 1}, {0, 1}, {1, 0}, {1, 2}, {-1, 1}, {1 << 30, 1}} {
			e.Do("cuUserObjectCreate", &o, 0, named("fn", fn), a[0], a[1])
		}
		e.Must("cuUserObjectCreate", &o, 0, named("fn", fn), 2, 1)
		g := e.graph()
		e.Do("cuGraphRetainUserObject", g, o, 1, 0)
		e.Do("cuGraphRetainUserObject", g, o, 0, 0)
		e.Do("cuGraphRetainUserObject", g, o, 1, 1)
		e.Do("cuGraphRetainUserObject", g, o, 1, 2)
		e.Do("cuGraphRetainUserObject", g, nil, 1, 0)
		e.Do("cuUserObjectRetain", o, 1)
		e.Do("cuUserObjectRetain", o, 0)
		e.Do("cuUserObjectRelease", o, 1)
		e.Do("cuUserObjectRelease", o, 0)
		e.Do("cuGraphReleaseUserObject", g, o, 1)
		e.Do("cuGraphReleaseUserObject", g, o, 0)
		e.Do("cuUserObjectRelease", o, 1)
		e.Do("cuGraphDestroy", g)
	})
	for mode := range 4 {
		c.alone("graph/capture/mode/"+itoa(mode), func(e *Env) {
			s, d := e.stream(1), e.alloc(64)
			f := e.fn("st1")
			if e.Do("cuStreamBeginCapture_v2", s, mode) != driver.CUDA_SUCCESS {
				return
			}
			e.Do("cuStreamIsCapturing", s, &status)
			e.Do("cuStreamGetCaptureInfo", s, &status, hidden{&count})
			e.Do("cuLaunchKernel", f, 1, 1, 1, 1, 1, 1, 0, s, params{d}, nil)
			e.Do("cuMemsetD32Async", d+16, 7, 1, s)
			e.Do("cuMemcpyDtoDAsync_v2", d+32, d+16, 4, s)
			e.Do("cuLaunchHostFunc", s, named("fn", driver.CUhostFn{Go: func(uintptr) {}}), 0)
			v := e.event(0)
			e.Do("cuEventRecord", v, s)
			e.Do("cuEventRecordWithFlags", v, s, 1)
			e.Do("cuStreamWaitEvent", s, v, 1)
			var graph driver.CUgraph
			var deps *driver.CUgraphNode
			var data *driver.CUgraphEdgeData
			e.Do("cuStreamGetCaptureInfo_v3", s, &status, hidden{&count}, &graph, hidden{&deps}, hidden{&data},
				hidden{&count})
			e.Do("cuStreamUpdateCaptureDependencies_v2", s, nil, nil, 0, 1)
			e.Do("cuStreamUpdateCaptureDependencies_v2", s, nil, nil, 0, 2)
			e.Do("cuStreamEndCapture", s, &g)
			e.nodes("cuGraphGetNodes", g, 4)
			e.Do("cuStreamEndCapture", s, &h)
			e.Do("cuStreamIsCapturing", s, &status)
			e.Do("cuGraphInstantiateWithFlags", &x, g, 0)
			e.Do("cuGraphLaunch", x, s)
			e.Do("cuStreamSynchronize", s)
			e.word(d)
			e.word(d + 32)
		})
	}
	c.alone("graph/capture/to-graph", func(e *Env) {
		s, d := e.stream(1), e.alloc(64)
		g := e.graph()
		a := e.empty(g)
		e.Do("cuStreamBeginCaptureToGraph", s, nil, nil, nil, 0, 0)
		e.Do("cuStreamBeginCaptureToGraph", s, g, e.nodeList(a), nil, 1, 0)
		e.Do("cuMemsetD32Async", d, 7, 1, s)
		e.Do("cuStreamEndCapture", s, &h)
		e.Note("the same: %v", g == h)
		e.nodes("cuGraphGetNodes", g, 4)
		var mode driver.CUstreamCaptureMode
		for _, m := range []driver.CUstreamCaptureMode{0, 1, 2, 3} {
			mode = m
			e.Do("cuThreadExchangeStreamCaptureMode", inOut{&mode})
		}
		e.Do("cuThreadExchangeStreamCaptureMode", nil)
	})
}

// current is the context that is current.
func (e *Env) current() driver.CUcontext {
	var ctx driver.CUcontext
	e.Must("cuCtxGetCurrent", &ctx)
	return ctx
}
