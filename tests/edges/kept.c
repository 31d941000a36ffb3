/*
 * kept: a context is detached from by one thread and stays, because another is attached. While that is under way, which
 * takes long, the other thread uses its buffers like at any other time. kept MILLISECONDS [THREADS]: over and over, for
 * so long, and by so many threads at the same time.
 */
#include "make_buffer.h"
#include <stdatomic.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { BUFFERS = 20, THREADS = 8 };

static CUcontext context;
static CUdeviceptr buffer[BUFFERS];
static atomic_int detaching, stop;

static void *attach_and_detach(void *over_and_over)
{
	CUcontext c;

	CK(cuCtxSetCurrent(context));
	do {
		CK(cuCtxAttach(&c, 0));
		atomic_store(&detaching, 1);
		CK(cuCtxDetach(c));
	} while (over_and_over && !atomic_load(&stop));
	return NULL;
}

static void use(CUdeviceptr p)
{
	CUdeviceptr base = 0;
	char bytes[1000];
	size_t size = 0;

	CK(cuMemGetAddressRange(&base, &size, p + 10));
	REQUIRE(base == p && size == 1000);
	CK(cuMemcpyDtoH(bytes, p, 1000));
	EXPECT(cuMemcpyDtoH(bytes, p + 1, 1000), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemFree(p + 8), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
}

int main(int argc, char **argv)
{
	double end = tk_ms() + (argc > 1 ? atoi(argv[1]) : 0);
	int threads = argc > 2 ? atoi(argv[2]) : 1;
	pthread_t thread[THREADS];

	REQUIRE(threads > 0 && threads <= THREADS);
	context = tk_start_in_new_context();
	for (int i = 0; i < BUFFERS; i++)
		buffer[i] = make_buffer(1000);
	for (int i = 0; i < threads; i++)
		thread[i] = tk_begin_thread(attach_and_detach, argc > 1 ? argv : NULL);
	while (!atomic_load(&detaching))
		;
	if (argc == 1)
		tk_sleep_ms(100);
	for (int i = 0; i < BUFFERS; i++)
		use(buffer[i]);
	while (tk_ms() < end)
		use(make_buffer(1000));
	atomic_store(&stop, 1);
	for (int i = 0; i < threads; i++)
		tk_end_thread(thread[i]);
	puts("done");
}
