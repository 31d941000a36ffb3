#include "lib/base/clock.h"

#include <string.h>

#include "lib/base/file.h"

static struct gmod_moment first; /* of all; read-only once others are there */
static uint64_t began;           /* the same on the clock that only goes forward */

void gmod_clock_init(const char *source)
{
	char name[sizeof(GMOD_TICKS_BY)];
	const ssize_t length = sizeof(name) - 1;
	int saved = errno;
	bool is_counter =
	    gmod_read_file(source, name, sizeof(name)) == length && !memcmp(name, GMOD_TICKS_BY, sizeof(name) - 1);

	errno = saved;
	atomic_store_explicit(&gmod_hot.counter, is_counter, memory_order_relaxed);
	first = gmod_now();
	began = gmod_monotonic_ns();
}

uint64_t gmod_clock_began(void)
{
	return began;
}

uint64_t gmod_ns_of_ticks(uint64_t ticks)
{
	struct gmod_moment now = gmod_now();
	uint64_t ago = now.ticks - ticks, ns = now.ns - first.ns, passed = now.ticks - first.ticks;

	return passed ? now.ns - (uint64_t)((unsigned __int128)ago * ns / passed) : now.ns;
}

uint64_t gmod_ticks_ago(uint64_t ns)
{
	struct gmod_moment now = gmod_now();
	uint64_t passed_ns = now.ns - first.ns, passed = now.ticks - first.ticks;

	return ns < passed_ns ? now.ticks - (uint64_t)((unsigned __int128)ns * passed / passed_ns) : first.ticks;
}

uint64_t gmod_ticks_of_the_kernel(void)
{
	return gmod_monotonic_ns();
}
