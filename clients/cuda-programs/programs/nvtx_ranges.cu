// NVTX ranges and marks around work, with no tool that would see them.
#include "check.h"
#include <cuda_profiler_api.h>
#include <nvtx3/nvToolsExt.h>

__global__ void doubled(int *p, int n) {
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) p[i] *= 2;
}

int main() {
	bool ok = true;
	const int n = 1000;
	int *p;
	CHECK(cudaMallocManaged(&p, n * sizeof *p));
	for (int i = 0; i < n; i++) p[i] = i;
	nvtxNameOsThread(1, "main");
	CHECK(cudaProfilerStart());
	nvtxRangePush("twice");
	for (int r = 0; r < 2; r++) {
		nvtxEventAttributes_t a = {};
		a.version = NVTX_VERSION, a.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
		a.colorType = NVTX_COLOR_ARGB, a.color = 0xff00ff00;
		a.messageType = NVTX_MESSAGE_TYPE_ASCII, a.message.ascii = "round";
		a.payloadType = NVTX_PAYLOAD_TYPE_INT32, a.payload.iValue = r;
		nvtxRangeId_t id = nvtxRangeStartEx(&a);
		doubled<<<(n + 255) / 256, 256>>>(p, n);
		nvtxRangeEnd(id);
	}
	nvtxMark("launched");
	CHECK(cudaDeviceSynchronize());
	nvtxRangePop();
	CHECK(cudaProfilerStop());
	for (int i = 0; i < n; i++) ok &= p[i] == 4 * i;
	return verdict(ok);
}
