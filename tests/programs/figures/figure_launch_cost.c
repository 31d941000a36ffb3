/*
 * What one cuLaunchKernel costs the calling thread, over the driver that does nothing (nullcuda.c): run it without and
 * with GMOD, and the difference is what the hooks cost. Times are thread CPU time, so that more threads than cores do
 * not count each other. A synchronise every 256 launches plays the part of a program that waits now and then.
 *
 *	figure_launch_cost [THREADS [PARAMETERS [BYTES [FUNCTIONS [TOUCHED]]]]]
 *
 * BYTES: of each parameter (8 if there are any). FUNCTIONS: they are launched by turns. TOUCHED: bytes that the program
 * writes, a cache line each, between two launches, whose time is taken off.
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
#define MAX_PARAMETERS 64
#define MAX_BYTES 4096
#define MAX_FUNCTIONS 1000
#define LINE 64

static CUfunction kernel[MAX_FUNCTIONS];
static int functions = 1, parameters;
static size_t touched;
static char argument[MAX_BYTES];
static void *arguments[MAX_PARAMETERS];
static pthread_barrier_t all;

static double cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void touch(volatile char *memory)
{
	for (size_t i = 0; i < touched; i += LINE)
		memory[i]++;
}

static double one_batch(CUstream stream, volatile char *memory, int launches)
{
	double start = cpu_ns(), between = 0;

	for (int i = 0; i < launches; i++) {
		if (touched) {
			double began = cpu_ns();

			touch(memory);
			between += cpu_ns() - began;
		}
		cuLaunchKernel(kernel[i % functions], 1, 1, 1, 32, 1, 1, 0, stream, parameters ? arguments : NULL,
			       NULL);
		if (i % BETWEEN_WAITS == BETWEEN_WAITS - 1)
			cuStreamSynchronize(stream);
	}
	return (cpu_ns() - start - between) / launches;
}

/* The median batch of this thread, in ns a launch, goes to *result. */
static void *launch(void *result)
{
	double batch[BATCHES];
	char *memory = calloc(1, touched + 1);
	int launches = touched ? functions : LAUNCHES;
	CUstream stream;

	cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	pthread_barrier_wait(&all);
	for (int b = 0; b < BATCHES; b++)
		batch[b] = one_batch(stream, memory, launches);
	free(memory);
	*(double *)result = sorted(batch, BATCHES)[BATCHES / 2];
	return NULL;
}

static int find_kernels(CUmodule module, int bytes)
{
	char name[32];

	for (int i = 0; i < functions; i++) {
		snprintf(name, sizeof(name), "%dx%d.%d", parameters, bytes, i);
		if (cuModuleGetFunction(&kernel[i], module, name))
			return 0;
	}
	for (int i = 0; i < parameters; i++)
		arguments[i] = argument;
	return 1;
}

int main(int argc, char **argv)
{
	int threads = argc > 1 ? atoi(argv[1]) : 1, bytes = argc > 3 ? atoi(argv[3]) : 8;
	pthread_t thread[MAX_THREADS];
	double median[MAX_THREADS];
	CUcontext context;
	CUdevice device;
	CUmodule module;

	parameters = argc > 2 ? atoi(argv[2]) : 0;
	functions = argc > 4 ? atoi(argv[4]) : 1;
	touched = argc > 5 ? (size_t)atoll(argv[5]) : 0;
	if (parameters < 0 || parameters > MAX_PARAMETERS || bytes < 1 || bytes > MAX_BYTES || functions < 1 ||
	    functions > MAX_FUNCTIONS)
		return 2;
	if (threads < 1 || threads > MAX_THREADS || cuInit(0) || cuDeviceGet(&device, 0) ||
	    cuDevicePrimaryCtxRetain(&context, device) || cuCtxSetCurrent(context) || cuModuleLoadData(&module, "") ||
	    !find_kernels(module, bytes))
		return 3;
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	for (int i = 0; i < threads; i++)
		if (pthread_create(&thread[i], NULL, launch, &median[i]))
			return 3;
	for (int i = 0; i < threads; i++)
		pthread_join(thread[i], NULL);
	printf("threads=%d parameters=%d bytes=%d functions=%d touched=%zu ns_per_launch=%.1f\n", threads, parameters,
	       bytes, functions, touched, sorted(median, (size_t)threads)[threads / 2]);
	return 0;
}
