/* What the driver says about a pointer, also about one into the middle of a buffer and one behind its end. */
#include "testkit.h"

static void tell(const char *what, CUdeviceptr base, CUdeviceptr at)
{
	CUmemorytype type = 0;
	CUcontext context = NULL;
	CUdeviceptr device = 0, start = 0;
	size_t size = 0;
	int ordinal = -1;
	CUresult r = cuPointerGetAttribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, at);

	printf("%s: %s", what, tk_error_name(r));
	if (r == CUDA_SUCCESS) {
		CK(cuPointerGetAttribute(&context, CU_POINTER_ATTRIBUTE_CONTEXT, at));
		CK(cuPointerGetAttribute(&device, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, at));
		CK(cuPointerGetAttribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, at));
		CK(cuPointerGetAttribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, at));
		CK(cuPointerGetAttribute(&ordinal, CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, at));
		printf(", type %d, of our context: %d, device pointer %+lld, starts %+lld, size %zu, device %d", type,
		       context == tk_context, (long long)(device - at), (long long)(start - base), size, ordinal);
	}
	putchar('\n');
}

int main(void)
{
	CUpointer_attribute names[] = {CU_POINTER_ATTRIBUTE_RANGE_SIZE, CU_POINTER_ATTRIBUTE_MEMORY_TYPE};
	size_t size = 0;
	unsigned type = 0;
	void *host;
	CUdeviceptr p = tk_alloc(5000);

	tell("device", p, p);
	tell("inside", p, p + 4999);
	tell("behind", p, p + 5000);
	printf("both behind: %s\n",
	       tk_error_name(cuPointerGetAttributes(2, names, (void *[]){&size, &type}, p + 5000)));
	printf("size %zu, type %u\n", size, type);
	CK(cuPointerGetAttributes(2, names, (void *[]){&size, &type}, p + 100));
	printf("both at once: size %zu, type %u\n", size, type);
	CK(cuMemFree(p));
	CK(cuMemHostAlloc(&host, 3000, CU_MEMHOSTALLOC_DEVICEMAP));
	tell("pinned", (CUdeviceptr)host, (CUdeviceptr)host);
	tell("inside", (CUdeviceptr)host, (CUdeviceptr)host + 2999);
	CK(cuMemFreeHost(host));
	CK(cuMemAllocManaged(&p, 7000, CU_MEM_ATTACH_GLOBAL));
	tell("managed", p, p + 1);
	CK(cuMemFree(p));
	tell("foreign", (CUdeviceptr)&size, (CUdeviceptr)&size);
}
