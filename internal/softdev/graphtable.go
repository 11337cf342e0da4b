package softdev

import (
	"unsafe"

	"github.com/gocuda/cuda/internal/driver"
)

// graphTable fills in graphs, captures, user objects and memory operations of streams.
func (d *Driver) graphTable(t *driver.Table) {
	type (
		ctx   = driver.CUcontext
		node  = driver.CUgraphNode
		graph = driver.CUgraph
		exec  = driver.CUgraphExec
		res   = driver.CUresult
	)
	t.HostFunc = d.hostFunc
	d.newGraphTable(t)

	// Stream capture.
	t.StreamIsCapturing = d.streamIsCapturing
	t.StreamGetCaptureInfo = d.streamGetCaptureInfo
	t.StreamGetCaptureInfo_v2 = d.streamGetCaptureInfoV2
	t.StreamGetCaptureInfo_v3 = d.streamGetCaptureInfoV3
	t.StreamBeginCapture = d.streamBeginCapture1
	t.StreamBeginCapture_v2 = d.streamBeginCapture
	t.StreamBeginCaptureToGraph = d.streamBeginCaptureToGraph
	t.StreamEndCapture = d.streamEndCapture
	t.StreamUpdateCaptureDependencies = d.streamUpdateCaptureDependencies1
	t.StreamUpdateCaptureDependencies_v2 = d.streamUpdateCaptureDependencies
	t.ThreadExchangeStreamCaptureMode = d.threadExchangeStreamCaptureMode

	// Graphs.
	t.GraphCreate = d.graphCreate
	t.GraphDestroy = d.graphDestroy
	t.GraphClone = d.graphClone
	t.GraphNodeFindInClone = d.graphNodeFindInClone
	t.GraphDestroyNode = d.graphDestroyNode
	t.GraphNodeGetType = d.graphNodeGetType
	t.GraphGetNodes = d.graphGetNodes
	t.GraphGetRootNodes = d.graphGetRootNodes
	t.GraphGetEdges_v2 = d.graphGetEdges
	t.GraphGetEdges = func(cur ctx, g graph, from, to *node, n *uint64) res {
		return d.graphGetEdges(cur, g, from, to, nil, n)
	}
	t.GraphNodeGetDependencies_v2 = d.graphNodeGetDependencies
	t.GraphNodeGetDependencies = func(cur ctx, h node, nodes *node, n *uint64) res {
		return d.graphNodeGetDependencies(cur, h, nodes, nil, n)
	}
	t.GraphNodeGetDependentNodes_v2 = d.graphNodeGetDependentNodes
	t.GraphNodeGetDependentNodes = func(cur ctx, h node, nodes *node, n *uint64) res {
		return d.graphNodeGetDependentNodes(cur, h, nodes, nil, n)
	}
	t.GraphAddDependencies_v2 = d.graphAddDependencies
	t.GraphAddDependencies = func(cur ctx, g graph, from, to *node, n uint64) res {
		return d.graphAddDependencies(cur, g, from, to, nil, n)
	}
	t.GraphRemoveDependencies_v2 = d.graphRemoveDependencies
	t.GraphRemoveDependencies = func(cur ctx, g graph, from, to *node, n uint64) res {
		return d.graphRemoveDependencies(cur, g, from, to, nil, n)
	}
	t.GraphDebugDotPrint = d.graphDebugDotPrint
	t.UserObjectCreate = d.userObjectCreate
	t.UserObjectRetain = d.userObjectRetain
	t.UserObjectRelease = d.userObjectRelease
	t.GraphRetainUserObject = d.graphRetainUserObject
	t.GraphReleaseUserObject = d.graphReleaseUserObject
	t.GraphConditionalHandleCreate = d.graphConditionalHandleCreate
	t.DeviceGetGraphMemAttribute = d.deviceGetGraphMemAttribute
	t.DeviceSetGraphMemAttribute = d.deviceSetGraphMemAttribute
	t.DeviceGraphMemTrim = d.deviceGraphMemTrim

	// Nodes.
	t.GraphAddNode_v2 = d.graphAddNode
	t.GraphAddNode = func(cur ctx, out *node, g graph, deps *node, n uint64, p *driver.CUgraphNodeParams) res {
		return d.graphAddNode(cur, out, g, deps, nil, n, p)
	}
	t.GraphAddEmptyNode = d.graphAddEmptyNode
	t.GraphAddKernelNode = d.graphAddKernelNode1
	t.GraphAddKernelNode_v2 = d.graphAddKernelNode
	t.GraphAddMemcpyNode = d.graphAddMemcpyNode
	t.GraphAddMemsetNode = d.graphAddMemsetNode
	t.GraphAddHostNode = d.graphAddHostNode
	t.GraphAddChildGraphNode = d.graphAddChildGraphNode
	t.GraphAddEventRecordNode = d.graphAddEventNode(true)
	t.GraphAddEventWaitNode = d.graphAddEventNode(false)
	t.GraphAddBatchMemOpNode = d.graphAddBatchMemOpNode
	t.GraphAddMemAllocNode = d.graphAddMemAllocNode
	t.GraphAddMemFreeNode = d.graphAddMemFreeNode
	t.GraphAddExternalSemaphoresSignalNode = d.graphAddSignalNode
	t.GraphAddExternalSemaphoresWaitNode = d.graphAddWaitNode
	t.GraphNodeSetParams = d.graphNodeSetParams
	t.GraphKernelNodeGetParams = d.graphKernelNodeGetParams1
	t.GraphKernelNodeGetParams_v2 = d.graphKernelNodeGetParams
	t.GraphKernelNodeSetParams = d.graphKernelNodeSetParams1
	t.GraphKernelNodeSetParams_v2 = d.graphKernelNodeSetParams
	t.GraphKernelNodeGetAttribute = d.graphKernelNodeGetAttribute
	t.GraphKernelNodeSetAttribute = d.graphKernelNodeSetAttribute
	t.GraphKernelNodeCopyAttributes = d.graphKernelNodeCopyAttributes
	t.GraphMemcpyNodeGetParams = d.graphMemcpyNodeGetParams
	t.GraphMemcpyNodeSetParams = d.graphMemcpyNodeSetParams
	t.GraphMemsetNodeGetParams = d.graphMemsetNodeGetParams
	t.GraphMemsetNodeSetParams = d.graphMemsetNodeSetParams
	t.GraphHostNodeGetParams = d.graphHostNodeGetParams
	t.GraphHostNodeSetParams = d.graphHostNodeSetParams
	t.GraphChildGraphNodeGetGraph = d.graphChildGraphNodeGetGraph
	t.GraphEventRecordNodeGetEvent = d.graphEventRecordNodeGetEvent
	t.GraphEventRecordNodeSetEvent = d.graphEventNodeSetEvent(true)
	t.GraphEventWaitNodeGetEvent = d.graphEventWaitNodeGetEvent
	t.GraphEventWaitNodeSetEvent = d.graphEventNodeSetEvent(false)
	t.GraphBatchMemOpNodeGetParams = d.graphBatchMemOpNodeGetParams
	t.GraphBatchMemOpNodeSetParams = d.graphBatchMemOpNodeSetParams
	t.GraphMemAllocNodeGetParams = d.graphMemAllocNodeGetParams
	t.GraphMemFreeNodeGetParams = d.graphMemFreeNodeGetParams
	t.GraphExternalSemaphoresSignalNodeGetParams = func(_ ctx, h node, p *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) res {
		return getParams(d, h, p, func(w *signalWork, p *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) {
			*p = driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS{ExtSemArray: unsafe.SliceData(w.handles),
				ParamsArray: unsafe.SliceData(w.params), NumExtSems: uint32(len(w.handles))}
		})
	}
	t.GraphExternalSemaphoresSignalNodeSetParams = func(_ ctx, h node, p *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) res {
		return d.setParams(h, d.signalBuilder(p))
	}
	t.GraphExternalSemaphoresWaitNodeGetParams = func(_ ctx, h node, p *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS) res {
		return getParams(d, h, p, func(w *waitWork, p *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS) {
			*p = driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS{ExtSemArray: unsafe.SliceData(w.handles),
				ParamsArray: unsafe.SliceData(w.params), NumExtSems: uint32(len(w.handles))}
		})
	}
	t.GraphExternalSemaphoresWaitNodeSetParams = func(_ ctx, h node, p *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS) res {
		return d.setParams(h, d.waitBuilder(p))
	}

	// Executable graphs.
	t.GraphInstantiate = d.graphInstantiate
	t.GraphInstantiate_v2 = d.graphInstantiate
	t.GraphInstantiateWithFlags = d.graphInstantiateWithFlags
	t.GraphInstantiateWithParams = d.graphInstantiateWithParams
	t.GraphExecDestroy = d.graphExecDestroy
	t.GraphExecGetFlags = d.graphExecGetFlags
	t.GraphUpload = d.graphUpload
	t.GraphLaunch = d.graphLaunch
	t.GraphExecUpdate = d.graphExecUpdate1
	t.GraphExecUpdate_v2 = d.graphExecUpdate
	t.GraphNodeSetEnabled = d.graphNodeSetEnabled
	t.GraphNodeGetEnabled = d.graphNodeGetEnabled
	t.GraphExecNodeSetParams = d.graphExecNodeSetParams
	t.GraphExecKernelNodeSetParams = d.graphExecKernelNodeSetParams1
	t.GraphExecKernelNodeSetParams_v2 = d.graphExecKernelNodeSetParams
	t.GraphExecMemcpyNodeSetParams = d.graphExecMemcpyNodeSetParams
	t.GraphExecMemsetNodeSetParams = d.graphExecMemsetNodeSetParams
	t.GraphExecHostNodeSetParams = d.graphExecHostNodeSetParams
	t.GraphExecChildGraphNodeSetParams = d.graphExecChildGraphNodeSetParams
	t.GraphExecEventRecordNodeSetEvent = d.graphExecEventNodeSetEvent(true)
	t.GraphExecEventWaitNodeSetEvent = d.graphExecEventNodeSetEvent(false)
	t.GraphExecBatchMemOpNodeSetParams = d.graphExecBatchMemOpNodeSetParams
	t.GraphExecExternalSemaphoresSignalNodeSetParams = func(_ ctx, x exec, h node,
		p *driver.CUDA_EXT_SEM_SIGNAL_NODE_PARAMS) res {
		return d.setExec(x, h, d.signalBuilder(p))
	}
	t.GraphExecExternalSemaphoresWaitNodeSetParams = func(_ ctx, x exec, h node,
		p *driver.CUDA_EXT_SEM_WAIT_NODE_PARAMS) res {
		return d.setExec(x, h, d.waitBuilder(p))
	}

	// Memory operations of streams.
	t.StreamWaitValue32_v2 = d.streamWaitValue32
	t.StreamWaitValue64_v2 = d.streamWaitValue64
	t.StreamWriteValue32_v2 = d.streamWriteValue32
	t.StreamWriteValue64_v2 = d.streamWriteValue64
	t.StreamBatchMemOp_v2 = d.streamBatchMemOp
	type (
		str = driver.CUstream
		ptr = driver.CUdeviceptr
	)
	t.StreamWaitValue32 = func(cur ctx, s str, _ ptr, _, _ uint32) res { return d.memOps1(cur, s) }
	t.StreamWaitValue64 = func(cur ctx, s str, _ ptr, _ uint64, _ uint32) res { return d.memOps1(cur, s) }
	t.StreamWriteValue32 = func(cur ctx, s str, _ ptr, _, _ uint32) res { return d.memOps1(cur, s) }
	t.StreamWriteValue64 = func(cur ctx, s str, _ ptr, _ uint64, _ uint32) res { return d.memOps1(cur, s) }
	t.StreamBatchMemOp = func(cur ctx, s str, _ uint32, _ *driver.CUstreamBatchMemOpParams, _ uint32) res {
		return d.memOps1(cur, s)
	}
}
