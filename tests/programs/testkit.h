/*
 * What a test program is written with. Programs are plain C over the driver API, built by gcc and linked
 * with -lcuda, so that one binary runs on the simulated driver and on a GPU alike. The kernels come from
 * the module named by GMOD_TEST_KERNELS (build/sim/kernels.so or build/gpu/kernels.fatbin).
 *
 *	#include "testkit.h"
 *
 *	int main(void)
 *	{
 *		CUdeviceptr p = tk_alloc(1000);
 *
 *		tk_flip(p, 1000, 1);
 *		tk_sync();
 *		CK(cuMemFree(p));
 *	}
 *
 * What gives a program something (tk_alloc(), tk_stream(), tk_kernel() ...) starts CUDA first, as tk_start() does,
 * where the program has not done so in a way of its own.
 *
 * Exit codes: 0 done, 3 a driver call or an expectation failed (and stderr says which), 77 skipped (and
 * stderr says why). Nothing here frees or waits behind the program's back.
 */
#pragma once

#include <cuda.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TK_FAILED 3
#define TK_SKIPPED 77

#define TK_UNUSED __attribute__((unused))

/* CK(call): the program goes on only if the driver says CUDA_SUCCESS. */
#define CK(call) tk_check((call), #call, __FILE__, __LINE__)

/* EXPECT(call, CUDA_ERROR_...): ... only if the driver says exactly this. */
#define EXPECT(call, code) tk_expect((call), (code), #call, __FILE__, __LINE__)

/* REQUIRE(condition): the same for anything else. */
#define REQUIRE(condition) tk_require(!!(condition), #condition, __FILE__, __LINE__)

/* TK_ARGS(&p, &n): the argument array of a launch. */
#define TK_ARGS(...) ((void *[]){__VA_ARGS__})

/* The same in all files of a program. */
#define TK_SHARED __attribute__((weak, visibility("hidden")))

TK_SHARED CUdevice tk_device;
TK_SHARED CUcontext tk_context; /* the primary context of device 0 */
TK_SHARED CUmodule tk_module;
TK_SHARED int tk_started;

static TK_UNUSED const char *tk_error_name(CUresult r)
{
	const char *name = NULL;

	cuGetErrorName(r, &name);
	return name ? name : "an unknown error";
}

static TK_UNUSED void tk_expect(CUresult r, CUresult wanted, const char *call, const char *file, int line)
{
	if (r == wanted)
		return;
	fprintf(stderr, "%s:%d: %s: %s (%d), expected %s\n", file, line, call, tk_error_name(r), (int)r,
		tk_error_name(wanted));
	exit(TK_FAILED);
}

static TK_UNUSED void tk_check(CUresult r, const char *call, const char *file, int line)
{
	tk_expect(r, CUDA_SUCCESS, call, file, line);
}

static TK_UNUSED void tk_require(int holds, const char *condition, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, condition);
	exit(TK_FAILED);
}

static TK_UNUSED void tk_skip(const char *reason)
{
	fprintf(stderr, "skipped: %s\n", reason);
	exit(TK_SKIPPED);
}

/* cuInit, device 0: for programs that make their own contexts. Returns the number of devices. */
static TK_UNUSED int tk_init(void)
{
	int devices = 0;
	CUresult r = cuInit(0);

	tk_started = 1;
	if (r == CUDA_ERROR_NO_DEVICE || r == CUDA_ERROR_STUB_LIBRARY)
		tk_skip("no CUDA device");
	CK(r);
	CK(cuDeviceGetCount(&devices));
	CK(cuDeviceGet(&tk_device, 0));
	return devices;
}

/* A module of the test kernels in the current context. */
static TK_UNUSED CUmodule tk_load_kernels(void)
{
	const char *path = getenv("GMOD_TEST_KERNELS");
	CUmodule module;

	if (!path)
		tk_skip("GMOD_TEST_KERNELS does not name the module of test kernels");
	CK(cuModuleLoad(&module, path));
	return module;
}

/* tk_init(), the device's primary context retained and current, the kernels loaded. */
static TK_UNUSED void tk_start(void)
{
	tk_init();
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	tk_module = tk_load_kernels();
}

static TK_UNUSED void tk_start_first(void)
{
	if (!tk_started)
		tk_start();
}

/* By an ABI that older drivers have too, other than the one of this toolkit's cuda.h. */
CUresult CUDAAPI cuCtxCreate_v2(CUcontext *context, unsigned int flags, CUdevice device);

static TK_UNUSED CUresult tk_create_context(CUcontext *context, CUdevice device)
{
	return cuCtxCreate_v2(context, 0, device);
}

/* A context of its own of tk_device, made current, the kernels loaded. */
static TK_UNUSED CUcontext tk_new_context(void)
{
	CUcontext c;

	CK(tk_create_context(&c, tk_device));
	tk_module = tk_load_kernels();
	return c;
}

