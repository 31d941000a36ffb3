/*
 * Kernels at the ends of fenced buffers. A bad program goes beyond, its healthy twin just not: BUG says which one this
 * is, and FAULTS whether the bug is a fault.
 */
#pragma once

#include "make_buffer.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <sys/wait.h>

enum { SMALL = 4096, CHUNK = 2 << 20 };

/* Until it says what has happened. A wait may say once that all is well. */
static void ask(void)
{
	CUresult r = cuCtxSynchronize();
	double end = tk_ms() + 5000;

	while (FAULTS && r == CUDA_SUCCESS && tk_ms() < end) {
		usleep(1000);
		r = cuCtxSynchronize();
	}
	REQUIRE((r != CUDA_SUCCESS) == FAULTS);
	puts("done");
}

/* One thread accesses that address. */
static TK_UNUSED void touch(const char *kernel, CUdeviceptr at, CUstream s)
{
	long long who = 5;

	tk_launch(tk_kernel(kernel), 2, 4, s, TK_ARGS(&at, &who));
}

static TK_UNUSED void past(const char *kernel, size_t size, long long off)
{
	CUdeviceptr p = make_buffer(size);

	touch(kernel, p + size + (CUdeviceptr)off, NULL);
	ask();
}

static TK_UNUSED void before(const char *kernel, size_t size, long long off)
{
	touch(kernel, make_buffer(size) + (CUdeviceptr)off, NULL);
	ask();
}

static TK_UNUSED void read_16(size_t size, long long off)
{
	CUdeviceptr out = tk_alloc(8), p = make_buffer(size);
	long long at = (long long)size + off;

	tk_launch(tk_kernel("k_read_wide"), 1, 1, NULL, TK_ARGS(&p, &at, &out));
	ask();
}

static TK_UNUSED void store_16(size_t size, long long off)
{
	CUdeviceptr p = make_buffer(size);
	long long at = (long long)size + off;

	tk_launch(tk_kernel("k_store16"), 1, 1, NULL, TK_ARGS(&p, &at));
	ask();
}

static TK_UNUSED void flip(size_t size, long long at)
{
	CUdeviceptr p = make_buffer(size);

	tk_flip(p, at, 4);
	ask();
	CK(cuMemFree(p));
}

/* Rows of numbers; the kernel's first is row 1 of the buffer, which has so many. */
static TK_UNUSED void stencil(size_t rows, long long first)
{
	enum { WIDTH = 256, COUNT = 16 * WIDTH };
	CUdeviceptr out = tk_alloc(COUNT * 4), in = make_buffer(rows * WIDTH * 4),
		    start = in + (CUdeviceptr)first * WIDTH * 4;
	long long width = WIDTH, count = COUNT;

	CK(cuMemsetD8(in, 0, rows * WIDTH * 4));
	tk_launch_n(tk_kernel("k_stencil"), count, NULL, TK_ARGS(&out, &start, &width, &count));
	ask();
}

/* ---- freed ---- */

/* So many others are made behind it, and freed. */
static TK_UNUSED void freed(const char *kernel, size_t size, int others)
{
	CUdeviceptr p = make_buffer(size);

	if (!BUG)
		touch(kernel, p + 8, NULL);
	CK(cuMemFree(p));
	while (others--)
		CK(cuMemFree(tk_alloc(size)));
	if (BUG)
		touch(kernel, p + 8, NULL);
	ask();
}

static TK_UNUSED void freed_and_made_again(void)
{
	CUdeviceptr p = make_buffer(SMALL), q;

	CK(cuMemFree(p));
	q = tk_alloc(SMALL);
	REQUIRE(!BUG || p == q);
	touch("fault_stay", BUG ? p : q, NULL);
	ask();
	CK(cuMemFree(q));
}

/* The free waits for the fill. */
static TK_UNUSED void filled_and_freed(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p = make_buffer(64 << 20);

	/* No kernel is under way, of which the library would know. */
	CK(cuMemsetD8Async(p, 1, 64 << 20, s));
	CK(cuMemFree(p));
	EXPECT(cuStreamQuery(s), CUDA_SUCCESS);
	if (BUG)
		touch("fault_read", p, NULL);
	ask();
}

