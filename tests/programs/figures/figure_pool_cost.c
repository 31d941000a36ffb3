/*
 * What a program pays that allocates in stream order, as PyTorch does over cudaMallocAsync: run it without and with
 * GMOD.
 *
 *	figure_pool_cost [blocks [longer]]
 *
 * A step is one of training: it allocates activations and fills the head of each, then frees them the other way round,
 * with two temporary buffers at each. Prints microseconds a step, the median of the blocks of five and the least, and
 * the bytes that the pool holds at the end. LONGER: so many of 1000 allocations, drawn anew in each step, ask for 512
 * bytes more: what lengthening some costs in the driver alone, without GMOD.
 */
#include "sorted.h"
#include "testkit.h"

enum { ACTIVATIONS = 250, MOST = 10000, WARM_UP = 10, STEPS = 5, FILLED = 1 << 16 };

static size_t sizes[3 * ACTIVATIONS];
static int longer; /* of 1000 */
static uint64_t seed = 1;

static uint32_t drawn(uint32_t below)
{
	return (uint32_t)(tk_random(&seed) % below);
}

/* Multiples of 512 bytes, as tensors often are, up to 8 MiB: as many between two powers of two as between the next. */
static void draw_sizes(void)
{
	for (int i = 0; i < 3 * ACTIVATIONS; i++) {
		size_t least = (size_t)512 << drawn(14);

		sizes[i] = least + drawn((uint32_t)(least / 512)) * (size_t)512;
	}
}

static CUdeviceptr made(int i, CUstream stream)
{
	size_t size = sizes[i], more = (int)drawn(1000) < longer ? 512 : 0;
	CUdeviceptr p;

	CK(cuMemAllocAsync(&p, size + more, stream));
	CK(cuMemsetD32Async(p, 1, (size < FILLED ? size : FILLED) / 4, stream));
	return p;
}

static void step(CUstream stream)
{
	CUdeviceptr kept[ACTIVATIONS];

	for (int i = 0; i < ACTIVATIONS; i++)
		kept[i] = made(i, stream);
	for (int i = ACTIVATIONS - 1; i >= 0; i--) {
		CUdeviceptr a = made(ACTIVATIONS + i, stream), b = made(2 * ACTIVATIONS + i, stream);

		CK(cuMemFreeAsync(kept[i], stream));
		CK(cuMemFreeAsync(a, stream));
		CK(cuMemFreeAsync(b, stream));
	}
}

static CUmemoryPool pool_that_keeps(void)
{
	cuuint64_t all = UINT64_MAX;
	CUmemoryPool pool;

	CK(cuDeviceGetMemPool(&pool, tk_device));
	CK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	return pool;
}

int main(int argc, char **argv)
{
	static double us[MOST];
	int blocks = argc > 1 ? atoi(argv[1]) : 100;
	cuuint64_t held;
	CUmemoryPool pool;
	CUstream stream;

	longer = argc > 2 ? atoi(argv[2]) : 0;
	REQUIRE(blocks > 0 && blocks <= MOST && longer >= 0 && longer <= 1000);
	tk_start();
	pool = pool_that_keeps();
	stream = tk_stream();
	draw_sizes();
	for (int i = -WARM_UP; i < blocks; i++) {
		double begin = tk_ms();

		for (int k = 0; k < STEPS; k++)
			step(stream);
		CK(cuStreamSynchronize(stream));
		if (i >= 0)
			us[i] = (tk_ms() - begin) * 1e3 / STEPS;
	}
	CK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, &held));
	sorted(us, (size_t)blocks);
	printf("blocks=%d longer=%d step_us=%.1f least_us=%.1f allocations=%d held_bytes=%llu\n", blocks, longer,
	       us[blocks / 2], us[0], 3 * ACTIVATIONS, (unsigned long long)held);
	return 0;
}
