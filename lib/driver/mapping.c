#include "lib/driver/mapping.h"

#include "lib/base/asked.h"

int gmod_device_attribute(int device, CUdevice_attribute which)
{
	int value = 0;

	return NEXT(cuDeviceGetAttribute)(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

static CUmemLocation on_device(int device)
{
	return (CUmemLocation){.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = device};
}

/* Native device memory can be used by network adapters where the platform allows it, and so can this. */
static CUmemAllocationProp properties(int device)
{
	CUmemAllocationProp p = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = on_device(device)};

	p.allocFlags.gpuDirectRDMACapable =
	    gmod_device_attribute(device, CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED) != 0;
	return p;
}

static bool driver_has_it(void)
{
	return HAVE(cuMemAddressReserve) && HAVE(cuMemAddressFree) && HAVE(cuMemCreate) && HAVE(cuMemRelease) &&
	       HAVE(cuMemMap) && HAVE(cuMemUnmap) && HAVE(cuMemSetAccess) && HAVE(cuMemGetAllocationGranularity);
}

bool gmod_mapping_is_possible(int device)
{
	CUmemAllocationProp p;
	size_t granularity = 0;

	if (!driver_has_it() || !gmod_device_attribute(device, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED))
		return false;
	p = properties(device);
	gmod_succeeded(NEXT(cuMemGetAllocationGranularity)(&granularity, &p, CU_MEM_ALLOC_GRANULARITY_MINIMUM),
		       "cuMemGetAllocationGranularity");
	return granularity && GMOD_MAPPING_UNIT % granularity == 0;
}

CUresult gmod_mapping_create(int device, size_t size, CUmemGenericAllocationHandle *memory)
{
	CUmemAllocationProp p = properties(device);

	return NEXT(cuMemCreate)(memory, size, &p, 0);
}

/* Mapped, the memory lives until it is unmapped: its handle is not needed any more. */
CUresult gmod_mapping_add(int device, uint64_t address, size_t size)
{
	CUmemAccessDesc access = {on_device(device), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUmemGenericAllocationHandle memory;
	CUresult r = gmod_mapping_create(device, size, &memory);

	if (r != CUDA_SUCCESS)
		return r;
	r = NEXT(cuMemMap)(address, size, 0, memory, 0);
	gmod_succeeded(NEXT(cuMemRelease)(memory), "cuMemRelease");
	if (r != CUDA_SUCCESS)
		return r;
	r = NEXT(cuMemSetAccess)(address, size, &access, 1);
	if (r != CUDA_SUCCESS)
		gmod_succeeded(NEXT(cuMemUnmap)(address, size), "cuMemUnmap");
	return r;
}

CUresult gmod_mapping_open(uint64_t address, size_t size, uint64_t devices)
{
	CUmemAccessDesc access[GMOD_DEVICES];
	size_t count = 0;

	for (int i = 0; i < GMOD_DEVICES; i++)
		if (devices >> i & 1)
			access[count++] = (CUmemAccessDesc){on_device(i), CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	return NEXT(cuMemSetAccess)(address, size, access, count);
}
