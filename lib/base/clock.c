#include "lib/base/clock.h"

#include <string.h>

#include "lib/base/file.h"

static struct gmod_moment first; /* of all; read-only once others are there */

void gmod_clock_init(const char *source)
{
	char name[8];
	int saved = errno;
	bool is_tsc = gmod_read_file(source, name, sizeof(name)) == 4 && memcmp(name, "tsc\n", 4) == 0;

	errno = saved;
	atomic_store_explicit(&gmod_hot.counter, is_tsc, memory_order_relaxed);
	first = gmod_now();
}

uint64_t gmod_ns_of_ticks(uint64_t ticks)
{
	struct gmod_moment now = gmod_now();
	uint64_t ago = now.ticks - ticks, ns = now.ns - first.ns, passed = now.ticks - first.ticks;

	return passed ? now.ns - (uint64_t)((unsigned __int128)ago * ns / passed) : now.ns;
}

uint64_t gmod_ticks_of_the_kernel(void)
{
	return gmod_monotonic_ns();
}
