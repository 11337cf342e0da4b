/* Streams that wait for words of memory and write them, alone and in batches. */
#include "check.h"

int main(void)
{
	open_context();
	CUstream s, t;
	CUdeviceptr p;
	unsigned int out[8] = {0};
	unsigned long long wide = 0;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuStreamCreate(&t, CU_STREAM_NON_BLOCKING));
	MUST(cuMemAlloc_v2(&p, 64));
	MUST(cuMemsetD8_v2(p, 0, 64));
	OK(cuCtxSynchronize());
	OK(cuStreamWaitValue32_v2(s, p, 5, CU_STREAM_WAIT_VALUE_GEQ));
	OK(cuStreamWriteValue32_v2(s, p + 4, 1, 0));
	WANT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	OK(cuStreamWriteValue32_v2(t, p, 4, 0));
	OK(cuStreamSynchronize(t));
	WANT(cuStreamQuery(s), CUDA_ERROR_NOT_READY);
	OK(cuStreamWriteValue32_v2(t, p, 6, 0));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(out, p, 8));
	EQ(out[0], 6);
	EQ(out[1], 1);
	OK(cuStreamWriteValue64_v2(t, p + 8, 0x123456789abcull, 0));
	OK(cuStreamWaitValue64_v2(s, p + 8, 0x123456789abcull, CU_STREAM_WAIT_VALUE_EQ));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(&wide, p + 8, 8));
	EQ(wide, 0x123456789abcull);
	WANT(cuStreamWriteValue32_v2(s, p + 1, 1, 0), CUDA_ERROR_INVALID_VALUE);
	CUstreamBatchMemOpParams ops[3] = {0};
	ops[0].operation = ops[1].operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	ops[0].writeValue.address = p + 16;
	ops[0].writeValue.value = 70;
	ops[1].writeValue.address = p + 20;
	ops[1].writeValue.value = 71;
	ops[2].operation = CU_STREAM_MEM_OP_WAIT_VALUE_32;
	ops[2].waitValue.address = p + 16;
	ops[2].waitValue.value = 70;
	ops[2].waitValue.flags = CU_STREAM_WAIT_VALUE_EQ;
	OK(cuStreamBatchMemOp_v2(s, 3, ops, 0));
	OK(cuStreamSynchronize(s));
	OK(cuMemcpyDtoH_v2(out, p + 16, 8));
	EQ(out[0], 70);
	EQ(out[1], 71);
	return done("memop");
}
