/* Sizes of zero, sizes too large, pointers that are not there: whatever the driver says to them. */
#include "testkit.h"

#define TELL(call) printf("%s: %s\n", #call, tk_error_name(call))

int main(void)
{
	CUdeviceptr p = 0, base;
	size_t pitch, size;
	void *host = NULL;
	int value;

	tk_start();
	TELL(cuMemAlloc(NULL, 16));
	TELL(cuMemAlloc(&p, 0));
	TELL(cuMemAlloc(&p, SIZE_MAX));
	TELL(cuMemAlloc(&p, SIZE_MAX - 4096));
	TELL(cuMemAllocPitch(&p, &pitch, 0, 10, 4));
	TELL(cuMemAllocPitch(&p, &pitch, 10, 0, 4));
	TELL(cuMemAllocPitch(&p, &pitch, 10, 10, 5));
	TELL(cuMemAllocPitch(&p, &pitch, SIZE_MAX / 2, 8, 4));
	TELL(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL));
	TELL(cuMemAllocManaged(&p, 100, 0));
	TELL(cuMemAllocManaged(NULL, 100, CU_MEM_ATTACH_GLOBAL));
	TELL(cuMemHostAlloc(&host, 0, 0));
	TELL(cuMemHostAlloc(&host, 100, 0xffff));
	TELL(cuMemHostAlloc(NULL, 100, 0));
	TELL(cuMemFree(0));
	TELL(cuMemFreeHost(NULL));
	CK(cuMemAlloc(&p, 1000));
	TELL(cuMemGetAddressRange(NULL, &size, p));
	TELL(cuMemGetAddressRange(&base, NULL, p));
	TELL(cuPointerGetAttribute(NULL, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p));
	TELL(cuPointerGetAttribute(&value, (CUpointer_attribute)9999, p));
	TELL(cuMemsetD8(p, 0, 0));
	TELL(cuMemcpyHtoD(p, &value, 0));
	TELL(cuMemcpyDtoD(p, p, 0));
	TELL(cuMemHostGetDevicePointer(&base, &value, 0));
	TELL(cuMemFree(p));
}