static TK_UNUSED void free_bytes(void)
{
	CUdeviceptr p[12];
	size_t first, then, total;

	CK(cuMemFree(make_buffer(3000000)));
	CK(cuMemGetInfo(&first, &total));
	for (int i = 0; i < 12; i++)
		p[i] = make_buffer(3000000);
	for (int i = 0; i < 12; i++)
		CK(cuMemFree(p[i]));
	CK(cuMemGetInfo(&then, &total));
	printf("as much is free: %s\n", first == then ? "yes" : "no");
	if (BUG)
		touch("fault_read", p[11] + 2999996, NULL);
	ask();
}

/* ---- launches ---- */

static TK_UNUSED void in_a_graph(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p = make_buffer(SMALL);
	CUgraph graph;
	CUgraphExec exec;

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_GLOBAL));
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), s);
	CK(cuStreamEndCapture(s, &graph));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, s));
	ask();
}

/* Made while something is captured, it has no fence. */
static TK_UNUSED void made_in_a_capture(void)
{
	CUstream s = tk_stream();
	CUdeviceptr p;
	CUgraph graph;

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	p = make_buffer(SMALL);
	CK(cuStreamEndCapture(s, &graph));
	tk_flip(p, SMALL - (BUG ? 0 : 4), 4);
	ask();
	CK(cuMemFree(p));
}

static TK_UNUSED void in_streams(void)
{
	CUdeviceptr p[4];
	CUstream s[4];

	for (int i = 0; i < 4; i++) {
		s[i] = tk_stream();
		p[i] = make_buffer(SMALL + 512 * (size_t)i);
		tk_flip_on(s[i], p[i], 0, SMALL);
	}
	for (int i = 0; i < 4; i++)
		touch("fault_read", p[i] + SMALL + 512 * (size_t)i - (BUG && i == 2 ? 0 : 4), s[i]);
	ask();
}

/* Frees of other threads do not take away what kernels use. */
static void *come_and_go(void *number)
{
	uint64_t seed = 1 + (uintptr_t)number;
	CUstream s;

	CK(cuCtxSetCurrent(tk_context));
	s = tk_stream();
	for (int i = 0; i < 20; i++) {
		size_t size = 64 + tk_random(&seed) % (i % 5 ? 5000 : 5000000);
		CUdeviceptr p = tk_alloc(size), q = tk_alloc(size);

		CK(cuMemsetD8Async(q, 1, size, s));
		touch("fault_store", p + (size - 4) / 4 * 4, s);
		if (i % 2)
			CK(cuStreamSynchronize(s));
		CK(cuMemFree(p));
		CK(cuMemFree(q));
	}
	return NULL;
}

static TK_UNUSED void threads(void)
{
	CUdeviceptr p;

	tk_start();
	tk_in_threads(8, come_and_go);
	p = make_buffer(SMALL);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
}

/* ---- devices, contexts, processes ---- */

static TK_UNUSED CUcontext go_to_device(int device)
{
	CUcontext c;

	if (tk_init() <= device)
		tk_skip("too few devices");
	CK(cuDevicePrimaryCtxRetain(&c, device));
	CK(cuCtxSetCurrent(c));
	tk_module = tk_load_kernels();
	return c;
}

static TK_UNUSED void second_device(void)
{
	CUdeviceptr p;

	go_to_device(0);
	CK(cuMemFree(make_buffer(SMALL)));
	go_to_device(1);
	p = make_buffer(SMALL);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
}

static TK_UNUSED void need_peers(void)
{
	int count, can = 0;

	CK(cuDeviceGetCount(&count));
	if (count > 1)
		CK(cuDeviceCanAccessPeer(&can, 1, 0));
	if (!can)
		tk_skip("no peer access between the devices");
}

/* Device 1 may access what is device 0's. */
static TK_UNUSED CUcontext let_in(CUcontext owner)
{
	CUcontext reader;

	need_peers();
	reader = go_to_device(1);
	CK(cuCtxEnablePeerAccess(owner, 0));
	return reader;
}

