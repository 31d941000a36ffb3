/*
 * What one cuLaunchKernel costs the calling thread, over the driver that does nothing (nullcuda.c): run it without and
 * with GMOD, and the difference is what the hooks cost. Times are thread CPU time, so that more threads than cores do
 * not count each other. A synchronise every 256 launches plays the part of a program that waits now and then.
 *
 *	figure_launch_cost [threads]
 */
#include <cuda.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "sorted.h"

#define BATCHES 31
#define LAUNCHES 20480
#define BETWEEN_WAITS 256
#define MAX_THREADS 64

static CUfunction kernel;
static pthread_barrier_t all;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* The median batch of this thread, in ns a launch, goes to *result. */
static void *launch(void *result)
{
	double batch[BATCHES];
	CUstream stream;

	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	pthread_barrier_wait(&all);
	for (int b = 0; b < BATCHES; b++) {
		double start = cpu_ns();

		for (int i = 0; i < LAUNCHES; i++) {
			cuLaunchKernel(kernel, 1, 1, 1, 32, 1, 1, 0, stream, NULL, NULL);
			if (i % BETWEEN_WAITS == BETWEEN_WAITS - 1)
				cuStreamSynchronize(stream);
		}
		batch[b] = (cpu_ns() - start) / LAUNCHES;
	}
	*(double *)result = sorted(batch, BATCHES)[BATCHES / 2];
	return NULL;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t thread[MAX_THREADS];
	double median[MAX_THREADS];
	CUcontext context;
	CUdevice device;
	CUmodule module;

	if (threads < 1 || threads > MAX_THREADS || cuInit(0) || cuDeviceGet(&device, 0) ||
	    cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) || cuModuleLoadData(&module, "") ||
	    cuModuleGetFunction(&kernel, module, "nothing"))
		return 3;
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, launch, &median[i]))
			return 3;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("threads=%d ns_per_launch=%.1f\n", threads, sorted(median, (size_t)threads)[threads / 2]);
	return 0;
}
