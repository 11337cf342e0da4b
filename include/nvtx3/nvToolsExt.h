/* NVTX, "NVIDIA Tools Extension Library": marks and ranges for tools, for C++. Without a tool its functions do nothing
   and say so; no tool is attached here. */
#ifndef NVTOOLSEXT_H_
#define NVTOOLSEXT_H_

#include <stddef.h>
#include <stdint.h>
#include <wchar.h>

#define NVTX_VERSION 3
#define NVTX_SUCCESS 0
#define NVTX_FAIL 1
#define NVTX_ERR_NO_TOOL_ATTACHED 4
#define NVTX_NO_PUSH_POP_TRACKING ((int)-2)
#define NVTX_EVENT_ATTRIB_STRUCT_SIZE ((uint16_t)(sizeof(nvtxEventAttributes_t)))

typedef uint64_t nvtxRangeId_t;
typedef struct nvtxDomainRegistration_st *nvtxDomainHandle_t;
typedef struct nvtxStringRegistration_st *nvtxStringHandle_t;
typedef struct nvtxResourceHandle_st *nvtxResourceHandle_t;

typedef enum nvtxColorType_t { NVTX_COLOR_UNKNOWN = 0, NVTX_COLOR_ARGB = 1 } nvtxColorType_t;
typedef enum nvtxMessageType_t {
	NVTX_MESSAGE_UNKNOWN = 0,
	NVTX_MESSAGE_TYPE_ASCII = 1,
	NVTX_MESSAGE_TYPE_UNICODE = 2,
	NVTX_MESSAGE_TYPE_REGISTERED = 3
} nvtxMessageType_t;
typedef enum nvtxPayloadType_t {
	NVTX_PAYLOAD_UNKNOWN = 0,
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT64 = 1,
	NVTX_PAYLOAD_TYPE_INT64 = 2,
	NVTX_PAYLOAD_TYPE_DOUBLE = 3,
	NVTX_PAYLOAD_TYPE_UNSIGNED_INT32 = 4,
	NVTX_PAYLOAD_TYPE_INT32 = 5,
	NVTX_PAYLOAD_TYPE_FLOAT = 6
} nvtxPayloadType_t;
typedef union nvtxMessageValue_t {
	const char *ascii;
	const wchar_t *unicode;
	nvtxStringHandle_t registered;
} nvtxMessageValue_t;
typedef struct nvtxEventAttributes_v2 {
	uint16_t version, size;
	uint32_t category;
	int32_t colorType;
	uint32_t color;
	int32_t payloadType, reserved0;
	union payload_t {
		uint64_t ullValue;
		int64_t llValue;
		double dValue;
		uint32_t uiValue;
		int32_t iValue;
		float fValue;
	} payload;
	int32_t messageType;
	nvtxMessageValue_t message;
} nvtxEventAttributes_t;

#define __GOCUDA_NVTX(R, name, parameters, value) \
	static inline R name parameters { return value; }
#define __GOCUDA_NOTHING
#if defined(__cplusplus)
__GOCUDA_NVTX(void, nvtxInitialize, (const void *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxMarkA, (const char *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxMarkW, (const wchar_t *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxMarkEx, (const nvtxEventAttributes_t *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(nvtxRangeId_t, nvtxRangeStartA, (const char *), 0)
__GOCUDA_NVTX(nvtxRangeId_t, nvtxRangeStartW, (const wchar_t *), 0)
__GOCUDA_NVTX(nvtxRangeId_t, nvtxRangeStartEx, (const nvtxEventAttributes_t *), 0)
__GOCUDA_NVTX(void, nvtxRangeEnd, (nvtxRangeId_t), __GOCUDA_NOTHING)
__GOCUDA_NVTX(int, nvtxRangePushA, (const char *), NVTX_NO_PUSH_POP_TRACKING)
__GOCUDA_NVTX(int, nvtxRangePushW, (const wchar_t *), NVTX_NO_PUSH_POP_TRACKING)
__GOCUDA_NVTX(int, nvtxRangePushEx, (const nvtxEventAttributes_t *), NVTX_NO_PUSH_POP_TRACKING)
__GOCUDA_NVTX(int, nvtxRangePop, (), NVTX_NO_PUSH_POP_TRACKING)
__GOCUDA_NVTX(void, nvtxNameCategoryA, (uint32_t, const char *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxNameOsThreadA, (uint32_t, const char *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxNameCategoryW, (uint32_t, const wchar_t *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxNameOsThreadW, (uint32_t, const wchar_t *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(nvtxDomainHandle_t, nvtxDomainCreateA, (const char *), 0)
__GOCUDA_NVTX(nvtxDomainHandle_t, nvtxDomainCreateW, (const wchar_t *), 0)
__GOCUDA_NVTX(void, nvtxDomainDestroy, (nvtxDomainHandle_t), __GOCUDA_NOTHING)
__GOCUDA_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringA, (nvtxDomainHandle_t, const char *), 0)
__GOCUDA_NVTX(nvtxStringHandle_t, nvtxDomainRegisterStringW, (nvtxDomainHandle_t, const wchar_t *), 0)
__GOCUDA_NVTX(void, nvtxDomainNameCategoryW, (nvtxDomainHandle_t, uint32_t, const wchar_t *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxDomainNameCategoryA, (nvtxDomainHandle_t, uint32_t, const char *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(void, nvtxDomainMarkEx, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), __GOCUDA_NOTHING)
__GOCUDA_NVTX(nvtxRangeId_t, nvtxDomainRangeStartEx, (nvtxDomainHandle_t, const nvtxEventAttributes_t *), 0)
__GOCUDA_NVTX(void, nvtxDomainRangeEnd, (nvtxDomainHandle_t, nvtxRangeId_t), __GOCUDA_NOTHING)
__GOCUDA_NVTX(int, nvtxDomainRangePushEx, (nvtxDomainHandle_t, const nvtxEventAttributes_t *),
			  NVTX_NO_PUSH_POP_TRACKING)
__GOCUDA_NVTX(int, nvtxDomainRangePop, (nvtxDomainHandle_t), NVTX_NO_PUSH_POP_TRACKING)
#undef __GOCUDA_NVTX
#undef __GOCUDA_NOTHING

#define nvtxMark nvtxMarkA
#define nvtxRangeStart nvtxRangeStartA
#define nvtxRangePush nvtxRangePushA
#define nvtxNameCategory nvtxNameCategoryA
#define nvtxNameOsThread nvtxNameOsThreadA
#define nvtxDomainCreate nvtxDomainCreateA
#define nvtxDomainRegisterString nvtxDomainRegisterStringA
#endif

#endif
