/* Memory, pools and events between two processes: handles by value, file descriptors through a socket. The second process is forked before the first call. */
#include "check.h"
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

struct message {
	CUipcMemHandle small, large;
	CUipcEventHandle event;
	CUmemPoolPtrExportData pointer;
	CUuuid device;
};

static void send_message(int to, const struct message *m, const int *fds, int n)
{
	char room[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = (void *)m, .iov_len = sizeof *m};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	struct cmsghdr *c = CMSG_FIRSTHDR(&h);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(n * sizeof(int));
	memcpy(CMSG_DATA(c), fds, n * sizeof(int));
	if (sendmsg(to, &h, 0) != sizeof *m)
		exit(1);
}

static void receive_message(int from, struct message *m, int *fds, int n)
{
	char room[CMSG_SPACE(2 * sizeof(int))] = {0};
	struct iovec part = {.iov_base = m, .iov_len = sizeof *m};
	struct msghdr h = {.msg_iov = &part, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
	if (recvmsg(from, &h, MSG_WAITALL) != sizeof *m || CMSG_FIRSTHDR(&h) == NULL)
		exit(1);
	memcpy(fds, CMSG_DATA(CMSG_FIRSTHDR(&h)), n * sizeof(int));
}

static int word(CUdeviceptr p)
{
	int v = -1;
	OK(cuMemcpyDtoH_v2(&v, p, 4));
	return v;
}

/* child opens everything, and adds one to each word. */
static int child(int pipe)
{
	struct message m;
	int fds[2];
	receive_message(pipe, &m, fds, 2);
	open_context();
	CUdeviceptr small, again, large, pooled, mapped;
	CUevent event;
	CUmemoryPool pool;
	CUmemGenericAllocationHandle store;
	CUstream s;
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuIpcOpenMemHandle_v2(&small, m.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	MUST(cuIpcOpenMemHandle_v2(&again, m.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	EQ(small, again);
	MUST(cuIpcOpenMemHandle_v2(&large, m.large, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	MUST(cuIpcOpenEventHandle(&event, m.event));
	OK(cuStreamWaitEvent(s, event, 0));
	OK(cuStreamSynchronize(s));
	EQ(word(small), 11);
	EQ(word(large + (4 << 20) - 4), 12);
	OK(cuMemsetD32Async(small, 21, 1, s));
	OK(cuMemsetD32Async(large + (4 << 20) - 4, 22, 1, s));
	MUST(cuMemPoolImportFromShareableHandle(&pool, (void *)(intptr_t)fds[0], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	MUST(cuMemPoolImportPointer(&pooled, pool, &m.pointer));
	EQ(word(pooled), 13);
	OK(cuMemsetD32Async(pooled, 23, 1, s));
	MUST(cuMemImportFromShareableHandle(&store, (void *)(intptr_t)fds[1], CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
	CUmemAccessDesc access = {.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	MUST(cuMemAddressReserve(&mapped, 2 << 20, 0, 0, 0));
	MUST(cuMemMap(mapped, 2 << 20, 0, store, 0));
	MUST(cuMemSetAccess(mapped, 2 << 20, &access, 1));
	EQ(word(mapped), 14);
	OK(cuMemsetD32Async(mapped, 24, 1, s));
	OK(cuEventRecord(event, s));
	/* The parent waits for the event in its own stream; this process must not end before. */
	OK(cuEventSynchronize(event));
	OK(cuIpcCloseMemHandle(small));
	OK(cuIpcCloseMemHandle(small));
	WANT(cuIpcCloseMemHandle(small), CUDA_ERROR_INVALID_VALUE);
	OK(cuIpcCloseMemHandle(large));
	OK(cuMemFreeAsync(pooled, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemPoolDestroy(pool));
	OK(cuMemUnmap(mapped, 2 << 20));
	OK(cuMemAddressFree(mapped, 2 << 20));
	OK(cuMemRelease(store));
	OK(cuEventDestroy_v2(event));
	return failures != 0;
}

int main(void)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0)
		return 1;
	pid_t pid = fork();
	if (pid == 0)
		return child(ends[1]);
	open_context();
	struct message m;
	memset(&m, 0, sizeof m);
	CUdeviceptr small, large, pooled, mapped;
	CUevent event;
	CUmemoryPool pool;
	CUmemGenericAllocationHandle store;
	CUstream s;
	int fds[2];
	MUST(cuStreamCreate(&s, CU_STREAM_NON_BLOCKING));
	MUST(cuMemAlloc_v2(&small, 4096));
	MUST(cuMemAlloc_v2(&large, 4 << 20));
	OK(cuMemsetD32_v2(small, 11, 1024));
	OK(cuMemsetD32_v2(large, 12, 1 << 20));
	MUST(cuIpcGetMemHandle(&m.small, small));
	MUST(cuIpcGetMemHandle(&m.large, large));
	MUST(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING | CU_EVENT_INTERPROCESS));
	MUST(cuIpcGetEventHandle(&m.event, event));
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED, .handleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	MUST(cuMemPoolCreate(&pool, &props));
	MUST(cuMemAllocFromPoolAsync(&pooled, 1000, pool, s));
	OK(cuMemsetD32Async(pooled, 13, 1, s));
	MUST(cuMemPoolExportToShareableHandle(&fds[0], pool, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	MUST(cuMemPoolExportPointer(&m.pointer, pooled));
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemAccessDesc access = {.location = prop.location, .flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	MUST(cuMemCreate(&store, 2 << 20, &prop, 0));
	MUST(cuMemExportToShareableHandle(&fds[1], store, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
	MUST(cuMemAddressReserve(&mapped, 2 << 20, 0, 0, 0));
	MUST(cuMemMap(mapped, 2 << 20, 0, store, 0));
	MUST(cuMemSetAccess(mapped, 2 << 20, &access, 1));
	OK(cuMemsetD32_v2(mapped, 14, 1));
	OK(cuCtxSynchronize());
	OK(cuEventRecord(event, s));
	send_message(ends[0], &m, fds, 2);
	close(fds[0]);
	close(fds[1]);
	int status = -1;
	waitpid(pid, &status, 0);
	EQ(status, 0);
	OK(cuEventSynchronize(event));
	EQ(word(small), 21);
	EQ(word(large + (4 << 20) - 4), 22);
	EQ(word(pooled), 23);
	EQ(word(mapped), 24);
	CUdeviceptr p;
	WANT(cuIpcOpenMemHandle_v2(&p, m.small, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS), CUDA_ERROR_INVALID_CONTEXT);
	OK(cuMemFree_v2(small));
	OK(cuMemFree_v2(large));
	OK(cuMemFreeAsync(pooled, s));
	OK(cuStreamSynchronize(s));
	OK(cuMemPoolDestroy(pool));
	OK(cuEventDestroy_v2(event));
	return done("sharing");
}
