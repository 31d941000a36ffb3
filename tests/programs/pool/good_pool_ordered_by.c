// case: good_pool_ordered_by_event by_event
// case: good_pool_ordered_by_wait by_wait
// case: good_pool_ordered_by_query by_query
// case: good_pool_ordered_by_callback by_callback
// case: good_pool_ordered_by_add_callback by_add_callback
// case: good_pool_ordered_by_free_host by_free_host
// case: good_pool_ordered_by_unregister by_unregister
// case: good_pool_ordered_by_value by_value
// case: good_pool_ordered_by_mem_free by_mem_free
// case: good_pool_ordered_by_unloading by_unloading
// case: good_pool_ordered_by_null_fill by_null_fill
// case: good_pool_ordered_by_null_free by_null_free
// case: good_pool_ordered_by_null_wait by_null_wait
// case: good_pool_ordered_by_null_prefetch by_null_prefetch
// case: good_pool_ordered_by_semaphore by_semaphore
// case: good_pool_ordered_by_null_semaphore by_null_semaphore
// case: good_pool_ordered_by_null_map by_null_map
// case: good_pool_ordered_by_array by_array
// options: max_overhead=100
// sim-env: SIMULATED=1
// guarded: no
/*
 * A stream comes behind an allocation of another one, in one way or another, and frees the buffer. What that other
 * stream has been given since, and has yet to do, must not touch whatever is made of the place. The null stream comes
 * behind both, and they behind it.
 */
#include "pooled.h"

enum { NEXT_SIZE = 1400 }; /* from the same place, with bytes behind it and without */

static CUstream home, other;
static CUdeviceptr buffer, small, managed;
static CUevent long_past;
static CUmodule module;
static void *pinned;
static char page[8192];
static CUarray array;

static TK_UNUSED void by_event(void)
{
	order(home, other);
}

static TK_UNUSED void by_wait(void)
{
	CK(cuStreamSynchronize(home));
}

static TK_UNUSED void by_query(void)
{
	while (cuStreamQuery(home) != CUDA_SUCCESS)
		;
}

static void set(void *flag)
{
	*(volatile int *)flag = 1;
}

static TK_UNUSED void by_callback(void)
{
	volatile int *flag = tk_flag();

	CK(cuLaunchHostFunc(home, set, (void *)flag));
	while (!*flag)
		;
}

static void set_too(CUstream stream TK_UNUSED, CUresult r TK_UNUSED, void *flag)
{
	set(flag);
}

static TK_UNUSED void by_add_callback(void)
{
	volatile int *flag = tk_flag();

	CK(cuStreamAddCallback(home, set_too, (void *)flag, 0));
	while (!*flag)
		;
}

/* These two wait for all that the context has been given. */
static TK_UNUSED void by_free_host(void)
{
	CK(cuMemFreeHost(pinned));
}

static TK_UNUSED void by_unregister(void)
{
	CK(cuMemHostUnregister(page));
}

static TK_UNUSED void by_value(void)
{
	CUdeviceptr word = (CUdeviceptr)tk_flag();

	CK(cuStreamWriteValue32(home, word, 1, 0));
	CK(cuStreamWaitValue32(other, word, 1, CU_STREAM_WAIT_VALUE_EQ));
}

static TK_UNUSED void by_mem_free(void)
{
	CK(cuMemFree(tk_alloc(SIZE)));
}

static TK_UNUSED void by_unloading(void)
{
	CK(cuModuleUnload(module));
}

static TK_UNUSED void by_null_fill(void)
{
	CK(cuMemsetD8Async(buffer, 0, SIZE, NULL));
}

static TK_UNUSED void by_null_free(void)
{
	CK(cuMemFreeAsync(small, NULL));
}

static TK_UNUSED void by_null_wait(void)
{
	CK(cuStreamWaitEvent(NULL, long_past, 0));
}

static TK_UNUSED void by_null_prefetch(void)
{
	CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device};

	CK(cuMemPrefetchAsync(managed, SIZE, device, 0, NULL));
}

static TK_UNUSED void by_array(void)
{
	CK(cuArrayDestroy(array));
}

/* A semaphore of Vulkan's and a resource of GL's there are on the simulator only. */
static void needs_simulator(void)
{
	if (!getenv("SIMULATED"))
		tk_skip("no other API here");
}

static TK_UNUSED void by_semaphore(void)
{
	CUexternalSemaphore semaphore = (CUexternalSemaphore)long_past;
	CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS signal = {0};
	CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {0};

	needs_simulator();
	CK(cuSignalExternalSemaphoresAsync(&semaphore, &signal, 1, home));
	CK(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, other));
}

static TK_UNUSED void by_null_semaphore(void)
{
	CUexternalSemaphore semaphore = (CUexternalSemaphore)long_past;
	CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS wait = {0};

	needs_simulator();
	CK(cuWaitExternalSemaphoresAsync(&semaphore, &wait, 1, NULL));
}

static TK_UNUSED void by_null_map(void)
{
	CUgraphicsResource resource = NULL;

	needs_simulator();
	CK(cuGraphicsMapResources(1, &resource, NULL));
}

/* That other stream is held up behind this event. It is of another context: what waits for all of its own must end. */
static CUevent when_released(volatile int *flag)
{
	CUdeviceptr none = 0;
	long long zero = 0;
	CUcontext second;
	CUmodule there;
	CUstream busy;
	CUevent event;

	CK(tk_create_context(&second, tk_device));
	there = tk_load_kernels();
	CK(cuStreamCreate(&busy, CU_STREAM_NON_BLOCKING));
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	tk_launch(tk_kernel_of(there, "k_wait_flip"), 1, 1, busy, TK_ARGS(&none, &zero, &zero, &flag));
	CK(cuEventRecord(event, busy));
	CK(cuCtxSetCurrent(tk_context));
	return event;
}

int main(void)
{
	CUDA_ARRAY_DESCRIPTOR shape = {
	    .Width = 64, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	unsigned char bytes[NEXT_SIZE];
	volatile int *flag;
	CUdeviceptr p, q;
	CUevent released;

	buffer = tk_alloc(SIZE);
	module = tk_load_kernels();
	CK(cuStreamCreate(&home, CU_STREAM_DEFAULT));
	CK(cuStreamCreate(&other, CU_STREAM_DEFAULT));
	CK(cuMemAllocManaged(&managed, SIZE, CU_MEM_ATTACH_GLOBAL));
	pinned = tk_pinned(64);
	CK(cuMemHostRegister(page, sizeof(page), 0));
	CK(cuArrayCreate(&array, &shape));
	small = make_pooled(16, other);
	tk_spin(other, 0);
	tk_sync();
	CK(cuEventCreate(&long_past, CU_EVENT_DISABLE_TIMING));
	CK(cuEventRecord(long_past, other));
	flag = tk_flag();
	released = when_released(flag);
	p = make_pooled(SIZE, home);
	CASE();
	CK(cuStreamWaitEvent(home, released, 0));
	tk_spin(home, 0);
	CK(cuMemFreeAsync(p, other));
	q = make_pooled(NEXT_SIZE, other);
	CK(cuMemsetD8Async(q, 7, NEXT_SIZE, other));
	CK(cuStreamSynchronize(other));
	*flag = 1;
	CK(cuStreamSynchronize(home));
	CK(cuMemcpyDtoH(bytes, q, NEXT_SIZE));
	for (int i = 0; i < NEXT_SIZE; i++)
		REQUIRE(bytes[i] == 7);
	CK(cuMemFreeAsync(q, other));
	tk_sync();
	puts("done");
}