/* As tk_start(), but in such a context. */
static TK_UNUSED CUcontext tk_start_in_new_context(void)
{
	tk_init();
	return tk_new_context();
}

static TK_UNUSED CUfunction tk_kernel_of(CUmodule module, const char *name)
{
	CUfunction f;

	CK(cuModuleGetFunction(&f, module, name));
	return f;
}

static TK_UNUSED CUfunction tk_kernel(const char *name)
{
	tk_start_first();
	return tk_kernel_of(tk_module, name);
}

static TK_UNUSED CUdeviceptr tk_alloc(size_t size)
{
	CUdeviceptr p;

	tk_start_first();
	CK(cuMemAlloc(&p, size));
	return p;
}

/* Pinned memory that kernels can be handed as it is (unified addressing). */
static TK_UNUSED void *tk_pinned(size_t size)
{
	void *p;

	tk_start_first();
	CK(cuMemHostAlloc(&p, size, CU_MEMHOSTALLOC_DEVICEMAP));
	return p;
}

/* One that does not wait for the null stream. */
static TK_UNUSED CUstream tk_stream(void)
{
	CUstream stream;

	tk_start_first();
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	return stream;
}

/* One-dimensional launch; args as TK_ARGS makes them, one pointer a parameter. */
static TK_UNUSED void tk_launch(CUfunction f, unsigned blocks, unsigned threads, CUstream stream, void **args)
{
	CK(cuLaunchKernel(f, blocks, 1, 1, threads, 1, 1, 0, stream, args, NULL));
}

/* As many blocks of 128 as count threads need. */
static TK_UNUSED void tk_launch_n(CUfunction f, long long count, CUstream stream, void **args)
{
	unsigned threads = count < 128 ? (unsigned)count : 128;

	tk_launch(f, (unsigned)((count + threads - 1) / threads), threads, stream, args);
}

/* Kernels flip the bytes p[off .. off + count): on a stream, or on the null stream. Does not wait. */
static TK_UNUSED void tk_flip_on(CUstream stream, CUdeviceptr p, long long off, long long count)
{
	tk_launch_n(tk_kernel("k_flip"), count, stream, TK_ARGS(&p, &off, &count));
}

static TK_UNUSED void tk_flip(CUdeviceptr p, long long off, long long count)
{
	tk_flip_on(NULL, p, off, count);
}

/* Keep a stream busy for ms milliseconds. Does not wait. */
static TK_UNUSED void tk_spin(CUstream stream, int ms)
{
	tk_launch(tk_kernel("k_spin_ms"), 1, 1, stream, TK_ARGS(&ms));
}

static TK_UNUSED void tk_sync(void)
{
	CK(cuCtxSynchronize());
}

/* The graph runs so many times, is waited for, and goes. */
static TK_UNUSED void tk_run_graph(CUgraph graph, CUstream stream, int times)
{
	CUgraphExec exec;

	CK(cuGraphInstantiate(&exec, graph, 0));
	while (times-- > 0)
		CK(cuGraphLaunch(exec, stream));
	CK(cuStreamSynchronize(stream));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
}

/* Zeroed ints in such memory. */
static TK_UNUSED volatile int *tk_flags(size_t count)
{
	void *p = tk_pinned(count * sizeof(int));

	memset(p, 0, count * sizeof(int));
	return p;
}

static TK_UNUSED volatile int *tk_flag(void)
{
	return tk_flags(1);
}

static TK_UNUSED pthread_t tk_begin_thread(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	REQUIRE(pthread_create(&thread, NULL, body, argument) == 0);
	return thread;
}

static TK_UNUSED void tk_end_thread(pthread_t thread)
{
	REQUIRE(pthread_join(thread, NULL) == 0);
}

static TK_UNUSED void tk_in_a_thread(void *(*body)(void *), void *argument)
{
	tk_end_thread(tk_begin_thread(body, argument));
}

/* In so many threads at once, each with its number from 0 on as the argument. */
static TK_UNUSED void tk_in_threads(size_t count, void *(*body)(void *))
{
	pthread_t thread[64];

	REQUIRE(count <= 64);
	for (size_t i = 0; i < count; i++)
		thread[i] = tk_begin_thread(body, (void *)i);
	for (size_t i = 0; i < count; i++)
		tk_end_thread(thread[i]);
}

/* Milliseconds on a clock that only goes forward. */
static TK_UNUSED double tk_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e3 + t.tv_nsec / 1e6;
}

static TK_UNUSED void tk_sleep_ms(int ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000L};

	while (nanosleep(&t, &t))
		;
}

/* A small generator for programs that make up sizes: the same numbers for the same seed, everywhere. */
static TK_UNUSED uint64_t tk_random(uint64_t *seed)
{
	uint64_t z = (*seed += 0x9e3779b97f4a7c15u);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
	return z ^ (z >> 31);
}
