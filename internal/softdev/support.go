package softdev

import (
	"strings"

	"github.com/gocuda/cuda/internal/driver"
)

// Support says what the software device does with a function of the API.
type Support struct {
	Implemented bool // it does more than answer CUDA_ERROR_NOT_SUPPORTED
	// Recorded is false for functions that the driver whose answers are recorded does not have: they follow the
	// documentation.
	Recorded bool
	Note     string // why it does not, or what of it is left out; empty when there is nothing to say
}

// without says why functions are not implemented, by the beginning of their names. The first that fits counts.
var without = []struct{ prefix, why string }{
	{"cuEGL", "there is no EGL"},
	{"cuGraphicsEGL", "there is no EGL"},
	{"cuGraphicsResourceGetMappedEglFrame", "there is no EGL"},
	{"cuEventCreateFromEGLSync", "there is no EGL"},
	{"cuGL", "there is no OpenGL on the device"},
	{"cuGraphicsGL", "there is no OpenGL on the device"},
	{"cuVDPAU", "there is no VDPAU"},
	{"cuGraphicsVDPAU", "there is no VDPAU"},
	{"cuGraphics", noGraphics},
	{"cuDeviceGetNvSciSyncAttributes", "there is no NvSciSync"},
	{"cuCheckpointOperationComplete", "checkpoints give out no storage of their own"},
	{"cuLogicalEndpoint", "there is no fabric between devices (CU_DEVICE_ATTRIBUTE_LOGICAL_ENDPOINT_UNICAST_SUPPORTED is 0)"},
	{"cuFabricCpy", "there is no fabric between devices"},
	{"cuDeviceGetClique", "there is no fabric between devices"},
	{"cuDeviceGetFabricClusterUuid", "there is no fabric between devices"},
	{"cuStreamBeginCaptureToCig", "there is no graphics API to capture into"},
	{"cuStreamEndCaptureToCig", "there is no graphics API to capture into"},
	{"cuTensorMapSetAllocationClass", "tensor maps of compute capability 9.0 have one layout"},
}

// partly says what of an implemented function answers CUDA_ERROR_NOT_SUPPORTED though the documentation has it, or how
// the answer is less than a GPU's; by symbol or, with a star, by the beginning of symbols.
var partly = []struct{ symbol, note string }{
	{"cuArray3DCreate*", "not video formats, nor sparse arrays"},
	{"cuArrayCreate*", "not video formats"},
	{"cuMipmappedArrayCreate", "not sparse arrays"},
	{"cuMemMapArrayAsync", "whole arrays with deferred mapping; there are no sparse ones"},
	{"cuTexRefSetMipmappedArray", "as cuMipmappedArrayCreate"},
	{"cuCheckpointProcess*", "of the process that calls"},
	{"cuImportExternalMemory", "file descriptors only (OPAQUE_FD)"},
	{"cuImportExternalSemaphore", "file descriptors only (OPAQUE_FD, TIMELINE_SEMAPHORE_FD)"},
	{"cuCoredumpSetAttribute*", "not CU_COREDUMP_ENABLE_USER_TRIGGER; the format of dumps is not NVIDIA's"},
	{"cuGraphInstantiate*", "not CUDA_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH"},
	{"cuLaunchKernelEx", "not CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE"},
	{"cuGraphKernelNodeSetAttribute", "not CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE"},
	{"cuCtxCreate_v4", "not CUctxCigParam"},
	{"cuCtxCreate_v3", "execution affinity answers CUDA_ERROR_UNSUPPORTED_EXEC_AFFINITY, as on an H200"},
	{"cuModuleLoad*", "images need PTX or Tile IR"},
	{"cuLibraryLoad*", "images need PTX or Tile IR"},
	{"cuLinkAdd*", "inputs need PTX"},
	{"cuMulticastBindAddr*", "not memory of pools; several devices of compute capability 9.0 with NVLink"},
	{"cuMulticast*", "several devices of compute capability 9.0 with NVLink (GOCUDA_PROFILE=h200*2)"},
	{"cuMemCreate", "handles are file descriptors, and those of a fabric where multicast is; not on Windows"},
	{"cuMemPoolCreate", "handles for other processes are file descriptors only"},
	{"cuMemExportToShareableHandle", "file descriptors, and handles of a fabric where multicast is"},
	{"cuMemImportFromShareableHandle", "file descriptors, and handles of a fabric where multicast is"},
	{"cuMemPoolExportToShareableHandle", "file descriptors only"},
	{"cuMemPoolImportFromShareableHandle", "file descriptors only"},
	{"cuIpc*", "Linux and macOS"},
	{"cuMemAddressReserve", "the wanted address is a hint that is not taken"},
	{"cuMemGetHandleForAddressRange", "answers CUDA_ERROR_NOT_SUPPORTED: CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED is 0"},
	{"cuMemBatchDecompressAsync", "answers CUDA_ERROR_NOT_SUPPORTED, as on an H200: CU_DEVICE_ATTRIBUTE_MEM_DECOMPRESS_ALGORITHM_MASK is 0"},
	{"cuDeviceGetLuid", "answers CUDA_ERROR_NOT_SUPPORTED: LUIDs are of Windows"},
	{"cuProfilerInitialize", "answers CUDA_ERROR_NOT_SUPPORTED, as the driver does"},
	{"cuGetExportTable", "has no tables"},
	{"cuGetProcAddress*", "through the C library; pure Go has no addresses to give"},
	{"cuTensorMapEncode*", "launches with interleaved layouts fail"},
	{"cuDeviceRegisterAsyncNotification", "the callback never has a reason to run"},
	{"cuStreamBeginRecaptureToGraph", "not graphs with memory nodes"},
	{"cuMemGetLocationInfo", "managed memory is where it was prefetched to last, or on the host"},
	{"cuStreamBatchMemOp*", "not CU_STREAM_WAIT_VALUE_FLUSH: CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0"},
	{"cuStreamWaitValue*", "not CU_STREAM_WAIT_VALUE_FLUSH: CU_DEVICE_ATTRIBUTE_CAN_FLUSH_REMOTE_WRITES is 0"},
	{"cuMemAlloc", "the addresses of the window do not fit 32 bits"},
	{"cuMemAllocPitch", "the addresses of the window do not fit 32 bits"},
	{"cuMemHostGetDevicePointer", "the addresses of the window do not fit 32 bits"},
	{"cuModuleGetGlobal", "the addresses of the window do not fit 32 bits"},
	{"cuTexRefGetAddress", "the addresses of the window do not fit 32 bits"},
}

// Support says what the device does with a function of the API, by its C symbol; ok is false when the API does not have
// it.
func (d *Driver) Support(symbol string) (s Support, ok bool) {
	sym, ok := driver.Lookup(symbol)
	if !ok {
		return s, false
	}
	s.Recorded = sym.Since <= recordedVersion
	if s.Implemented = d.Implements(symbol); !s.Implemented {
		if sym.Since > int(d.version()) {
			s.Note = "needs CUDA " + versionText(int32(sym.Since))
			return s, true
		}
		for _, w := range without {
			if strings.HasPrefix(symbol, w.prefix) {
				s.Note = w.why
				break
			}
		}
		return s, true
	}
	for _, p := range partly {
		if prefix, star := strings.CutSuffix(p.symbol, "*"); symbol == p.symbol ||
			star && strings.HasPrefix(symbol, prefix) {
			s.Note = p.note
			break
		}
	}
	return s, true
}
