// guarded: no
/*
 * Virtual memory management: reserve, create, map twice side by side, use to the last byte, unmap. What is refused for
 * another reason than its length is no finding, though each mapping is memory of its own for the driver.
 */
#include "testkit.h"

enum { COUNT = 2 };

int main(void)
{
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
	CUmemAccessDesc access = {.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle handle;
	CUdeviceptr p;
	size_t size;

	tk_start();
	prop.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
	access.location = prop.location;
	CK(cuMemGetAllocationGranularity(&size, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	CK(cuMemAddressReserve(&p, COUNT * size, 0, 0, 0));
	for (int i = 0; i < COUNT; i++) {
		CK(cuMemCreate(&handle, size, &prop, 0));
		CK(cuMemMap(p + i * size, size, 0, handle, 0));
		CK(cuMemRelease(handle));
	}
	CK(cuMemSetAccess(p, COUNT * size, &access, 1));
	CK(cuMemsetD8(p, 0, COUNT * size));
	printf("words that are not aligned: %d\n", cuMemsetD32(p + 2, 0, COUNT * size / 4 - 1));
	tk_flip(p, 0, (long long)(COUNT * size));
	tk_sync();
	for (int i = 0; i < COUNT; i++)
		CK(cuMemUnmap(p + i * size, size));
	CK(cuMemAddressFree(p, COUNT * size));
	puts("done");
}
