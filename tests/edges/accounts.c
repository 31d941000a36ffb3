/*
 * accounts [RATE [CAP]]: memory of each kind is asked for, also in vain, by several threads and in a context that ends.
 * Prints what the closing line's JSON has to say of it, a member a line.
 *
 *   RATE   as option sample_rate: one request in so many is guarded
 *   CAP    as option redzone_mb: nothing but blocks of 2 MiB, of which each takes as much again
 */
#include "make_buffer.h"

#include <dlfcn.h>

#include "include/gmod.h"

typedef unsigned long long ull;
enum { MIB = 1 << 20, THREADS = 4, EACH = 25, SIZE = 700 };

static struct sum {
	ull count, bytes;
} guarded, native, host, uncovered, live, ordered, armed;
static unsigned rate = 1, turn;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void add(struct sum *s, size_t size)
{
	s->count++;
	s->bytes += size;
}

/* The turn that is next. Those that the driver refuses have theirs. */
static int is_guarded(void)
{
	return turn++ % rate == 0;
}

static CUdeviceptr of_device(CUdeviceptr p, size_t size)
{
	int mine;

	pthread_mutex_lock(&lock);
	mine = is_guarded();
	add(mine ? &guarded : &native, size);
	if (mine)
		add(&live, size);
	pthread_mutex_unlock(&lock);
	return p;
}

/* Those of the host that stay native are of no account. */
static void *of_host(void *p, size_t size)
{
	if (is_guarded()) {
		add(&host, size);
		add(&live, size);
	}
	return p;
}

static void free_guarded(CUdeviceptr p, size_t size)
{
	CK(cuMemFree(p));
	live.count--;
	live.bytes -= size;
}

static CUdeviceptr pitched(size_t width, size_t height)
{
	CUdeviceptr p;
	size_t pitch;

	tk_start_first();
	CK(cuMemAllocPitch(&p, &pitch, width, height, 4));
	return of_device(p, pitch * height);
}

static void guarded_kinds(void)
{
	void *p;

	tk_start();
	of_device(make_buffer(1), 1);
	of_device(make_buffer(4097), 4097);
	of_device(make_buffer(3 * MIB + 5), 3 * MIB + 5);
	pitched(100, 7);
	of_device(make_managed(5000), 5000);
	of_device(make_managed(3 * MIB), 3 * MIB);
	of_host(make_pinned(33), 33);
	of_host(make_portable(4444), 4444);
	CK(cuMemAllocHost(&p, 555));
	of_host(p, 555);
}

static void *of_a_thread(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	for (int i = 0; i < EACH; i++)
		of_device(make_buffer(SIZE), SIZE);
	return NULL;
}

/* The device has less. */
static void in_vain(void)
{
	enum { HUGE = 1 << 30 };
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p;
	size_t pitch;

	EXPECT(cuMemAlloc(&p, HUGE), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemAllocPitch(&p, &pitch, HUGE, 1, 4), CUDA_ERROR_OUT_OF_MEMORY);
	turn += 2;
	EXPECT(cuMemAlloc(&p, 0), CUDA_ERROR_INVALID_VALUE);
	EXPECT(cuMemAllocAsync(&p, HUGE, NULL), CUDA_ERROR_OUT_OF_MEMORY);
	EXPECT(cuMemCreate(&handle, HUGE, &prop, 0), CUDA_ERROR_OUT_OF_MEMORY);
}

