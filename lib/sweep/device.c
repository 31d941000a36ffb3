#include "lib/sweep/sweep.h"
#include <string.h>

static __thread int latest_error;

int sweep_say(int error)
{
	if (error)
		latest_error = error;
	return error;
}

EXPORT int cudaGetLastError(void)
{
	int error = latest_error;

	latest_error = SUCCESS;
	return error;
}
EXPORT int cudaPeekAtLastError(void)
{
	return latest_error;
}
EXPORT const char *cudaGetErrorString(int error)
{
	return error ? "an error of gmod prove --sweep" : "no error";
}
EXPORT const char *cudaGetErrorName(int error)
{
	return error ? "cudaErrorUnknown" : "cudaSuccess";
}
EXPORT int cudaGetDevice(int *device)
{
	*device = 0;
	return SUCCESS;
}
EXPORT int cudaGetDeviceCount(int *count)
{
	*count = 1;
	return SUCCESS;
}
EXPORT int cudaDriverGetVersion(int *version)
{
	*version = 13000;
	return SUCCESS;
}
EXPORT int cudaRuntimeGetVersion(int *version)
{
	return cudaDriverGetVersion(version);
}
EXPORT int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
	*can = 0;
	return SUCCESS;
}
/* By the numbers of cudaDeviceAttr. */
EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
	static const int values[] = {
	    [1] = THREADS,
	    [2] = THREADS,
	    [3] = THREADS,
	    [4] = 64,
	    [5] = INT32_MAX,
	    [6] = GRID_YZ,
	    [7] = GRID_YZ,
	    [8] = SHARED,
	    [9] = 65536,
	    [10] = WARP,
	    [11] = INT32_MAX,
	    [12] = REGISTERS,
	    [13] = 1980000,
	    [14] = 512,
	    [15] = 1,
	    [16] = PROCESSORS,
	    [19] = 1,
	    [31] = 1,
	    [36] = 2619000,
	    [37] = 5120,
	    [38] = 50 << 20,
	    [39] = 2048,
	    [40] = 3,
	    [41] = 1,
	    [75] = CAPABILITY / 10,
	    [76] = CAPABILITY % 10,
	    [78] = 1,
	    [81] = SHARED_MOST + 1024,
	    [82] = REGISTERS,
	    [83] = 1,
	    [89] = 1,
	    [95] = 1,
	    [97] = SHARED_MOST,
	    [106] = 32,
	    [115] = 1,
	};

	*value = attribute > 0 && attribute < (int)(sizeof(values) / sizeof(values[0])) ? values[attribute] : 0;
	return SUCCESS;
}
/* struct cudaDeviceProp of CUDA 13 by its offsets; the one of CUDA 12 is as far as maxGridSize the same. */
EXPORT int cudaGetDeviceProperties(char *at, int device)
{
	static const struct {
		int at, value;
	} ints[] = {{304, REGISTERS},
		    {308, WARP},
		    {320, THREADS},
		    {324, THREADS},
		    {328, THREADS},
		    {332, 64},
		    {336, INT32_MAX},
		    {340, GRID_YZ},
		    {344, GRID_YZ},
		    {360, CAPABILITY / 10},
		    {364, CAPABILITY % 10},
		    {384, PROCESSORS},
		    {392, 1},
		    {560, 1},
		    {584, 3},
		    {588, 1},
		    {596, 50 << 20},
		    {604, 2048},
		    {632, REGISTERS},
		    {636, 1},
		    {668, 1},
		    {688, 32}};
	static const struct {
		int at;
		size_t value;
	} sizes[] = {{288, DEVICE_BYTES},       {296, SHARED},     {312, INT32_MAX}, {352, 65536}, {368, 512},
		     {624, SHARED_MOST + 1024}, {672, SHARED_MOST}};
	static const char name[] = "no device (gmod prove --sweep)";

	memset(at, 0, 1008);
	memcpy(at, name, sizeof(name));
	for (size_t i = 0; i < sizeof(ints) / sizeof(ints[0]); i++)
		memcpy(at + ints[i].at, &ints[i].value, sizeof(int));
	for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		memcpy(at + sizes[i].at, &sizes[i].value, sizeof(size_t));
	return SUCCESS;
}
EXPORT int cudaFuncGetAttributes(char *at, const void *function)
{
	int most = THREADS, registers = 32;

	memset(at, 0, 64);
	memcpy(at + 24, &most, sizeof(most));
	memcpy(at + 28, &registers, sizeof(registers));
	return SUCCESS;
}
EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *function, int size, size_t shared)
{
	*blocks = size > 0 && size <= THREADS ? 2048 / size : 0;
	return SUCCESS;
}
EXPORT int cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *function, int size,
								  size_t shared, unsigned flags)
{
	return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, size, shared);
}
EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
	*least = *greatest = 0;
	return SUCCESS;
}
EXPORT int cudaEventElapsedTime(float *ms, void *from, void *to)
{
	*ms = 1;
	return SUCCESS;
}

/* A handle that says nothing. */
static int give_handle(void **handle)
{
	static char something;

	*handle = &something;
	return SUCCESS;
}
#define GIVE(name) EXPORT int name(void **handle) __attribute__((alias("give_handle")))
GIVE(cudaStreamCreate);
GIVE(cudaStreamCreateWithFlags);
GIVE(cudaStreamCreateWithPriority);
GIVE(cudaEventCreate);
GIVE(cudaEventCreateWithFlags);
GIVE(cudaDeviceGetDefaultMemPool);
GIVE(cudaDeviceGetMemPool);

static int succeed(void)
{
	return SUCCESS;
}
#define SUCCEED(name) EXPORT int name(void) __attribute__((alias("succeed")))
SUCCEED(cudaDeviceSynchronize);
SUCCEED(cudaThreadSynchronize);
SUCCEED(cudaDeviceReset);
SUCCEED(cudaSetDevice);
SUCCEED(cudaSetDeviceFlags);
SUCCEED(cudaDeviceSetCacheConfig);
SUCCEED(cudaDeviceSetLimit);
SUCCEED(cudaDeviceSetSharedMemConfig);
SUCCEED(cudaDeviceEnablePeerAccess);
SUCCEED(cudaDeviceDisablePeerAccess);
SUCCEED(cudaFuncSetAttribute);
SUCCEED(cudaFuncSetCacheConfig);
SUCCEED(cudaFuncSetSharedMemConfig);
SUCCEED(cudaStreamDestroy);
SUCCEED(cudaStreamSynchronize);
SUCCEED(cudaStreamQuery);
SUCCEED(cudaStreamWaitEvent);
SUCCEED(cudaStreamAttachMemAsync);
SUCCEED(cudaEventDestroy);
SUCCEED(cudaEventRecord);
SUCCEED(cudaEventSynchronize);
SUCCEED(cudaEventQuery);
SUCCEED(cudaHostRegister);
SUCCEED(cudaHostUnregister);
SUCCEED(cudaMemAdvise);
SUCCEED(cudaMemPrefetchAsync);
SUCCEED(cudaMemPoolSetAttribute);
SUCCEED(cudaMemPoolTrimTo);
SUCCEED(cudaProfilerStart);
SUCCEED(cudaProfilerStop);
SUCCEED(cudaCtxResetPersistingL2Cache);
SUCCEED(__cudaRegisterFatBinaryEnd);
SUCCEED(__cudaUnregisterFatBinary);

EXPORT char __cudaInitModule(void **handle)
{
	return 1;
}
