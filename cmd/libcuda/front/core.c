/* What a front keeps of the core and of a thread: it opens the core, hands signals over and makes the calls. */
#define _GNU_SOURCE
#include "core.h"

#include <dirent.h>
#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* What became of the core. */
enum {
	NOT_LOADED,
	LOADED,
	FAILED, /* start_result says why */
	FORKED, /* the process is a child of one that had loaded it: threads do not survive a fork, so the core is dead here */
};

static int state = NOT_LOADED;
int gocuda_ready; /* cuInit has succeeded */
static CUresult start_result;
static gocuda_call_fn *core_call;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* Answers that stand.
 *
 * Programs wait for streams that have nothing to do, and ask them over and over. Such a call succeeds and changes nothing, and so does the same call
 * after it, until another call has been made that may change something, by whatever thread. The front keeps the last of these calls of each thread and
 * answers it itself while it stands, since entering the core takes longer than the answer.
 *
 * entered counts the calls that may change something when they begin, left when they have ended. The core is asked (GOCUDA_ASK) whether a call stands when it comes a
 * second time and no other call that counts is under way; it says so if no stream has work or is captured and no host function runs.
 * What it said holds as long as entered has not moved: work that comes later has come with a call. So has another current context of the thread. */
static uint64_t entered, left;

struct answer {
	uint64_t epoch, arg; /* entered when it was given, and the argument that it was given for */
	uint32_t fn;
	int stands;
};

/* What belongs to a thread. */
__thread struct gocuda_thread gocuda_self __attribute__((tls_model("initial-exec")));
#define self gocuda_self

static __thread struct answer waits[GOCUDA_SLOTS] __attribute__((tls_model("initial-exec")));

static void take_signal_stack(void *m);
static pthread_key_t signal_stack_key;

/* A fork waits until a load that runs elsewhere is over. */
static void before_fork(void) { pthread_mutex_lock(&lock); }
static void in_parent(void) { pthread_mutex_unlock(&lock); }
static void in_child(void)
{
	if (state != NOT_LOADED)
		state = FORKED;
	pthread_mutex_init(&lock, NULL);
}

__attribute__((constructor)) static void opened(void)
{
	pthread_atfork(before_fork, in_parent, in_child);
	pthread_key_create(&signal_stack_key, take_signal_stack);
}

/* Signals. The core needs SIGSEGV, SIGBUS and SIGFPE, since kernels may fault. A fault comes to top, which gives it to the Go runtime's handler; that hands what is not
 * its own to the handler that was there before it, which is pass, and that to the program's. What is sent (kill, raise) and no fault goes to the program's at once.
 * A program that installs a handler later takes the faults of kernels away; where that has happened is seen when modules are loaded (hold_signals), and the order
 * is restored: top first, then the program's.
 *
 * The runtime also takes SIGPIPE and SIGURG. The core has no use for either (LDFLAGS in the Makefile: its goroutines are stopped without SIGURG), and a program that is
 * itself in Go needs SIGURG: both stay the program's.
 *
 * Handlers of the program for other signals must not run on the core's stacks: a goroutine's has a few KiB and no guard page. So the core's own threads block what is
 * sent to the process (load_locked), and on threads of the program, which run goroutines while they are in a call, such handlers get SA_ONSTACK (off_goroutine_stacks),
 * as the Go runtime gives it to those that it finds when it starts. */
static const int taken[] = {SIGSEGV, SIGBUS, SIGFPE, SIGPIPE, SIGURG};
enum { FAULTS = 3, PIPE = 3, URG = 4, TAKEN = 5 };

static struct sigaction before[TAKEN];  /* when the core was loaded */
static struct sigaction go[TAKEN];      /* the core's own */
static struct sigaction later[FAULTS];  /* the program's now */

static int is_default(const struct sigaction *a) { return !(a->sa_flags & SA_SIGINFO) && (a->sa_handler == SIG_DFL || a->sa_handler == SIG_IGN); }