/* No fence then: a store is seen as with backend=device. */
static TK_UNUSED void peers_first(void)
{
	CUcontext owner = go_to_device(0), reader = let_in(owner);
	CUmodule readers = tk_module;
	CUdeviceptr p;

	CK(cuCtxSetCurrent(owner));
	p = make_buffer(SMALL);
	CK(cuCtxSetCurrent(reader));
	tk_module = readers;
	tk_flip(p, SMALL - (BUG ? 0 : 4), 4);
	ask();
	CK(cuCtxSetCurrent(owner));
	CK(cuMemFree(p));
}

/* What lies behind is filled: the access goes well, as natively. */
static TK_UNUSED void peers_later(void)
{
	CUcontext owner = go_to_device(0);
	CUdeviceptr p = make_buffer(SMALL);

	let_in(owner);
	touch("fault_stay", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
	CK(cuCtxSetCurrent(owner));
	CK(cuMemFree(p));
}

static TK_UNUSED void forked(void)
{
	CUdeviceptr p = make_buffer(SMALL);
	int status;
	pid_t child = fork();

	REQUIRE(child >= 0);
	if (!child)
		_exit(7);
	REQUIRE(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
}

/* Its buffers go with it, and their addresses are nobody's. */
static TK_UNUSED void context_ends(void)
{
	CUdeviceptr p, q;
	CUcontext c = tk_start_in_new_context();

	p = make_buffer(SMALL);
	touch("fault_stay", p, NULL);
	CK(cuCtxDestroy(c));
	tk_new_context();
	q = make_buffer(SMALL);
	touch("fault_read", BUG ? p : q, NULL);
	ask();
}

/* ---- memory is short ---- */

/* Some have a fence, the others do not, and what is freed is there again. */
static TK_UNUSED void device_is_full(void)
{
	static CUdeviceptr p[2000];
	int n = 0;

	tk_start();
	while (n < 2000 && cuMemAlloc(&p[n], n ? CHUNK : SMALL) == CUDA_SUCCESS)
		n++;
	REQUIRE(n > 16 && n < 2000);
	CK(cuMemFree(p[--n]));
	CK(cuMemFree(p[1]));
	p[1] = make_buffer(CHUNK);
	touch("fault_read", p[1] + CHUNK - (BUG ? 0 : 4), NULL);
	ask();
}

/* 96 MiB rest unused until another needs them. */
static TK_UNUSED void room_is_made(void)
{
	enum { LARGE = 200 << 20 };
	CUdeviceptr p[12];

	for (int i = 0; i < 12; i++)
		p[i] = tk_alloc(8 << 20);
	for (int i = 0; i < 12; i++)
		CK(cuMemFree(p[i]));
	p[0] = make_buffer(LARGE);
	touch("fault_read", p[0] + LARGE - (BUG ? 0 : 4), NULL);
	ask();
}

/* Also for memory that is nobody's of GMOD's; what was there is unmapped then. */
static TK_UNUSED void room_is_made_for_others(void)
{
	enum { LARGE = 200 << 20 };
	CUmemAllocationProp property = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE}};
	CUmemGenericAllocationHandle memory;
	CUdeviceptr p[12], q;

	for (int way = 0; way < 2; way++) {
		for (int i = 0; i < 12; i++)
			p[i] = make_buffer(8 << 20);
		for (int i = 0; i < 12; i++)
			CK(cuMemFree(p[i]));
		if (!way) {
			CK(cuMemCreate(&memory, LARGE, &property, 0));
			CK(cuMemRelease(memory));
		}
	}
	CK(cuMemAllocAsync(&q, LARGE, NULL));
	touch("fault_read", BUG ? p[11] : q, NULL);
	ask();
}

/* fence_mb is what the first two take. */
static TK_UNUSED void last_of_three(void)
{
	CUdeviceptr p[3];

	for (int i = 0; i < 3; i++)
		p[i] = make_buffer(1000 + (size_t)i);
	tk_flip(p[2], BUG ? 1024 : 998, 4);
	ask();
	CK(cuMemFree(p[2]));
}

static TK_UNUSED void first_of_three(void)
{
	CUdeviceptr p = make_buffer(SMALL);

	tk_alloc(SMALL);
	tk_alloc(SMALL);
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
}

/* ---- what is asked of memory, and copies ---- */

