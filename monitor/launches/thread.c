#include "monitor/launches/thread.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/map.h"

__thread struct gmod_thread *gmod_thread_here;

_Atomic(struct gmod_thread *) gmod_thread_list;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;
static void (*on_leave)(struct gmod_thread *t);
static _Atomic uint64_t records;

void gmod_thread_init(void (*leave)(struct gmod_thread *t))
{
	on_leave = leave;
}

/* The next new thread takes the record over. */
static void leave(void *thread)
{
	struct gmod_thread *t = thread;

	if (on_leave)
		on_leave(t);
	gmod_thread_here = NULL;
	/* release: our last launch records are there for the thread that takes over */
	atomic_store_explicit(&t->in_use, false, memory_order_release);
}

static void make_exit_key(void)
{
	if (pthread_key_create(&exit_key, leave))
		exit_key = (pthread_key_t)-1;
}

static struct gmod_thread *take_over(void)
{
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next) {
		bool expected = false;

		if (atomic_compare_exchange_strong_explicit(&t->in_use, &expected, true, memory_order_acquire,
							    memory_order_relaxed))
			return t;
	}
	return NULL;
}

static struct gmod_thread *make_new(void)
{
	struct gmod_thread *t = gmod_map(sizeof(*t));

	if (!t)
		return NULL;
	t->number = atomic_fetch_add_explicit(&records, 1, memory_order_relaxed) + 1;
	atomic_init(&t->in_use, true);
	t->next = atomic_load_explicit(&gmod_thread_list, memory_order_relaxed);
	/* release: the record is complete for whoever walks the list */
	while (!atomic_compare_exchange_weak_explicit(&gmod_thread_list, &t->next, t, memory_order_release,
						      memory_order_relaxed))
		;
	return t;
}

struct gmod_thread *gmod_thread_make(void)
{
	struct gmod_thread *t = take_over();

	if (!t)
		t = make_new();
	if (!t)
		return NULL;
	t->tid = syscall(SYS_gettid);
	pthread_once(&exit_key_once, make_exit_key);
	if (exit_key != (pthread_key_t)-1)
		pthread_setspecific(exit_key, t);
	gmod_thread_here = t;
	return t;
}
