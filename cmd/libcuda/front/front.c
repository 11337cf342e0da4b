/* The functions of the driver that the front answers itself. */
#define GOCUDA_API __attribute__((visibility("default")))
#include "core.h"
#include "zz_generated_numbers.h"

#include <stdio.h>
#include <stdlib.h>

const char gocuda_library[] = "libcuda.so.1 (software device)";
const char *gocuda_driver; /* none: this is the software device */

CUresult cuInit(unsigned int flags)
{
	struct gocuda_frame f;
	f.a[0] = flags;
	CUresult r = gocuda_call(FN_cuInit, &f);
	if (r == CUDA_SUCCESS)
		__atomic_store_n(&gocuda_ready, 1, __ATOMIC_RELEASE);
	return r == CUDA_SUCCESS ? r : gocuda_why(r);
}

/* The thread's copy is the answer; everything but the plain case is the core's to answer. */
CUresult cuCtxGetCurrent(CUcontext *pctx)
{
	if (pctx && !gocuda_self.callback && __atomic_load_n(&gocuda_ready, __ATOMIC_ACQUIRE) && gocuda_loaded()) {
		*pctx = (CUcontext)(uintptr_t)(gocuda_self.started ? gocuda_self.cur : 0);
		return CUDA_SUCCESS;
	}
	struct gocuda_frame f;
	f.a[0] = W(pctx);
	return gocuda_call(FN_cuCtxGetCurrent, &f);
}

/* The functions below work before cuInit, and a program may ask before it forks: no core is needed for them. */

/* What cuDriverGetVersion says: the version that is recorded, or what the environment asks for (GOCUDA_DRIVER_VERSION, for example 13.5). The core refuses
 * what is no version from one to the other, with a message; here it counts for nothing. */
static int version(void)
{
	const char *text = getenv("GOCUDA_DRIVER_VERSION");
	unsigned int major, minor;
	char rest;
	if (!text || sscanf(text, " %2u.%1u %c", &major, &minor, &rest) != 2)
		return GOCUDA_RECORDED_VERSION;
	int v = (int)(1000 * major + 10 * minor);
	return v < GOCUDA_RECORDED_VERSION || v > CUDA_VERSION ? GOCUDA_RECORDED_VERSION : v;
}

CUresult cuDriverGetVersion(int *driverVersion)
{
	if (!driverVersion)
		return CUDA_ERROR_INVALID_VALUE;
	*driverVersion = version();
	return CUDA_SUCCESS;
}

static const struct gocuda_result *find_result(CUresult error)
{
	for (unsigned int i = 0; i < gocuda_result_count; i++)
		if (gocuda_results[i].code == (unsigned int)error && gocuda_results[i].since <= version())
			return &gocuda_results[i];
	return NULL;
}

CUresult cuGetErrorName(CUresult error, const char **pStr)
{
	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	const struct gocuda_result *r = find_result(error);
	*pStr = r ? r->name : NULL;
	return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGetErrorString(CUresult error, const char **pStr)
{
	if (!pStr)
		return CUDA_ERROR_INVALID_VALUE;
	const struct gocuda_result *r = find_result(error);
	*pStr = r ? r->text : NULL;
	return r ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

/* What the runtime library of this project gets (cudart.c), which works in the same core and on the same current context. */
static const struct gocuda_door door = {sizeof door, gocuda_call, gocuda_look, gocuda_why};

/* The tables behind it are not public but for that one; a program that asks for one it can do without goes on. */
CUresult cuGetExportTable(const void **ppExportTable, const CUuuid *pExportTableId)
{
	static const unsigned char id[16] = GOCUDA_DOOR_ID;
	if (ppExportTable && pExportTableId && memcmp(pExportTableId, id, sizeof id) == 0) {
		*ppExportTable = &door;
		return CUDA_SUCCESS;
	}
	if (ppExportTable && pExportTableId)
		*ppExportTable = NULL;
	return CUDA_ERROR_INVALID_VALUE;
}

/* The rules are those of driver.ResolveProc: the newest version of a name that is not newer than the one asked for, among the forms with per-thread default
 * stream where those are asked for and there are any. */
static void (*resolve(const char *symbol, int asked, int have, cuuint64_t flags, CUdriverProcAddressQueryResult *status))(void)
{
	unsigned int low = 0, high = gocuda_entry_count;
	while (low < high) {
		unsigned int mid = (low + high) / 2;
		if (strcmp(gocuda_entries[mid].base, symbol) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	*status = CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
	if (low == gocuda_entry_count || strcmp(gocuda_entries[low].base, symbol) != 0)
		return NULL;
	const struct gocuda_entry *e = &gocuda_entries[low];
	if (e->versions[0].min > have) /* newer than this driver, which does not know the name */
		return NULL;
	int per_thread = 0;
	if (flags & CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM)
		for (unsigned int i = 0; i < e->count; i++)
			per_thread |= e->versions[i].per_thread && e->versions[i].min <= have;
	const struct gocuda_version *found = NULL;
	for (unsigned int i = 0; i < e->count; i++)
		if (e->versions[i].per_thread == per_thread && e->versions[i].min <= asked && e->versions[i].min <= have)
			found = &e->versions[i];
	if (!found) {
		*status = CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT;
		return NULL;
	}
	if (found->address)
		*status = CU_GET_PROC_ADDRESS_SUCCESS;
	return found->address;
}

/* A name that is not found is a success with a NULL pointer and a status, which the caller may leave out. */
CUresult cuGetProcAddress_v2(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags, CUdriverProcAddressQueryResult *symbolStatus)
{
	const cuuint64_t known = CU_GET_PROC_ADDRESS_LEGACY_STREAM | CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM;
	const int have = version();
	if (!symbol || !pfn || flags & ~known || cudaVersion > have)
		return CUDA_ERROR_INVALID_VALUE;
	if (cudaVersion < 0)
		cudaVersion = have; /* unsigned to the driver, and newer than all (recorded) */
	CUdriverProcAddressQueryResult status;
	*pfn = (void *)(uintptr_t)resolve(symbol, cudaVersion, have, flags, &status);
	if (symbolStatus)
		*symbolStatus = status;
	return CUDA_SUCCESS;
}

CUresult cuGetProcAddress(const char *symbol, void **pfn, int cudaVersion, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult status = CU_GET_PROC_ADDRESS_SUCCESS;
	CUresult r = cuGetProcAddress_v2(symbol, pfn, cudaVersion, flags, &status);
	return r == CUDA_SUCCESS && status != CU_GET_PROC_ADDRESS_SUCCESS ? CUDA_ERROR_NOT_FOUND : r;
}
