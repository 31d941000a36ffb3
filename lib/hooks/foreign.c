/* Memory of somebody else's, and what writes where nobody looks, counted by kind; and order that others make of
 * streams. All of it is passed through. */
#include "lib/base/counters.h"
#include "lib/hooks/hook.h"

static CUresult noted(CUresult r, const char *entry_point)
{
	gmod_noted();
	return gmod_done(r, entry_point);
}

static CUresult counted(CUresult r, _Atomic uint64_t *counter, const char *entry_point)
{
	if (r == CUDA_SUCCESS && gmod_on())
		gmod_count(counter, 1);
	return noted(r, entry_point);
}

/* counter: a row of lib/base/counters.def. The parameters, and the same as arguments. */
#define PASSED(counter, symbol, parameters, arguments) \
	GMOD_EXPORT CUresult symbol parameters \
	{ \
		gmod_ordered_passed(); \
		return counted(NEXT(symbol) arguments, &gmod_counters.counter, __func__); \
	}

typedef CUmemGenericAllocationHandle generic;

PASSED(ipc_imports, cuIpcOpenMemHandle, (CUdeviceptr * p, CUipcMemHandle handle, unsigned flags), (p, handle, flags))
PASSED(ipc_imports, cuIpcOpenMemHandle_v2, (CUdeviceptr * p, CUipcMemHandle handle, unsigned flags), (p, handle, flags))
PASSED(ipc_imports, cuMemImportFromShareableHandle, (generic * memory, void *handle, CUmemAllocationHandleType type),
       (memory, handle, type))
PASSED(pool_imports, cuMemPoolImportPointer, (CUdeviceptr * p, CUmemoryPool pool, CUmemPoolPtrExportData *data),
       (p, pool, data))
PASSED(external_mappings, cuExternalMemoryGetMappedBuffer,
       (CUdeviceptr * p, CUexternalMemory memory, const CUDA_EXTERNAL_MEMORY_BUFFER_DESC *buffer), (p, memory, buffer))
PASSED(graphics_mappings, cuGraphicsResourceGetMappedPointer_v2,
       (CUdeviceptr * p, size_t *size, CUgraphicsResource resource), (p, size, resource))
PASSED(multicast_bindings, cuMulticastBindMem,
       (generic group, size_t at, generic memory, size_t offset, size_t size, unsigned long long flags),
       (group, at, memory, offset, size, flags))
PASSED(multicast_bindings, cuMulticastBindMem_v2,
       (generic group, CUdevice device, size_t at, generic memory, size_t offset, size_t size,
	unsigned long long flags),
       (group, device, at, memory, offset, size, flags))
PASSED(multicast_bindings, cuMulticastBindAddr,
       (generic group, size_t at, CUdeviceptr p, size_t size, unsigned long long flags), (group, at, p, size, flags))
PASSED(multicast_bindings, cuMulticastBindAddr_v2,
       (generic group, CUdevice device, size_t at, CUdeviceptr p, size_t size, unsigned long long flags),
       (group, device, at, p, size, flags))
PASSED(decompressions, cuMemBatchDecompressAsync,
       (CUmemDecompressParams * batch, size_t count, unsigned flags, size_t *error, CUstream stream),
       (batch, count, flags, error, stream))
PASSED(decompressions, cuMemBatchDecompressAsync_ptsz,
       (CUmemDecompressParams * batch, size_t count, unsigned flags, size_t *error, CUstream stream),
       (batch, count, flags, error, stream))

/* Not foreign memory, but foreign order: others come behind a stream by it, or the host behind all of them. */
#define ORDERS(symbol, parameters, arguments) \
	GMOD_EXPORT CUresult symbol parameters \
	{ \
		gmod_ordered_passed(); \
		return noted(NEXT(symbol) arguments, __func__); \
	}

/* The same, and the stream goes on when somebody else wants it to. */
#define HOLDS(symbol, parameters, arguments) \
	GMOD_EXPORT CUresult symbol parameters \
	{ \
		CUresult r; \
\
		gmod_ordered_passed(); \
		r = NEXT(symbol) arguments; \
		gmod_holds(r, stream, __func__); \
		return gmod_done(r, __func__); \
	}

typedef const CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS *signals;
typedef const CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS *waits;

ORDERS(cuSignalExternalSemaphoresAsync, (const CUexternalSemaphore *s, signals p, unsigned count, CUstream stream),
       (s, p, count, stream))
ORDERS(cuSignalExternalSemaphoresAsync_ptsz, (const CUexternalSemaphore *s, signals p, unsigned count, CUstream stream),
       (s, p, count, stream))
HOLDS(cuWaitExternalSemaphoresAsync, (const CUexternalSemaphore *s, waits p, unsigned count, CUstream stream),
      (s, p, count, stream))
HOLDS(cuWaitExternalSemaphoresAsync_ptsz, (const CUexternalSemaphore *s, waits p, unsigned count, CUstream stream),
      (s, p, count, stream))
ORDERS(cuGraphicsMapResources, (unsigned count, CUgraphicsResource *r, CUstream stream), (count, r, stream))
ORDERS(cuGraphicsMapResources_ptsz, (unsigned count, CUgraphicsResource *r, CUstream stream), (count, r, stream))
ORDERS(cuGraphicsUnmapResources, (unsigned count, CUgraphicsResource *r, CUstream stream), (count, r, stream))
ORDERS(cuGraphicsUnmapResources_ptsz, (unsigned count, CUgraphicsResource *r, CUstream stream), (count, r, stream))
/* Functions of the program's, called in stream order, which write no device memory, but pinned and managed they may. */
HOLDS(cuLaunchHostFunc, (CUstream stream, CUhostFn fn, void *data), (stream, fn, data))
HOLDS(cuLaunchHostFunc_ptsz, (CUstream stream, CUhostFn fn, void *data), (stream, fn, data))
HOLDS(cuLaunchHostFunc_v2, (CUstream stream, CUhostFn fn, void *data, unsigned mode), (stream, fn, data, mode))
HOLDS(cuLaunchHostFunc_v2_ptsz, (CUstream stream, CUhostFn fn, void *data, unsigned mode), (stream, fn, data, mode))
HOLDS(cuStreamAddCallback, (CUstream stream, CUstreamCallback fn, void *data, unsigned flags),
      (stream, fn, data, flags))
HOLDS(cuStreamAddCallback_ptsz, (CUstream stream, CUstreamCallback fn, void *data, unsigned flags),
      (stream, fn, data, flags))
/* These wait as cuMemFree does. */
ORDERS(cuMemHostUnregister, (void *p), (p))
ORDERS(cuArrayDestroy, (CUarray array), (array))
