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
/*
 * struct cudaDeviceProp of CUDA 12 (1032 bytes) and 13 (1008 bytes): where members lie in each, as offsetof() says of
 * their driver_types.h. A member that is wide has 8 bytes, else 4.
 */
static const struct {
	int offset_12, offset_13;
	bool wide;
	size_t value;
} properties[] = {
    {288, 288, true, DEVICE_BYTES}, /* totalGlobalMem */
    {296, 296, true, SHARED},       /* sharedMemPerBlock */
    {304, 304, false, REGISTERS},   /* regsPerBlock */
    {308, 308, false, WARP},        /* warpSize */
    {312, 312, true, INT32_MAX},    /* memPitch */
    {320, 320, false, THREADS},     /* maxThreadsPerBlock */
    {324, 324, false, THREADS},     /* maxThreadsDim */
    {328, 328, false, THREADS},
    {332, 332, false, 64},
    {336, 336, false, INT32_MAX}, /* maxGridSize */
    {340, 340, false, GRID_YZ},
    {344, 344, false, GRID_YZ},
    {352, 352, true, 65536},              /* totalConstMem */
    {360, 360, false, CAPABILITY / 10},   /* major */
    {364, 364, false, CAPABILITY % 10},   /* minor */
    {368, 368, true, 512},                /* textureAlignment */
    {388, 384, false, PROCESSORS},        /* multiProcessorCount */
    {400, 392, false, 1},                 /* canMapHostMemory */
    {576, 560, false, 1},                 /* concurrentKernels */
    {600, 584, false, 3},                 /* asyncEngineCount */
    {604, 588, false, 1},                 /* unifiedAddressing */
    {616, 596, false, 50 << 20},          /* l2CacheSize */
    {624, 604, false, 2048},              /* maxThreadsPerMultiProcessor */
    {640, 624, true, SHARED_MOST + 1024}, /* sharedMemPerMultiprocessor */
    {648, 632, false, REGISTERS},         /* regsPerMultiprocessor */
    {652, 636, false, 1},                 /* managedMemory */
    {688, 668, false, 1},                 /* cooperativeLaunch */
    {696, 672, true, SHARED_MOST},        /* sharedMemPerBlockOptin */
    {712, 688, false, 32},                /* maxBlocksPerMultiProcessor */
};

static int fill_properties(char *at, bool is_13)
{
	static const char name[] = "no device (gmod prove --sweep)";

	memset(at, 0, is_13 ? 1008 : 1032);
	memcpy(at, name, sizeof(name));
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		memcpy(at + (is_13 ? properties[i].offset_13 : properties[i].offset_12), &properties[i].value,
		       properties[i].wide ? 8 : 4);
	return SUCCESS;
}
EXPORT int cudaGetDeviceProperties(char *at, int device)
{
	return fill_properties(at, true);
}
/* So CUDA 12 names it. */
EXPORT int cudaGetDeviceProperties_v2(char *at, int device)
{
	return fill_properties(at, false);
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
