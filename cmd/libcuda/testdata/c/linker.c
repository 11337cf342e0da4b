/* The linker: two units of PTX into one module. */
#include "check.h"

static const char main_unit[] = PTX_HEAD
	".extern .func (.param .b32 r) twice(.param .b32 x);\n"
	".visible .entry k(.param .u64 out) {\n"
	".reg .b64 %rd; .reg .b32 %r;\n"
	"ld.param.u64 %rd, [out]; mov.u32 %r, 21;\n"
	"{ .param .b32 x; .param .b32 r; st.param.b32 [x], %r; call (r), twice, (x); ld.param.b32 %r, [r]; }\n"
	"st.global.u32 [%rd], %r; ret; }\n";
static const char other_unit[] = PTX_HEAD
	".visible .func (.param .b32 r) twice(.param .b32 x) {\n"
	".reg .b32 %r; ld.param.b32 %r, [x]; add.u32 %r, %r, %r; st.param.b32 [r], %r; ret; }\n";

int main(void)
{
	open_context();
	CUlinkState l;
	char log[4096] = "", info[4096] = "";
	CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES};
	void *values[] = {log, (void *)(uintptr_t)sizeof log, info, (void *)(uintptr_t)sizeof info};
	MUST(cuLinkCreate_v2(4, options, values, &l));
	OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)main_unit, sizeof main_unit, "main.ptx", 0, NULL, NULL));
	OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)other_unit, sizeof other_unit, "other.ptx", 0, NULL, NULL));
	void *image = NULL;
	size_t size = 0;
	MUST(cuLinkComplete(l, &image, &size));
	TRUE(size > 64 && memcmp(image, "\x7f" "ELF", 4) == 0);
	CUmodule m;
	MUST(cuModuleLoadData(&m, image));
	OK(cuLinkDestroy(l));
	CUfunction f;
	MUST(cuModuleGetFunction(&f, m, "k"));
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, 4));
	void *args[] = {&p};
	OK(cuLaunchKernel(f, 1, 1, 1, 1, 1, 1, 0, NULL, args, NULL));
	unsigned int v = 0;
	OK(cuMemcpyDtoH_v2(&v, p, 4));
	EQ(v, 42);

	/* What nothing defines is an error that the log names. */
	values[1] = (void *)(uintptr_t)sizeof log; /* the first link wrote what it used */
	values[3] = (void *)(uintptr_t)sizeof info;
	MUST(cuLinkCreate_v2(4, options, values, &l));
	OK(cuLinkAddData_v2(l, CU_JIT_INPUT_PTX, (void *)main_unit, sizeof main_unit, "main.ptx", 0, NULL, NULL));
	WANT(cuLinkComplete(l, &image, &size), CUDA_ERROR_INVALID_SOURCE); /* recorded: link/modules/unresolved-alone */
	TRUE(strstr(log, "twice"));
	OK(cuLinkDestroy(l));
	return done("linker");
}
