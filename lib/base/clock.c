#include "lib/base/clock.h"

#include <string.h>

#include "lib/base/file.h"

void gmod_clock_init(const char *source)
{
	char name[8];
	int saved = errno;
	bool is_tsc = gmod_read_file(source, name, sizeof(name)) == 4 && memcmp(name, "tsc\n", 4) == 0;

	errno = saved;
	atomic_store_explicit(&gmod_hot.counter, is_tsc, memory_order_relaxed);
}

uint64_t gmod_ticks_of_the_kernel(void)
{
	return gmod_monotonic_ns();
}
