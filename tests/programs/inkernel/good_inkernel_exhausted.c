// options: device_heap_mb=100
/*
 * Kernels take all there is, twice, and free it in between: the second time they get as much. The simulator alone has
 * no end, so they stop at some number.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_stop
#pragma weak gmod_device_start
#pragma weak gmod_device_check
#pragma weak gmod_device_get_stats

enum { THREADS = 4, MOST = 300 };

static long long hoard(CUdeviceptr chain, CUdeviceptr got, long long size)
{
	long long most = MOST, count[THREADS], sum = 0;

	tk_launch(ik_kernel("d_hoard"), 1, THREADS, NULL, TK_ARGS(&chain, &size, &most, &got));
	tk_sync();
	CK(cuMemcpyDtoH(count, got, sizeof(count)));
	for (int i = 0; i < THREADS; i++)
		sum += count[i];
	return sum;
}

static void let_go(CUdeviceptr chain)
{
	tk_launch(ik_kernel("d_let_go"), 1, THREADS, NULL, TK_ARGS(&chain));
}

static struct gmod_device_stats stats(void)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	return s;
}

/* It takes no guard to have back what was freed; and the heap's numbers say what was got and what not. */
static void without_guard(CUdeviceptr chain, CUdeviceptr got)
{
	struct gmod_device_stats before, now;

	if (!gmod_device_stop)
		return;
	REQUIRE(gmod_device_stop() == GMOD_OK);
	before = stats();
	for (int i = 0; i < 2; i++) {
		REQUIRE(hoard(chain, got, 1000000) > 0);
		let_go(chain);
	}
	tk_sync();
	now = stats();
	REQUIRE(now.failed_allocations == before.failed_allocations + 2 * THREADS);
	REQUIRE(gmod_device_start() == GMOD_OK && gmod_device_check() == GMOD_OK);
	now = stats();
	REQUIRE(now.used_bytes < now.heap_bytes / 2 && now.peak_bytes > now.heap_bytes / 2);
}

int main(void)
{
	static const long long sizes[] = {1000000, 400000, 3000000};
	CUdeviceptr chain, got;

	ik_start();
	CK(cuMemAlloc(&chain, THREADS * sizeof(void *)));
	CK(cuMemAlloc(&got, THREADS * sizeof(long long)));
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		long long first = hoard(chain, got, sizes[i]), again;

		let_go(chain);
		again = hoard(chain, got, sizes[i]);
		let_go(chain);
		REQUIRE(first > 0 && again + again / 4 + 2 >= first);
		REQUIRE(!gmod_findings_seen || first < THREADS * MOST);
		printf("%lld bytes: done\n", sizes[i]);
	}
	tk_sync();
	without_guard(chain, got);
}
