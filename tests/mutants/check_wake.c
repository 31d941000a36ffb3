/*
 * The store that notes activity and the load that asks whether the monitor sleeps must not pass each other: either the
 * monitor sees the activity before it sleeps, or it is woken (monitor/launches/activity.h). Two threads meet in that
 * race a million times; the second does what the monitor does before it sleeps. First each thread fences for itself, as
 * where the kernel has no membarrier, then the monitor does for both.
 */
#include "monitor/launches/activity.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ROUNDS = 3000000, SECONDS = 8 };

static _Alignas(64) atomic_uint round_of_a;
static _Alignas(64) atomic_uint round_of_b;
static atomic_bool over;
static struct gmod_thread *a;

static void meet(atomic_uint *mine, const atomic_uint *other, unsigned round)
{
	atomic_store_explicit(mine, round, memory_order_release);
	/* Where the machine is busy the other may not be running at all. */
	for (unsigned spins = 0; atomic_load_explicit(other, memory_order_acquire) < round; spins++)
		if (spins > 10000)
			sched_yield();
}

static void *note(void *unused)
{
	(void)unused;
	a = gmod_thread_self();
	for (unsigned i = 1; i <= ROUNDS && !atomic_load_explicit(&over, memory_order_relaxed); i++) {
		meet(&round_of_a, &round_of_b, 2 * i - 1);
		gmod_note_activity(a);
		meet(&round_of_a, &round_of_b, 2 * i);
	}
	return NULL;
}

/* Returns how many activities were lost: noted, not seen, and the sleeper not woken. */
static unsigned race(const char *what)
{
	time_t end = time(NULL) + SECONDS / 2;
	uint64_t before = gmod_activity_total(), seen;
	unsigned lost = 0, i;
	pthread_t thread;

	round_of_a = round_of_b = 0;
	over = false;
	if (pthread_create(&thread, NULL, note, NULL))
		exit(2);
	for (i = 1; i <= ROUNDS; i++) {
		meet(&round_of_b, &round_of_a, 2 * i - 1);
		atomic_store_explicit(&gmod_hot.sleeping, 1, memory_order_seq_cst);
		if (!gmod_activity_barrier())
			exit(2);
		seen = gmod_activity_total();
		/* The other will not be held up once it has looked whether this is to be its last round. */
		if (lost || (i % 1024 == 0 && time(NULL) > end))
			atomic_store_explicit(&over, true, memory_order_relaxed);
		meet(&round_of_b, &round_of_a, 2 * i);
		/* The other has noted its activity and looked whether to wake us. */
		lost += seen == before && atomic_load_explicit(&gmod_hot.sleeping, memory_order_relaxed);
		before = gmod_activity_total();
		atomic_store_explicit(&gmod_hot.sleeping, 0, memory_order_seq_cst);
		if (atomic_load_explicit(&over, memory_order_relaxed))
			break;
	}
	pthread_join(thread, NULL);
	printf("%s: %u rounds, %u lost\n", what, i, lost);
	return lost;
}

int main(void)
{
	unsigned lost = race("each thread fences");

	gmod_activity_init();
	return lost + race("the monitor fences") ? 1 : 0;
}
