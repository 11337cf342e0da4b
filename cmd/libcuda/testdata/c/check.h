/* Checks of the C programs. A program ends with 0 when all hold, with 77 when it cannot be run here. */
#include "zz_generated_cuda.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static inline const char *result_name(CUresult r)
{
	const char *s = NULL;
	return cuGetErrorName(r, &s) == CUDA_SUCCESS ? s : "no result of the API";
}

static inline void want(const char *file, int line, const char *call, CUresult got, CUresult expected)
{
	if (got == expected)
		return;
	printf("%s:%d: %s is %s", file, line, call, result_name(got));
	printf(", want %s\n", result_name(expected));
	failures++;
}

static inline void equal(const char *file, int line, const char *what, unsigned long long got, unsigned long long expected)
{
	if (got == expected)
		return;
	printf("%s:%d: %s is %llu (%#llx), want %llu (%#llx)\n", file, line, what, got, got, expected, expected);
	failures++;
}

#define WANT(call, expected) want(__FILE__, __LINE__, #call, (call), (expected))
#define OK(call) WANT(call, CUDA_SUCCESS)
#define EQ(what, expected) equal(__FILE__, __LINE__, #what, (unsigned long long)(what), (unsigned long long)(expected))
#define TRUE(what) equal(__FILE__, __LINE__, #what, !!(what), 1)
/* A call without which the rest makes no sense. */
#define MUST(call) do { int before_ = failures; OK(call); if (failures > before_) exit(1); } while (0)

static inline int done(const char *name)
{
	printf("%s: %s\n", name, failures ? "FAILED" : "passed");
	return failures != 0;
}

static inline CUcontext open_context(void)
{
	CUdevice dev;
	CUcontext ctx;
	MUST(cuInit(0));
	MUST(cuDeviceGet(&dev, 0));
	MUST(cuCtxCreate_v2(&ctx, 0, dev));
	return ctx;
}

#define PTX_HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"

/* ramp: out[i] = v + i. poke: *p = v. scale: y[i] = a * x[i]. hello prints. global is a variable of the module. */
static const char kernels[] = PTX_HEAD
	".visible .global .align 4 .u32 global = 7;\n"
	".visible .const .align 4 .u32 factor = 3;\n"
	".extern .func (.param .b32 r) vprintf (.param .b64 f, .param .b64 a);\n"
	".global .align 1 .b8 text[13] = {98, 108, 111, 99, 107, 32, 37, 100, 32, 111, 107, 10, 0};\n"
	".visible .entry ramp(.param .u64 out, .param .u32 v, .param .u32 n) {\n"
	".reg .b64 %rd<4>; .reg .b32 %r<8>; .reg .pred %p;\n"
	"ld.param.u64 %rd1, [out]; ld.param.u32 %r1, [v]; ld.param.u32 %r2, [n];\n"
	"mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x; mad.lo.u32 %r6, %r3, %r4, %r5;\n"
	"setp.ge.u32 %p, %r6, %r2; @%p ret;\n"
	"mul.wide.u32 %rd2, %r6, 4; add.u64 %rd3, %rd1, %rd2; add.u32 %r7, %r1, %r6; st.global.u32 [%rd3], %r7; ret; }\n"
	".visible .entry poke(.param .u64 p, .param .u32 v) {\n"
	".reg .b64 %rd; .reg .b32 %r;\n"
	"ld.param.u64 %rd, [p]; ld.param.u32 %r, [v]; st.global.u32 [%rd], %r; ret; }\n"
	".visible .entry scale(.param .u64 y, .param .u64 x, .param .f32 a, .param .u32 n) {\n"
	".reg .b64 %rd<6>; .reg .b32 %r<4>; .reg .f32 %f<4>; .reg .pred %p;\n"
	"ld.param.u64 %rd1, [y]; ld.param.u64 %rd2, [x]; ld.param.f32 %f1, [a]; ld.param.u32 %r1, [n];\n"
	"mov.u32 %r2, %tid.x; setp.ge.u32 %p, %r2, %r1; @%p ret;\n"
	"mul.wide.u32 %rd3, %r2, 4; add.u64 %rd4, %rd1, %rd3; add.u64 %rd5, %rd2, %rd3;\n"
	"ld.global.f32 %f2, [%rd5]; mul.rn.f32 %f3, %f1, %f2; st.global.f32 [%rd4], %f3; ret; }\n"
	".visible .entry variables(.param .u64 out) {\n"
	".reg .b64 %rd; .reg .b32 %r<4>;\n"
	"ld.param.u64 %rd, [out]; ld.global.u32 %r1, [global]; ld.const.u32 %r2, [factor]; mul.lo.u32 %r3, %r1, %r2;\n"
	"st.global.u32 [%rd], %r3; ret; }\n"
	".visible .entry hello() {\n"
	".local .align 8 .b32 args[2]; .reg .b64 %rd<3>; .reg .b32 %r<2>;\n"
	"mov.u32 %r1, %ctaid.x; st.local.u32 [args], %r1; mov.u64 %rd1, text; cvta.global.u64 %rd1, %rd1;\n"
	"mov.u64 %rd2, args; cvta.local.u64 %rd2, %rd2;\n"
	"{ .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd1; st.param.b64 [a], %rd2; call (r), vprintf, (f, a); }\n"
	"ret; }\n"
	".visible .entry nop() { ret; }\n"
	".visible .entry three(.param .u64 p, .param .u32 v, .param .u32 n) { ret; }\n"
	".visible .entry wait(.param .u64 flag) {\n"
	".reg .b64 %rd; .reg .b32 %r; .reg .pred %p;\n"
	"ld.param.u64 %rd, [flag];\n"
	"again: ld.volatile.global.u32 %r, [%rd]; setp.eq.u32 %p, %r, 0; @%p bra again; ret; }\n";

static inline CUmodule open_module(void)
{
	CUmodule m;
	MUST(cuModuleLoadData(&m, kernels));
	return m;
}

static inline CUfunction function(CUmodule m, const char *name)
{
	CUfunction f;
	MUST(cuModuleGetFunction(&f, m, name));
	return f;
}
