// sim-env: SIM_STALL=copy:1:3000
// guarded: some
/* The first canaries take seconds to arrive, as behind a kernel that waits: once that is known, the program's
 * allocations do not wait for them. Who sleeps many times waits; how long it took says how busy the machine is, too. */
#include "make_buffer.h"
#include <sys/resource.h>

enum { COUNT = 1200, NAPS = 10, KNOWN_AFTER = 200 /* ms */, AT_MOST = 3 };

static long sleeps(void)
{
	struct rusage usage;

	REQUIRE(!getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_nvcsw;
}

int main(void)
{
	CUdeviceptr p[COUNT];
	double first = 0;
	int again = 0;

	tk_start();
	for (int i = 0; i < COUNT; i++) {
		double began = tk_ms();
		long slept = sleeps();

		p[i] = make_buffer(1000);
		if (sleeps() - slept < NAPS)
			continue;
		if (!first)
			first = tk_ms();
		else if (began - first > KNOWN_AFTER)
			again++;
	}
	if (again > AT_MOST)
		fprintf(stderr, "%d of %d allocations waited again\n", again, COUNT);
	REQUIRE(again <= AT_MOST);
	for (int i = 0; i < COUNT; i++)
		CK(cuMemFree(p[i]));
	puts("done");
}
