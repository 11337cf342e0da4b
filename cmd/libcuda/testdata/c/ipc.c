/* Memory and events of another process: this program starts itself again. */
#include "check.h"
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static struct message {
	CUipcMemHandle memory;
	CUipcEventHandle event;
} m;

static int other(void)
{
	CUdeviceptr p;
	CUevent e;
	unsigned int v[2] = {0};
	if (read(0, &m, sizeof m) != sizeof m)
		return 1;
	open_context();
	MUST(cuIpcOpenMemHandle_v2(&p, m.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS));
	MUST(cuIpcOpenEventHandle(&e, m.event));
	OK(cuEventSynchronize(e));
	OK(cuMemcpyDtoH_v2(v, p, 8));
	EQ(v[0], 41);
	v[1] = v[0] + 1;
	OK(cuMemcpyHtoD_v2(p + 4, &v[1], 4));
	OK(cuCtxSynchronize());
	OK(cuIpcCloseMemHandle(p));
	OK(cuEventDestroy_v2(e));
	return failures != 0;
}

int main(int argc, char **argv)
{
	if (argc > 1)
		return other();
	open_context();
	CUdeviceptr p;
	CUevent e;
	unsigned int out[2];
	MUST(cuMemAlloc_v2(&p, 4096));
	OK(cuMemsetD32_v2(p, 41, 1));
	MUST(cuEventCreate(&e, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	OK(cuEventRecord(e, NULL));
	MUST(cuIpcGetMemHandle(&m.memory, p));
	MUST(cuIpcGetEventHandle(&m.event, e));
	OK(cuCtxSynchronize());
	TRUE(cuIpcOpenMemHandle_v2(&(CUdeviceptr){0}, m.memory, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS) != CUDA_SUCCESS); /* not in the process that has it */
	int to[2], status = -1;
	char *args[] = {argv[0], "other", NULL};
	posix_spawn_file_actions_t io;
	pid_t pid;
	if (pipe(to))
		return 1;
	posix_spawn_file_actions_init(&io);
	posix_spawn_file_actions_adddup2(&io, to[0], 0);
	EQ(posix_spawn(&pid, "/proc/self/exe", &io, NULL, args, environ), 0);
	EQ(write(to[1], &m, sizeof m), sizeof m);
	waitpid(pid, &status, 0);
	EQ(status, 0);
	OK(cuMemcpyDtoH_v2(out, p, 8));
	EQ(out[1], 42);
	return done("ipc");
}
