/*
 * What a launch, and an allocation of pinned memory with its free, cost the calling thread over the driver that does
 * nothing (nullcuda.c), in a thread that stands in a Python program: figure_python_cost.py loads this and calls it from
 * a deep stack. Run under GMOD with python_lines=1 and with 0, the difference is what looking up the stack costs.
 */
#include <cuda.h>
#include <time.h>

#include "sorted.h"

#define BATCHES 61
#define LAUNCHES 4096
#define ALLOCATIONS 256

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static CUfunction kernel;

int figure_start(void)
{
	CUcontext context;
	CUdevice device;
	CUmodule module;

	return cuInit(0) || cuDeviceGet(&device, 0) || cuDevicePrimaryCtxRetain(&context, device) ||
	       cuCtxSetCurrent(context) || cuModuleLoadData(&module, "") || cuModuleGetFunction(&kernel, module, "0x8");
}

static void launch(void)
{
	for (int i = 0; i < LAUNCHES; i++)
		cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	cuCtxSynchronize();
}

static void allocate(void)
{
	void *p;

	for (int i = 0; i < ALLOCATIONS; i++) {
		cuMemHostAlloc(&p, 1000, 0);
		cuMemFreeHost(p);
	}
}

static double median_ns(void (*batch)(void), int calls)
{
	double ns[BATCHES];

	for (int b = 0; b < BATCHES; b++) {
		double start = cpu_ns();

		batch();
		ns[b] = (cpu_ns() - start) / calls;
	}
	return sorted(ns, BATCHES)[BATCHES / 2];
}

double figure_launch_ns(void)
{
	return median_ns(launch, LAUNCHES);
}

double figure_allocation_ns(void)
{
	return median_ns(allocate, ALLOCATIONS);
}
