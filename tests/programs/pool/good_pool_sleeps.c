// options: max_overhead=100
/*
 * Over a thousand buffers that have been looked at, and that nothing happens to any more, the monitor sleeps. A
 * sanitizer makes it late.
 */
#include "pooled.h"
#include "proc.h"

enum { COUNT = 1000, MOST_SECONDS = 15 };

static long long wakeups(void)
{
	return proc_monitor() ? proc_monitor_number("status", "voluntary_ctxt_switches") : 0;
}

int main(void)
{
	CUstream stream = tk_stream();
	static CUdeviceptr p[COUNT];
	long long before;
	int seconds = 0; /* asleep */

	for (int i = 0; i < COUNT; i++) {
		p[i] = make_pooled(SIZE, stream);
		if (i % 16 == 15 || i == COUNT - 1)
			flip_end(p[i], SIZE, stream, 0);
	}
	CK(cuStreamSynchronize(stream));
	for (int s = 0; seconds < 2 && s < MOST_SECONDS; s++) {
		before = wakeups();
		tk_sleep_ms(1000);
		seconds = wakeups() - before < 10 ? seconds + 1 : 0;
	}
	REQUIRE(seconds == 2);
	for (int i = 0; i < COUNT; i++)
		CK(cuMemFreeAsync(p[i], stream));
	tk_sync();
	puts("done");
}