static void uncovered_kinds(void)
{
	enum { POOLED = 1234, GRANULE = 2 * MIB, IN_GRAPH = 4000 };
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
	CUDA_MEM_ALLOC_NODE_PARAMS alloc = {.poolProps = {.allocType = prop.type, .location = prop.location}};
	CUgraphNodeParams node = {.type = CU_GRAPH_NODE_TYPE_MEM_ALLOC};
	CUmemGenericAllocationHandle handle;
	CUmemoryPool pool;
	CUgraphNode made;
	CUgraph graph;
	CUdeviceptr p;

	CK(cuDeviceGetDefaultMemPool(&pool, tk_device));
	CK(cuMemAllocAsync(&p, POOLED, NULL));
	CK(cuMemsetD8Async(p, 0, POOLED, NULL));
	add(&armed, POOLED);
	CK(cuMemAllocFromPoolAsync(&p, POOLED, pool, NULL));
	add(&uncovered, POOLED); /* as long as nothing follows in its stream */
	for (int i = 0; i < 2; i++) {
		add(&ordered, POOLED);
		add(&live, POOLED);
	}
	CK(cuMemCreate(&handle, GRANULE, &prop, 0));
	add(&uncovered, GRANULE);
	CK(cuGraphCreate(&graph, 0));
	alloc.bytesize = IN_GRAPH;
	CK(cuGraphAddMemAllocNode(&made, graph, NULL, 0, &alloc));
	add(&uncovered, IN_GRAPH);
	alloc.bytesize = IN_GRAPH + 1;
	alloc.dptr = 0;
	node.alloc = (CUDA_MEM_ALLOC_NODE_PARAMS_v2){.poolProps = alloc.poolProps, .bytesize = alloc.bytesize};
	CK(cuGraphAddNode(&made, graph, NULL, NULL, 0, &node));
	add(&uncovered, IN_GRAPH + 1);
}

/* What has gone has been guarded all the same. */
static void come_and_go(void)
{
	CUcontext context;
	CUdeviceptr p[6];

	CK(tk_create_context(&context, tk_device));
	for (int i = 0; i < 6; i++)
		p[i] = of_device(make_buffer(2000), 2000);
	if (rate == 1)
		free_guarded(p[0], 2000);
	CK(cuCtxDestroy(context));
	CK(cuCtxSetCurrent(tk_context));
	if (rate == 1) {
		live.count -= 5;
		live.bytes -= 5 * 2000;
	}
}

static void all_kinds(void)
{
	guarded_kinds();
	in_vain();
	tk_in_threads(THREADS, of_a_thread);
	uncovered_kinds();
	come_and_go();
}

/* Failures take nothing of the cap. */
static void capped(ull cap)
{
	CUdeviceptr p;

	tk_start();
	for (int i = 0; i < 10; i++)
		EXPECT(cuMemAlloc(&p, 1 << 30), CUDA_ERROR_OUT_OF_MEMORY);
	for (ull i = 0; i < cap; i++) {
		make_buffer(2 * MIB);
		add(2 * i + 2 <= cap ? &guarded : &native, 2 * MIB);
	}
	live = guarded;
}

static void say(const char *count, const char *bytes, const struct sum *s)
{
	printf("\"%s\":%llu,\n\"%s\":%llu,\n", count, s->count, bytes, s->bytes);
}

static void ask(void)
{
	struct gmod_stats s = {.struct_size = sizeof(s)};
	void (*get)(struct gmod_stats *) = NULL;

	*(void **)&get = dlsym(RTLD_DEFAULT, "gmod_get_stats");
	REQUIRE(get);
	get(&s);
	REQUIRE(s.buffers_guarded == guarded.count && s.bytes_guarded == guarded.bytes);
	REQUIRE(s.buffers_unguarded == native.count && s.bytes_unguarded == native.bytes);
	REQUIRE(s.allocations_uncovered == uncovered.count && s.bytes_uncovered == uncovered.bytes);
	REQUIRE(rate > 1 || (s.live_buffers == live.count && s.live_bytes == live.bytes));
}

int main(int argc, char **argv)
{
	rate = argc > 1 ? (unsigned)atoi(argv[1]) : 1;
	if (argc > 2)
		capped((ull)atoi(argv[2]));
	else
		all_kinds();
	ask();
	say("buffers_guarded", "bytes_guarded", &guarded);
	say("buffers_unguarded", "bytes_unguarded", &native);
	say("buffers_pinned", "bytes_pinned", &host);
	say("allocations_uncovered", "bytes_uncovered", &uncovered);
	say("ordered", "bytes_ordered", &ordered);
	say("ordered_guarded", "bytes_ordered_guarded", &armed);
	puts("\"kernel_buffers\":0,\n\"ipc_imports\":0,\n\"suppressed\":0,\n\"lost_lines\":0,");
	printf("\"bytes_asked\":%llu,\n\"guarded_permille\":%llu,\n", guarded.bytes + native.bytes,
	       (guarded.bytes + armed.bytes) * 1000 / (guarded.bytes + armed.bytes + native.bytes + uncovered.bytes));
}