static void hand_over(const struct sigaction *a, int sig, siginfo_t *info, void *context)
{
	if (is_default(a)) {
		/* A fault comes again on return, and then ends the process; what was sent does not. */
		signal(sig, SIG_DFL);
		if (info->si_code <= 0)
			raise(sig);
		return;
	}
	/* Go's handlers run with every signal blocked. The program's has the mask that the system would have given it; it may leave by a jump. */
	sigset_t mask = ((ucontext_t *)context)->uc_sigmask;
	for (int n = 1; n < NSIG; n++)
		if (sigismember(&a->sa_mask, n) == 1 || (n == sig && !(a->sa_flags & SA_NODEFER)))
			sigaddset(&mask, n);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	if (a->sa_flags & SA_SIGINFO)
		a->sa_sigaction(sig, info, context);
	else
		a->sa_handler(sig);
}

/* What a handler does with a fault may end in pass again: it raises the signal anew, or calls the handler that it has replaced, which is the core's. Then the next in
 * line gets it. A handler may also leave by a jump, so that leaving it is not seen; but a fault that is handled inside another is deeper in the stack. */
static __thread struct {
	siginfo_t *info;
	void *frame;
	int depth;
} passing __attribute__((tls_model("initial-exec")));

static void pass(int sig, siginfo_t *info, void *context)
{
	static const struct sigaction none = {.sa_handler = SIG_DFL};
	void *frame = __builtin_frame_address(0);
	int inside = passing.frame && (char *)frame < (char *)passing.frame && (info->si_code <= 0 || info == passing.info);
	int i = 0;
	while (i < FAULTS - 1 && taken[i] != sig)
		i++;
	passing.depth = inside ? passing.depth + 1 : 0;
	passing.info = info;
	passing.frame = frame;
	hand_over(passing.depth == 0 ? &later[i] : passing.depth == 1 ? &before[i] : &none, sig, info, context);
	passing.frame = NULL;
}

static void top(int sig, siginfo_t *info, void *context)
{
	int i = 0;
	while (i < FAULTS - 1 && taken[i] != sig)
		i++;
	if (info->si_code <= 0)
		pass(sig, info, context);
	else
		go[i].sa_sigaction(sig, info, context);
}

