#include "lib/base/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "lib/base/clock.h"
#include "lib/base/scope.h"

#define OWN_STACK ((size_t)512 << 10)
#define UNKNOWN_STORAGE ((size_t)4 << 20)
#define STACK_MAX ((size_t)256 << 20)

/* The C library takes its own and the static thread-local storage of the program off the stack, and knows how much. */
static size_t stack_size(const pthread_attr_t *attributes)
{
	size_t (*least)(const pthread_attr_t *);

	*(void **)&least = dlvsym(RTLD_DEFAULT, "__pthread_get_minstack", "GLIBC_PRIVATE");
	return OWN_STACK + (least ? least(attributes) : UNKNOWN_STORAGE);
}

/* The threads of a real-time program come before ours. */
static void leave_real_time(void)
{
	int policy = sched_getscheduler(0);

	if (policy == SCHED_FIFO || policy == SCHED_RR)
		sched_setscheduler(0, SCHED_OTHER, &(struct sched_param){0});
}

/* The clocks of the threads, which never end. One that finds no place goes uncounted. */
static _Atomic clockid_t clocks[8];
static atomic_uint clock_count;

static void tell_clock(void)
{
	unsigned mine = atomic_fetch_add_explicit(&clock_count, 1, memory_order_relaxed);
	clockid_t own;

	if (mine < sizeof(clocks) / sizeof(*clocks) && !pthread_getcpuclockid(pthread_self(), &own))
		atomic_store_explicit(&clocks[mine], own, memory_order_relaxed);
}

uint64_t gmod_workers_cpu_ns(void)
{
	uint64_t sum = 0;

	for (unsigned i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
		/* 0 is the clock of the day: no thread has told its own. */
		clockid_t clock = atomic_load_explicit(&clocks[i], memory_order_relaxed);

		sum += clock ? gmod_clock_ns(clock) : 0;
	}
	return sum;
}

static void *enter(void *worker)
{
	const struct gmod_worker *w = worker;
	sigset_t outside = gmod_outside_signals();

	tell_clock();
	/* The program's thread may have had the others blocked, too. */
	pthread_sigmask(SIG_SETMASK, &outside, NULL);
	leave_real_time();
	prctl(PR_SET_NAME, w->name);
	w->run();
	/* Never returns: a thread that has called the driver runs clean-up of the driver's when it ends. */
	for (;;)
		pause();
	return NULL;
}

int gmod_worker_start(const struct gmod_worker *w)
{
	pthread_attr_t attributes;
	int error = pthread_attr_init(&attributes);
	pthread_t thread;
	sigset_t outside = gmod_outside_signals(), before;

	if (error)
		return error;
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	pthread_sigmask(SIG_BLOCK, &outside, &before);
	error = EINVAL; /* the storage takes more than was thought */
	for (size_t size = stack_size(&attributes); error == EINVAL && size <= STACK_MAX; size *= 2) {
		pthread_attr_setstacksize(&attributes, size);
		error = pthread_create(&thread, &attributes, enter, (void *)w);
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}