static TK_UNUSED void pitched(void)
{
	CUdeviceptr p;
	size_t pitch;

	tk_start();
	CK(cuMemAllocPitch(&p, &pitch, 1000, 10, 4));
	printf("a pitch of %zu\n", pitch);
	touch("fault_read", p + 10 * pitch - (BUG ? 0 : 4), NULL);
	ask();
}

static TK_UNUSED void attributes(void)
{
	CUdeviceptr p = make_buffer(3000), base;
	size_t size;
	CUcontext c = NULL;
	unsigned type = 0;
	int device = -1;

	CK(cuMemGetAddressRange(&base, &size, p + 2999));
	CK(cuPointerGetAttribute(&c, CU_POINTER_ATTRIBUTE_CONTEXT, p));
	CK(cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	CK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, p));
	printf("base %d size %zu context %d type %u device %d\n", p == base, size, c == tk_context, type, device);
	CK(cuPointerGetAttribute(&base, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, p + 8));
	CK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, p + 8));
	printf("base %d size %zu\n", p == base, size);
	touch("fault_read", p + 3072 - (BUG ? 0 : 80), NULL);
	ask();
}

/* Rows up to the last byte, or one row more. */
static TK_UNUSED void copy_2d(void)
{
	static char host[64 * 64];
	CUDA_MEMCPY2D c = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			   .srcHost = host,
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstDevice = make_buffer(SMALL),
			   .dstPitch = 64,
			   .srcPitch = 64,
			   .WidthInBytes = 64,
			   .Height = 64 + BUG};

	EXPECT(cuMemcpy2D(&c), BUG ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
	CK(cuMemFree(c.dstDevice));
	ask();
}

static TK_UNUSED void copy_3d(void)
{
	static char host[16 * 16 * 17];
	CUDA_MEMCPY3D c = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
			   .srcDevice = make_buffer(SMALL),
			   .srcPitch = 16,
			   .srcHeight = 16,
			   .dstMemoryType = CU_MEMORYTYPE_HOST,
			   .dstHost = host,
			   .dstPitch = 16,
			   .dstHeight = 16,
			   .WidthInBytes = 16,
			   .Height = 16,
			   .Depth = 16 + BUG};

	EXPECT(cuMemcpy3D(&c), BUG ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
	CK(cuMemFree(c.srcDevice));
	ask();
}

static TK_UNUSED void copy_before(void)
{
	static char host[8];
	CUdeviceptr p = make_buffer(SMALL);

	EXPECT(cuMemcpyHtoD(BUG ? p - 4 : p, host, sizeof(host)), BUG ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
	CK(cuMemFree(p));
	ask();
}

static TK_UNUSED void fill(void)
{
	CUdeviceptr p = make_buffer(SMALL);

	EXPECT(cuMemsetD32(p + 4, 1, SMALL / 4 - 1 + BUG), BUG ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS);
	CK(cuMemFree(p));
	ask();
}

/* Natively it is given out; a fenced buffer's is refused. */
static TK_UNUSED void exported(void)
{
	CUdeviceptr p = make_buffer(SMALL);
	CUipcMemHandle handle;

	printf("exported: %d\n", cuIpcGetMemHandle(&handle, p));
	touch("fault_read", p + SMALL - (BUG ? 0 : 4), NULL);
	ask();
}

/* ---- which ones have a fence ---- */

/* Of a library that shares memory. */
static TK_UNUSED void made_by_nccl(void)
{
	CUdeviceptr (*make)(size_t);
	CUdeviceptr p;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	tk_start();
	REQUIRE(n > 0);
	path[n] = 0;
	strcpy(strrchr(path, '/'), "/libnccl_x.so");
	*(void **)&make = dlsym(dlopen(path, RTLD_NOW), "nccl_make_buffer");
	REQUIRE(make);
	p = make(SMALL);
	tk_flip(p, SMALL - (BUG ? 0 : 4), 4);
	ask();
	CK(cuMemFree(p));
}

/* Of some the start lies at a fence, and fence_seed says of which. */
static TK_UNUSED void by_chance(void)
{
	CUdeviceptr p[16];

	for (int i = 0; i < 16; i++)
		p[i] = make_buffer(1000 + 16 * (size_t)i);
	for (int i = 0; i < 16; i++)
		touch("fault_read", p[i] - (BUG ? 4 : 0), NULL);
	ask();
}