static struct sigaction handler(void (*f)(int, siginfo_t *, void *))
{
	struct sigaction a = {.sa_sigaction = f, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
	sigfillset(&a.sa_mask);
	return a;
}

static void signals_before_load(void)
{
	struct sigaction a = handler(pass);
	for (int i = 0; i < TAKEN; i++)
		sigaction(taken[i], NULL, &before[i]);
	memcpy(later, before, sizeof later);
	for (int i = 0; i < FAULTS; i++)
		sigaction(taken[i], &a, NULL);
}

/* urge sends SIGURG to every thread, when the program has a handler for it. What came while the runtime's own handler
 * stood there, from dlopen until now, is lost, and Go's runtime sends no second one to a thread that has not answered
 * the first: a program in Go would wait for ever for a goroutine that it wants to stop. One too many does no harm: the
 * signal only says that something may have happened. */
static void urge(void)
{
	if (is_default(&before[URG]))
		return;
	DIR *tasks = opendir("/proc/self/task");
	if (!tasks)
		return;
	for (struct dirent *e; (e = readdir(tasks));) {
		int thread = atoi(e->d_name);
		if (thread > 0)
			syscall(SYS_tgkill, getpid(), thread, SIGURG);
	}
	closedir(tasks);
}

static void signals_after_load(void)
{
	for (int i = 0; i < TAKEN; i++)
		sigaction(taken[i], NULL, &go[i]);
	struct sigaction t = handler(top);
	for (int i = 0; i < FAULTS; i++)
		sigaction(taken[i], &t, NULL);
	sigaction(SIGPIPE, &before[PIPE], NULL);
	sigaction(SIGURG, &before[URG], NULL);
	urge();
}

/* off_goroutine_stacks gives the handlers of the program's other signals SA_ONSTACK. */
static void off_goroutine_stacks(void)
{
	struct sigaction a;
	for (int n = 1; n < NSIG; n++)
		if (!sigaction(n, NULL, &a) && !is_default(&a) && !(a.sa_flags & SA_ONSTACK)) {
			a.sa_flags |= SA_ONSTACK;
			sigaction(n, &a, NULL);
		}
}

/* Such a handler then runs on the thread's signal stack. Where the program has given the thread none, it would be the Go runtime's, of 32 KiB and without a guard page;
 * so the front gives one. */
enum { SIGNAL_STACK = 1 << 20, GUARD = 1 << 16 };

static void give_signal_stack(void)
{
	stack_t now, s = {.ss_size = SIGNAL_STACK};
	if (sigaltstack(NULL, &now) || !(now.ss_flags & SS_DISABLE))
		return;
	char *m = mmap(NULL, GUARD + SIGNAL_STACK, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (m == MAP_FAILED)
		return;
	s.ss_sp = m + GUARD;
	if (mprotect(s.ss_sp, SIGNAL_STACK, PROT_READ | PROT_WRITE) || pthread_setspecific(signal_stack_key, m) || sigaltstack(&s, NULL)) {
		pthread_setspecific(signal_stack_key, NULL);
		munmap(m, GUARD + SIGNAL_STACK);
	}
}

/* take_signal_stack is called when a thread ends. The Go runtime leaves the thread in a destructor, too, and needs the stack until then: it is kept for one more round. */
static void take_signal_stack(void *m)
{
	static __thread int round __attribute__((tls_model("initial-exec")));
	stack_t now, none = {.ss_flags = SS_DISABLE};
	if (round++ == 0 && !pthread_setspecific(signal_stack_key, m))
		return;
	if (!sigaltstack(NULL, &now) && now.ss_sp == (char *)m + GUARD)
		sigaltstack(&none, NULL);
	munmap(m, GUARD + SIGNAL_STACK);
}

/* look_at_signals is off_goroutine_stacks in the first call of each tick of the coarse clock (some milliseconds): reading the clock takes nanoseconds, asking for all handlers
 * microseconds. */
static void look_at_signals(void)
{
	static int64_t last;
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
	int64_t now = t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
	if (__builtin_expect(__atomic_load_n(&last, __ATOMIC_RELAXED) != now, 0)) {
		__atomic_store_n(&last, now, __ATOMIC_RELAXED);
		off_goroutine_stacks();
	}
}

static void hold_signals(void)
{
	struct sigaction a, t = handler(top);
	pthread_mutex_lock(&lock);
	for (int i = 0; i < FAULTS; i++) {
		if (sigaction(taken[i], NULL, &a) || ((a.sa_flags & SA_SIGINFO) && a.sa_sigaction == top))
			continue;
		later[i] = a;
		sigaction(taken[i], &t, NULL);
	}
	off_goroutine_stacks();
	pthread_mutex_unlock(&lock);
}

static uint64_t callback(uint64_t fn, uint64_t a, uint64_t b, uint64_t c, uint64_t d)
{
	self.callback++;
	uint64_t r = ((uint64_t(*)(uint64_t, uint64_t, uint64_t, uint64_t))(uintptr_t)fn)(a, b, c, d);
	self.callback--;
	return r;
}

static struct gocuda_front front;

#define CORE "libgocuda.so"

/* The core lies beside the front, where a link to it does not matter; or else where the loader finds it. */
static void *open_core(char *why, size_t size)
{
	Dl_info info;
	char path[PATH_MAX + sizeof "/" CORE];
	why[0] = 0;
	if (dladdr((void *)&front, &info) && info.dli_fname && realpath(info.dli_fname, path)) {
		char *slash = strrchr(path, '/');
		strcpy(slash ? slash + 1 : path, CORE);
		void *h = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		if (h)
			return h;
		snprintf(why, size, "%s", dlerror());
	}
	void *h = dlopen(CORE, RTLD_NOW | RTLD_LOCAL);
	if (!h && !why[0])
		snprintf(why, size, "%s", dlerror());
	return h;
}

static CUresult load_core(void)
{
	char why[PATH_MAX + 200];
	signals_before_load();
	void *h = open_core(why, sizeof why);
	if (!h) {
		fprintf(stderr, "%s: %s\n", gocuda_library, why);
		return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
	}
	signals_after_load();
	gocuda_start_fn *start = (gocuda_start_fn *)(uintptr_t)dlsym(h, "gocuda_start");
	core_call = (gocuda_call_fn *)(uintptr_t)dlsym(h, "gocuda_call");
	if (!start || !core_call) {
		fprintf(stderr, "%s: %s is not the core of this library\n", gocuda_library, CORE);
		return CUDA_ERROR_SHARED_OBJECT_INIT_FAILED;
	}
	front.symbols = gocuda_symbols;
	front.symbol_count = gocuda_symbol_count;
	front.callback = callback;
	front.driver = gocuda_driver;
	return start(&front);
}

/* The threads of the core have the mask that it is loaded and started with. */
static CUresult load_locked(void)
{
	sigset_t all, mask;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &mask);
	give_signal_stack(); /* the core is entered */
	CUresult r = load_core();
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
	return r;
}

/* load returns what a call other than cuInit has to answer when there is no core. */
static CUresult load(void)
{
	pthread_mutex_lock(&lock);
	if (state == NOT_LOADED) {
		start_result = load_locked();
		__atomic_store_n(&state, start_result == CUDA_SUCCESS ? LOADED : FAILED, __ATOMIC_RELEASE);
	}
	int s = state;
	pthread_mutex_unlock(&lock);
	return s == LOADED ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

int gocuda_loaded(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == LOADED; }

CUresult gocuda_why(CUresult r) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == FAILED ? start_result : r; }

CUresult gocuda_look(uint32_t fn, struct gocuda_frame *f)
{
	if (__builtin_expect(__atomic_load_n(&state, __ATOMIC_ACQUIRE) != LOADED, 0)) {
		CUresult r = load();
		if (r != CUDA_SUCCESS)
			return r;
	}
	if (__builtin_expect(!self.started, 0)) {
		self.started = 1;
		give_signal_stack();
		fn |= GOCUDA_NEW_THREAD;
	}
	if (__builtin_expect(fn & GOCUDA_LOADS, 0))
		hold_signals();
	else
		look_at_signals();
	f->cur = fn & (GOCUDA_STACK | GOCUDA_THREAD) ? 0 : self.cur;
	CUresult r = core_call(fn, f);
	if (fn & (GOCUDA_STACK | GOCUDA_RUNTIME))
		self.cur = f->cur;
	return r;
}

CUresult gocuda_call(uint32_t fn, struct gocuda_frame *f)
{
	__atomic_fetch_add(&entered, 1, __ATOMIC_SEQ_CST);
	CUresult r = gocuda_look(fn, f);
	__atomic_fetch_add(&left, 1, __ATOMIC_SEQ_CST);
	return r;
}

/* In a callback the core has another answer; in the child of a fork there is none. */
static int may_stand(void) { return __atomic_load_n(&state, __ATOMIC_ACQUIRE) == LOADED && !self.callback; }

CUresult gocuda_wait(uint32_t fn, struct gocuda_frame *f, enum gocuda_slot slot, int words)
{
	struct answer *k = &waits[slot];
	uint64_t now = __atomic_load_n(&entered, __ATOMIC_SEQ_CST), arg = words ? f->a[0] : 0;
	int again = k->fn == fn && k->arg == arg && k->epoch == now && may_stand();
	if (again && k->stands)
		return CUDA_SUCCESS;
	/* left is read after entered: if they are equal, nothing was under way when entered was read. */
	int ask = again && __atomic_load_n(&left, __ATOMIC_SEQ_CST) == now;
	f->stands = 0;
	CUresult r = gocuda_look(ask ? fn | GOCUDA_ASK : fn, f);
	*k = (struct answer){now, arg, fn, r == CUDA_SUCCESS && f->stands};
	return r;
}

