#include "lib/base/worker.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <unistd.h>

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

static void *enter(void *worker)
{
	const struct gmod_worker *w = worker;
	sigset_t outside = gmod_outside_signals();

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
