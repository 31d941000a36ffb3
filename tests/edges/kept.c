/*
 * kept: a context is detached from by one thread and stays, because another is attached. While that is under way, which
 * takes long, the other thread uses its buffers like at any other time. kept MILLISECONDS: over and over, for so long.
 */
#include "make_buffer.h"
#include <pthread.h>
#include <stdatomic.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

enum { BUFFERS = 20 };

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
	pthread_t thread;

	context = tk_start_in_new_context();
	for (int i = 0; i < BUFFERS; i++)
		buffer[i] = make_buffer(1000);
	REQUIRE(!pthread_create(&thread, NULL, attach_and_detach, argc > 1 ? argv : NULL));
	while (!atomic_load(&detaching))
		;
	if (argc == 1)
		tk_sleep_ms(100);
	for (int i = 0; i < BUFFERS; i++)
		use(buffer[i]);
	while (tk_ms() < end)
		use(make_buffer(1000));
	atomic_store(&stop, 1);
	REQUIRE(!pthread_join(thread, NULL));
	puts("done");
	return 0;
}
