/* Arrays, texture objects and references, surface objects. */
#include "check.h"

static const char source[] = PTX_HEAD
	".visible .global .texref ref;\n"
	".visible .entry fetch(.param .u64 out, .param .u64 tex) {\n"
	".reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<8>;\n"
	"ld.param.u64 %rd1, [out]; ld.param.u64 %rd2, [tex]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
	"cvt.rn.f32.u32 %f5, %r1; cvt.rn.f32.u32 %f6, %r2; add.rn.f32 %f5, %f5, 0f3f800000; add.rn.f32 %f6, %f6, 0f3f000000;\n"
	"tex.2d.v4.f32.f32 {%f1, %f2, %f3, %f4}, [%rd2, {%f5, %f6}];\n"
	"mad.lo.u32 %r1, %r2, 4, %r1; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3; st.global.f32 [%rd3], %f1; ret; }\n"
	".visible .entry byref(.param .u64 out) {\n"
	".reg .b64 %rd<4>; .reg .b32 %r<3>; .reg .f32 %f<5>;\n"
	"ld.param.u64 %rd1, [out]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y;\n"
	"tex.2d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [ref, {%r1, %r2}];\n"
	"mad.lo.u32 %r1, %r2, 4, %r1; mul.wide.u32 %rd3, %r1, 4; add.u64 %rd3, %rd1, %rd3; st.global.f32 [%rd3], %f1; ret; }\n"
	".visible .entry twice(.param .u64 surf) {\n"
	".reg .b64 %rd; .reg .b32 %r<4>; .reg .f32 %f<2>; .reg .b32 %b;\n"
	"ld.param.u64 %rd, [surf]; mov.u32 %r1, %tid.x; mov.u32 %r2, %tid.y; shl.b32 %r3, %r1, 2;\n"
	"suld.b.2d.b32.trap %b, [%rd, {%r3, %r2}]; mov.b32 %f1, %b; add.rn.f32 %f1, %f1, %f1; mov.b32 %b, %f1;\n"
	"sust.b.2d.b32.trap [%rd, {%r3, %r2}], %b; ret; }\n";

int main(void)
{
	open_context();
	CUmodule m;
	MUST(cuModuleLoadData(&m, source));
	float image[4][4], out[4][4];
	for (int y = 0; y < 4; y++)
		for (int x = 0; x < 4; x++)
			image[y][x] = 10 * y + x;
	CUarray a;
	CUDA_ARRAY3D_DESCRIPTOR desc = {.Width = 4, .Height = 4, .Format = CU_AD_FORMAT_FLOAT, .NumChannels = 1, .Flags = CUDA_ARRAY3D_SURFACE_LDST};
	MUST(cuArray3DCreate_v2(&a, &desc));
	CUDA_ARRAY_DESCRIPTOR got;
	OK(cuArrayGetDescriptor_v2(&got, a));
	EQ(got.Width, 4);
	EQ(got.Format, CU_AD_FORMAT_FLOAT);
	CUDA_MEMCPY2D up = {.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = image, .srcPitch = 16, .dstMemoryType = CU_MEMORYTYPE_ARRAY, .dstArray = a, .WidthInBytes = 16, .Height = 4};
	OK(cuMemcpy2D_v2(&up));
	CUDA_RESOURCE_DESC res = {.resType = CU_RESOURCE_TYPE_ARRAY};
	res.res.array.hArray = a;
	CUDA_TEXTURE_DESC tex = {.addressMode = {CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP, CU_TR_ADDRESS_MODE_CLAMP}, .filterMode = CU_TR_FILTER_MODE_LINEAR};
	CUtexObject t;
	MUST(cuTexObjectCreate(&t, &res, &tex, NULL));
	CUDA_TEXTURE_DESC back;
	OK(cuTexObjectGetTextureDesc(&back, t));
	EQ(back.filterMode, CU_TR_FILTER_MODE_LINEAR);
	CUdeviceptr p;
	MUST(cuMemAlloc_v2(&p, sizeof out));
	CUfunction f;
	MUST(cuModuleGetFunction(&f, m, "fetch"));
	void *args[] = {&p, &t};
	OK(cuLaunchKernel(f, 1, 1, 1, 4, 4, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	/* Halfway between two columns, and clamped at the edge. */
	EQ(out[2][1] == 21.5f, 1);
	EQ(out[3][3] == 33.0f, 1);

	CUtexref ref;
	MUST(cuModuleGetTexRef(&ref, m, "ref"));
	OK(cuTexRefSetArray(ref, a, CU_TRSA_OVERRIDE_FORMAT));
	OK(cuTexRefSetFilterMode(ref, CU_TR_FILTER_MODE_POINT));
	OK(cuTexRefSetMipmapLevelBias(ref, 0.25f));
	float bias = 0;
	OK(cuTexRefGetMipmapLevelBias(&bias, ref));
	EQ(bias == 0.25f, 1);
	MUST(cuModuleGetFunction(&f, m, "byref"));
	OK(cuLaunchKernel(f, 1, 1, 1, 4, 4, 1, 0, NULL, args, NULL));
	OK(cuMemcpyDtoH_v2(out, p, sizeof out));
	EQ(memcmp(out, image, sizeof out), 0);

	CUsurfObject s;
	MUST(cuSurfObjectCreate(&s, &res));
	MUST(cuModuleGetFunction(&f, m, "twice"));
	void *sargs[] = {&s};
	OK(cuLaunchKernel(f, 1, 1, 1, 4, 4, 1, 0, NULL, sargs, NULL));
	CUDA_MEMCPY2D down = {.srcMemoryType = CU_MEMORYTYPE_ARRAY, .srcArray = a, .dstMemoryType = CU_MEMORYTYPE_HOST, .dstHost = out, .dstPitch = 16, .WidthInBytes = 16, .Height = 4};
	OK(cuMemcpy2D_v2(&down));
	EQ(out[3][2] == 64.0f, 1);
	OK(cuSurfObjectDestroy(s));
	OK(cuTexObjectDestroy(t));
	OK(cuArrayDestroy(a));

	CUmipmappedArray mip;
	CUDA_ARRAY3D_DESCRIPTOR md = {.Width = 16, .Height = 8, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 4};
	MUST(cuMipmappedArrayCreate(&mip, &md, 3));
	OK(cuMipmappedArrayGetLevel(&a, mip, 2));
	OK(cuArrayGetDescriptor_v2(&got, a));
	EQ(got.Width, 4);
	EQ(got.Height, 2);
	WANT(cuMipmappedArrayGetLevel(&a, mip, 3), CUDA_ERROR_INVALID_VALUE);
	OK(cuMipmappedArrayDestroy(mip));
	return done("texture");
}
