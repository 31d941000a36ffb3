#include "monitor/launches/activity.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/futex.h"
#include "monitor/launches/proof.h"

__thread struct gmod_thread *gmod_thread_here;

static _Atomic(struct gmod_thread *) threads;
static pthread_key_t exit_key;
static pthread_once_t exit_key_once = PTHREAD_ONCE_INIT;

/* The launch that a thread is in, NULL if it is in none. */
static struct gmod_launch *launch_under_way(const struct gmod_thread *t)
{
	uint64_t n = atomic_load_explicit(&t->launches, memory_order_acquire);
	struct gmod_launch *l = n ? &t->ring[(n - 1) % GMOD_RING] : NULL;

	return l && atomic_load_explicit(&l->ticks, memory_order_relaxed) == GMOD_IN_CALL ? l : NULL;
}

/*
 * A thread's record outlives it: its launches may still run. The next new thread takes it over. One that was cancelled
 * inside the driver does not know what became of its launch: it may run.
 */
static void leave(void *thread)
{
	struct gmod_thread *t = thread;
	struct gmod_launch *l = launch_under_way(t);

	if (l)
		gmod_launch_end(t, l, true);
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
	size_t ring_size = GMOD_RING * sizeof(struct gmod_launch);
	char *memory = mmap(NULL, ring_size + sizeof(struct gmod_thread), PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct gmod_thread *t;

	if (memory == MAP_FAILED)
		return NULL;
	t = (struct gmod_thread *)(void *)(memory + ring_size);
	t->ring = (struct gmod_launch *)(void *)memory;
	atomic_init(&t->in_use, true);
	t->next = atomic_load_explicit(&threads, memory_order_relaxed);
	/* release: the record is complete for whoever walks the list */
	while (
	    !atomic_compare_exchange_weak_explicit(&threads, &t->next, t, memory_order_release, memory_order_relaxed))
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

struct gmod_thread *gmod_threads(void)
{
	return atomic_load_explicit(&threads, memory_order_acquire);
}

/* The slot for a stream: its own, an empty one, or one whose work is proven complete; NULL when all are in use. */
static struct gmod_last_launch *slot_for(struct gmod_thread *t, uint64_t stream)
{
	unsigned start = gmod_last_launch_start(stream);
	struct gmod_last_launch *free_slot = NULL;

	for (unsigned i = 0; i < GMOD_STREAMS_PER_THREAD; i++) {
		struct gmod_last_launch *last = &t->last[(start + i) % GMOD_STREAMS_PER_THREAD];
		uint64_t key = atomic_load_explicit(&last->stream, memory_order_relaxed);

		if (key == stream)
			return last;
		if (!key)
			return free_slot ? free_slot : last;
		if (!free_slot && gmod_proven(atomic_load_explicit(&last->context, memory_order_relaxed), key,
					      atomic_load_explicit(&last->ticks, memory_order_relaxed)))
			free_slot = last;
	}
	return free_slot;
}

static void note_crowded(struct gmod_thread *t, uint64_t context, uint64_t ticks)
{
	uint64_t before = atomic_load_explicit(&t->crowded_context, memory_order_relaxed);

	/* Launches of several contexts in one mark cannot be proven by any one of them. */
	atomic_store_explicit(&t->crowded_context, before && before != context ? GMOD_NO_CONTEXT : context,
			      memory_order_relaxed);
	atomic_store_explicit(&t->crowded_ticks, ticks, memory_order_release);
}

void gmod_note_last_launch(struct gmod_thread *t, uint64_t context, uint64_t stream, uint64_t ticks)
{
	struct gmod_last_launch *last = slot_for(t, stream);

	if (!last) {
		note_crowded(t, context, ticks);
		return;
	}
	if (atomic_load_explicit(&last->stream, memory_order_relaxed) == stream) {
		atomic_store_explicit(&last->ticks, ticks, memory_order_release);
		return;
	}
	/* A reader that sees the old stream before and after reads the old values; in between it sees no stream. */
	atomic_store_explicit(&last->stream, 0, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&last->context, context, memory_order_relaxed);
	atomic_store_explicit(&last->ticks, ticks, memory_order_relaxed);
	atomic_store_explicit(&last->stream, stream, memory_order_release);
}

static int membarrier(int command)
{
	return (int)syscall(SYS_membarrier, command, 0, 0);
}

void gmod_activity_init(void)
{
	int saved = errno;

	if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
		atomic_store_explicit(&gmod_hot.fences, 1, memory_order_relaxed);
	errno = saved;
}

void gmod_activity_wake(void)
{
	int saved = errno;

	if (atomic_exchange_explicit(&gmod_hot.sleeping, 0, memory_order_acq_rel))
		gmod_futex_wake(&gmod_hot.sleeping);
	errno = saved;
}

bool gmod_activity_barrier(void)
{
	atomic_thread_fence(memory_order_seq_cst);
	if (!atomic_load_explicit(&gmod_hot.fences, memory_order_relaxed) ||
	    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0)
		return true;
	atomic_store_explicit(&gmod_hot.fences, 0, memory_order_relaxed);
	return false;
}

uint64_t gmod_activity_total(void)
{
	uint64_t total = 0;

	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		total += atomic_load_explicit(&t->activity, memory_order_relaxed);
	return total;
}

void gmod_activity_sleep(uint64_t since, const atomic_int *stop, uint64_t ns)
{
	atomic_store_explicit(&gmod_hot.sleeping, 1, memory_order_seq_cst);
	/* The flag is visible before we look at the counters; see the header. */
	if (gmod_activity_barrier() && gmod_activity_total() == since && !atomic_load_explicit(stop, memory_order_acquire))
		gmod_futex_wait(&gmod_hot.sleeping, 1, ns);
	atomic_store_explicit(&gmod_hot.sleeping, 0, memory_order_relaxed);
}

/* A slot that changes hands while we look is taken as busy: the next look is soon. */
static bool slot_outstanding(const struct gmod_last_launch *last)
{
	uint64_t stream = atomic_load_explicit(&last->stream, memory_order_acquire);
	uint64_t context = atomic_load_explicit(&last->context, memory_order_relaxed);
	uint64_t ticks = atomic_load_explicit(&last->ticks, memory_order_relaxed);

	if (!stream)
		return false;
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&last->stream, memory_order_relaxed) != stream ||
	       !gmod_proven(context, stream, ticks);
}

static bool thread_outstanding(const struct gmod_thread *t)
{
	uint64_t crowded = atomic_load_explicit(&t->crowded_ticks, memory_order_acquire);

	if (launch_under_way(t))
		return true;
	if (crowded && !gmod_proven(atomic_load_explicit(&t->crowded_context, memory_order_relaxed), 0, crowded))
		return true;
	for (unsigned i = 0; i < GMOD_STREAMS_PER_THREAD; i++)
		if (slot_outstanding(&t->last[i]))
			return true;
	return false;
}

bool gmod_work_outstanding(void)
{
	for (struct gmod_thread *t = gmod_threads(); t; t = t->next)
		if (thread_outstanding(t))
			return true;
	return false;
}
