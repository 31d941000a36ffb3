/*
 * What it takes to allocate a buffer and to free it on a device that is at rest: run it without and with GMOD.
 *
 *	figure_alloc_free [bytes [pairs]]
 *
 * So many times (1000) a buffer of so many bytes (4096) is allocated, a kernel that does nothing is launched and waited
 * for, so that there is something to look for, and the buffer is freed. Three buffers of other sizes live all the time.
 * Prints microseconds: the medians of the allocation and of the free, and of both together. The first tenth is not
 * counted, in which the driver and GMOD get ready.
 */
#include "sorted.h"
#include "testkit.h"

enum { MOST = 100000 };

static double alloc_us[MOST], free_us[MOST], both_us[MOST];

static double us_since(double began_ms)
{
	return (tk_ms() - began_ms) * 1e3;
}

int main(int argc, char **argv)
{
	size_t bytes = argc > 1 ? strtoull(argv[1], NULL, 0) : 4096;
	int pairs = argc > 2 ? atoi(argv[2]) : 1000, warm_up = pairs / 10;
	long long off = 0, count = 0;
	CUfunction empty;
	CUdeviceptr p;

	REQUIRE(bytes > 0 && pairs > 0 && pairs <= MOST);
	tk_start();
	empty = tk_kernel("k_flip");
	for (int i = 1; i <= 3; i++)
		tk_alloc((size_t)i * 1000);
	for (int i = -warm_up; i < pairs; i++) {
		double began = tk_ms(), allocating, freeing;

		CK(cuMemAlloc(&p, bytes));
		allocating = us_since(began);
		tk_launch(empty, 1, 1, NULL, TK_ARGS(&p, &off, &count));
		tk_sync();
		began = tk_ms();
		CK(cuMemFree(p));
		freeing = us_since(began);
		if (i < 0)
			continue;
		alloc_us[i] = allocating;
		free_us[i] = freeing;
		both_us[i] = allocating + freeing;
	}
	sorted(alloc_us, (size_t)pairs);
	sorted(free_us, (size_t)pairs);
	sorted(both_us, (size_t)pairs);
	printf("bytes=%zu pairs=%d alloc_us=%.1f free_us=%.1f both_us=%.1f\n", bytes, pairs, alloc_us[pairs / 2],
	       free_us[pairs / 2], both_us[pairs / 2]);
}
