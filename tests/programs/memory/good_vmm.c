// guarded: no
/* Virtual memory management: reserve, create, map, use to the last byte, unmap. */
#include "testkit.h"

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
	CK(cuMemAddressReserve(&p, size, 0, 0, 0));
	CK(cuMemCreate(&handle, size, &prop, 0));
	CK(cuMemMap(p, size, 0, handle, 0));
	CK(cuMemSetAccess(p, size, &access, 1));
	tk_flip(p, 0, (long long)size);
	tk_sync();
	CK(cuMemUnmap(p, size));
	CK(cuMemRelease(handle));
	CK(cuMemAddressFree(p, size));
	puts("done");
}
