// guarded: no
// ledger: looks at ranges arrive in pinned memory, as those in stream order do
/* A pool has a name for each range that it gives out. Of those that are not guarded nothing is kept. */
#include "own_pool.h"
#include "proc.h"

enum { RANGES = 100000 };

int main(void)
{
	CUstream stream = tk_stream();
	long long before = 0;
	char name[64];

	open_own_pool();
	for (int i = 0; i < 2 * RANGES && gmod_guard; i++) {
		int status;

		if (i == RANGES)
			before = proc_number("/proc/self/status", "VmRSS");
		snprintf(name, sizeof(name), "a tensor of layer %d, which has a name of its own", i);
		status = guard_range(own_pool.memory, 1000, stream, name);
		REQUIRE(status == GMOD_OK || status == GMOD_SKIPPED);
		unguard_range(own_pool.memory, stream);
	}
	REQUIRE(!before || proc_number("/proc/self/status", "VmRSS") - before < 4096);
	CK(cuMemFree(own_pool.memory));
}
