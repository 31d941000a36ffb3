#include "lib/context/primary.h"

#include <pthread.h>
#include <stdatomic.h>

#include "lib/base/clock.h"

static _Atomic(CUcontext) primaries[GMOD_DEVICES];
static _Atomic unsigned retained[GMOD_DEVICES]; /* retains seen and not yet released */

static bool has_primary(int device)
{
	return device >= 0 && device < GMOD_DEVICES;
}

void gmod_primary_retained(int device, CUcontext handle)
{
	if (!has_primary(device))
		return;
	atomic_store_explicit(&primaries[device], handle, memory_order_relaxed);
	atomic_fetch_add_explicit(&retained[device], 1, memory_order_relaxed);
}

CUcontext gmod_primary_of(int device)
{
	return has_primary(device) ? atomic_load_explicit(&primaries[device], memory_order_relaxed) : NULL;
}

bool gmod_primary_is(CUcontext handle)
{
	for (int i = 0; i < GMOD_DEVICES; i++)
		if (atomic_load_explicit(&primaries[i], memory_order_relaxed) == handle)
			return true;
	return false;
}

bool gmod_primary_is_retained(int device)
{
	return has_primary(device) && atomic_load_explicit(&retained[device], memory_order_relaxed);
}

bool gmod_primary_last_release(int device)
{
	unsigned count;

	if (!has_primary(device))
		return true;
	count = atomic_load_explicit(&retained[device], memory_order_relaxed);
	while (count && !atomic_compare_exchange_weak_explicit(&retained[device], &count, count - 1,
							       memory_order_relaxed, memory_order_relaxed))
		;
	return count <= 1;
}

static pthread_mutex_t turns[GMOD_DEVICES] = {[0 ... GMOD_DEVICES - 1] = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP};

bool gmod_primary_turn_begin(int device)
{
	struct timespec until = gmod_time_in(GMOD_SECONDS(5));

	return has_primary(device) && pthread_mutex_timedlock(&turns[device], &until) == 0;
}

void gmod_primary_turn_end(int device, bool taken)
{
	if (taken)
		pthread_mutex_unlock(&turns[device]);
}
