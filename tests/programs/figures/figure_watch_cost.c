/*
 * What looking at redzones costs the program's kernels: run it without and with GMOD.
 *
 *	figure_watch_cost [buffers [batches]]
 *
 * So many buffers are live, while one kernel after another fills the device: k_axpy over 1 GiB, which memory bounds,
 *and k_busy, which arithmetic does. A batch is some 20 ms of either, then waited for; prints microseconds a kernel, the
 * median of the batches. The first batches, in which GMOD gets ready, are not counted.
 */
#include "many_buffers.h"
#include "sorted.h"

enum { MOST = 10000, WARM_UP = 20, THREADS = 256 };

static double us[2][MOST];

static long long size_of(int i)
{
	return 256 + i % 4 * 512;
}

struct load {
	CUfunction kernel;
	unsigned blocks;
	void **arguments;
	int launches; /* of a batch */
};

static double batch(const struct load *l, int launches)
{
	double begin = tk_ms();

	for (int i = 0; i < launches; i++)
		tk_launch(l->kernel, l->blocks, THREADS, NULL, l->arguments);
	tk_sync();
	return (tk_ms() - begin) * 1e3 / launches;
}

static double median(double *values, int count)
{
	sorted(values, (size_t)count);
	return values[count / 2];
}

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 4096, batches = argc > 2 ? atoi(argv[2]) : 100, rounds = 1 << 14;
	int processors, threads;
	long long n = 1 << 27;
	volatile int *never;
	CUdeviceptr x, y;
	float a = 0.5f;

	REQUIRE(count > 0 && count <= MAX_BUFFERS && batches > 0 && batches <= MOST);
	tk_start();
	CK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, tk_device));
	CK(cuDeviceGetAttribute(&threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR, tk_device));
	never = tk_flag();
	CK(cuMemAlloc(&x, (size_t)n * sizeof(float)));
	CK(cuMemAlloc(&y, (size_t)n * sizeof(float)));
	CK(cuMemsetD32(x, 0, (size_t)n));
	CK(cuMemsetD32(y, 0, (size_t)n));
	allocate(count, size_of);
	struct load loads[2] = {
	    {tk_kernel("k_axpy"), (unsigned)(n / THREADS), TK_ARGS(&y, &x, &a, &n), 0},
	    {tk_kernel("k_busy"), (unsigned)(processors * (threads / THREADS)), TK_ARGS(&rounds, &never), 0},
	};
	for (int i = 0; i < 2; i++) {
		batch(&loads[i], 1); /* loads the kernel */
		loads[i].launches = 1 + (int)(20e3 / batch(&loads[i], 4));
	}
	for (int b = -WARM_UP; b < batches; b++)
		for (int i = 0; i < 2; i++) {
			double took = batch(&loads[i], loads[i].launches);

			if (b >= 0)
				us[i][b] = took;
		}
	printf("buffers=%d batches=%d axpy_us=%.3f busy_us=%.3f launches=%d,%d\n", count, batches,
	       median(us[0], batches), median(us[1], batches), loads[0].launches, loads[1].launches);
	return 0;
}
