/*
 * As a runtime of CUDA 11.8 does it: cuGetProcAddress by its first ABI, asked for the names as they were then, gives
 * the calls as they were then.
 */
#include "../kernel_node.h"

#include <cudaTypedefs.h>
#include <dlfcn.h>

typedef CUresult get_fn(const char *, void **, int, cuuint64_t);

static get_fn *get;

static void *found(const char *name, int version, cuuint64_t flags)
{
	void *f = NULL;

	CK(get(name, &f, version, flags));
	REQUIRE(f);
	return f;
}

#define FOUND(name, version) ((PFN_##name##_v##version)found(#name, version, CU_GET_PROC_ADDRESS_LEGACY_STREAM))

static CUdeviceptr managed(size_t size)
{
	CUdeviceptr p;

	CK(FOUND(cuMemAllocManaged, 6000)(&p, size, CU_MEM_ATTACH_GLOBAL));
	return p;
}

static void advice(void)
{
	CUdeviceptr p = managed(8192);
	int preferred = -9;

	CK(FOUND(cuMemAdvise, 8000)(p, 8192, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, tk_device));
	CK(FOUND(cuMemPrefetchAsync, 8000)(p, 8192, tk_device, NULL));
	CK(cuMemRangeGetAttribute(&preferred, sizeof(int), CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 8192));
	printf("preferred: %d\n", preferred);
	tk_sync();
	CK(FOUND(cuMemFree, 3020)(p));
}

static CUgraph captured(CUstream stream, CUdeviceptr p, long long off)
{
	CUstreamCaptureStatus status = 9;
	const CUgraphNode *tips = NULL;
	cuuint64_t id = 0, again = 0;
	CUgraph graph = NULL, inside = NULL;
	size_t count = 0;

	CK(FOUND(cuStreamBeginCapture, 10010)(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_flip_on(stream, p, off, 4);
	CK(FOUND(cuStreamGetCaptureInfo, 10010)(stream, &status, &id));
	CK(FOUND(cuStreamGetCaptureInfo, 11030)(stream, &status, &again, &inside, &tips, &count));
	CK(FOUND(cuStreamEndCapture, 10000)(stream, &graph));
	printf("capturing: %d, the same: %d, graph: %d, tips: %zu\n", (int)status, id == again, inside == graph, count);
	return graph;
}

static void graphs(CUdeviceptr p)
{
	CUDA_KERNEL_NODE_PARAMS_v1 params;
	CUgraphExecUpdateResult result = 9;
	CUstream stream = tk_stream();
	CUgraph graph = captured(stream, p, 0), other = captured(stream, p, 10);
	CUgraphNode node, wrong = NULL;
	CUgraphExec exec;
	size_t count = 1;
	unsigned char byte[2];

	CK(cuGraphGetNodes(graph, &node, &count));
	CK(FOUND(cuGraphKernelNodeGetParams, 10000)(node, &params));
	printf("grid %u, block %u, offset %lld\n", params.gridDimX, params.blockDimX,
	       *(long long *)params.kernelParams[1]);
	CK(FOUND(cuGraphInstantiateWithFlags, 11040)(&exec, graph, 0));
	CK(FOUND(cuGraphExecUpdate, 10020)(exec, other, &wrong, &result));
	CK(FOUND(cuGraphLaunch, 10000)(exec, stream));
	CK(FOUND(cuStreamSynchronize, 2000)(stream));
	CK(cuMemcpyDtoH(byte, p, 1));
	CK(cuMemcpyDtoH(byte + 1, p + 10, 1));
	printf("result %d, bytes %d %d\n", (int)result, byte[0], byte[1]);
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuGraphDestroy(other));
}

int main(void)
{
	CUdeviceptr p;

	tk_start();
	*(void **)&get = dlsym(RTLD_DEFAULT, "cuGetProcAddress");
	get = (get_fn *)found("cuGetProcAddress", 11030, 0);
	CK(FOUND(cuMemAlloc, 3020)(&p, 1000));
	CK(cuMemsetD8(p, 0, 1000));
	tk_sync();
	advice();
	graphs(p);
	CK(FOUND(cuMemFree, 3020)(p));
}
