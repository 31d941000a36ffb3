// under managed: differs: what is freed is kept in hand
// guarded: some
// alone-on: gpu
/*
 * Small buffers come and go in two contexts of the device. What is free afterwards is there for whoever asks: in one
 * piece, in each way that there is, and from either context.
 */
#include "testkit.h"

enum { BUFFERS = 64, SPARE = 32 << 20 };

static CUcontext context[2];
static size_t in_the_beginning;

static void come_and_go(int count)
{
	CUdeviceptr p[BUFFERS];

	for (int c = 0; c < 2; c++) {
		CK(cuCtxSetCurrent(context[c]));
		for (int i = 0; i < count; i++)
			CK(cuMemAlloc(&p[i], 4096));
		for (int i = 0; i < count; i++)
			CK(cuMemFree(p[i]));
	}
}

static size_t nearly_all(void)
{
	size_t available, total, granule = 2 << 20;

	CK(cuMemGetInfo(&available, &total));
	REQUIRE(available > SPARE && available <= total && available + SPARE > in_the_beginning);
	return (available - SPARE) / granule * granule;
}

static void allocated(void)
{
	CUdeviceptr p = tk_alloc(nearly_all());

	CK(cuMemFree(p));
}

static void created(void)
{
	CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device}};
	CUmemGenericAllocationHandle memory;

	CK(cuMemCreate(&memory, nearly_all(), &property, 0));
	CK(cuMemRelease(memory));
}

static void in_stream_order(void)
{
	CUdeviceptr p;

	CK(cuMemAllocAsync(&p, nearly_all(), NULL));
	CK(cuMemFreeAsync(p, NULL));
	CK(cuStreamSynchronize(NULL));
}

int main(void)
{
	void (*const way[])(void) = {allocated, created, in_stream_order};
	size_t total;

	tk_start();
	context[0] = tk_context;
	CK(tk_create_context(&context[1], tk_device));
	come_and_go(1);
	CK(cuMemGetInfo(&in_the_beginning, &total));
	for (int i = 0; i < 6; i++) {
		come_and_go(BUFFERS);
		CK(cuCtxSetCurrent(context[i % 2]));
		way[i / 2]();
	}
	puts("done");
}
