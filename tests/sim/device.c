/* Devices: what they are called, can do and have. The figures are an H200's, the memory is SIM_MEMORY. */
#include "sim.h"

#include <stdio.h>
#include <string.h>

#define PROCESSORS 132

static const int attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
    [CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = 1024,
    [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X] = 1024,
    [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y] = 1024,
    [CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z] = 64,
    [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X] = 2147483647,
    [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y] = 65535,
    [CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z] = 65535,
    [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK] = 49152,
    [CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY] = 65536,
    [CU_DEVICE_ATTRIBUTE_WARP_SIZE] = 32,
    [CU_DEVICE_ATTRIBUTE_MAX_PITCH] = 2147483647,
    [CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK] = 65536,
    [CU_DEVICE_ATTRIBUTE_CLOCK_RATE] = 1980000,
    [CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 512,
    [CU_DEVICE_ATTRIBUTE_GPU_OVERLAP] = 1,
    [CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = PROCESSORS,
    [CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY] = 1,
    [CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT] = 512,
    [CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS] = 1,
    [CU_DEVICE_ATTRIBUTE_ECC_ENABLED] = 1,
    [CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE] = 3201000,
    [CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH] = 6144,
    [CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE] = 62914560,
    [CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = 2048,
    [CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT] = 3,
    [CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING] = 1,
    [CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT] = 32,
    [CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9,
    [CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR] = 0,
    [CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR] = 233472,
    [CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR] = 65536,
    [CU_DEVICE_ATTRIBUTE_MANAGED_MEMORY] = 1,
    [CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM] = 1,
    [CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH] = 1,
    [CU_DEVICE_ATTRIBUTE_COOPERATIVE_MULTI_DEVICE_LAUNCH] = 1,
    [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 232448,
    [CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR] = 32,
    [CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK] = 1024,
    [CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_CAN_USE_64_BIT_STREAM_MEM_OPS] = 1,
    [CU_DEVICE_ATTRIBUTE_CAN_USE_STREAM_WAIT_VALUE_NOR] = 1,
    [CU_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_UNIFIED_FUNCTION_POINTERS] = 1,
};

bool device_exists(CUdevice device)
{
	return device >= 0 && device < sim.devices;
}

size_t device_free_memory(CUdevice device)
{
	const struct device *d = &sim.device[device];
	size_t left = sim.memory - d->used, managed = d->resident + d->kept;

	return managed < left ? left - managed : 0;
}

ENTRY(cuDeviceGet, NEEDS_INIT, TAKES(CUdevice *device, int ordinal),
      ANSWER_OF(device_exists(ordinal), CUDA_ERROR_INVALID_DEVICE, device, ordinal))
ENTRY(cuDeviceGetCount, NEEDS_INIT, TAKES(int *count), ANSWER(count, sim.devices))

static CUresult get_name(char *name, int length, CUdevice device)
{
	if (!name || length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(name, length, "Simulated device");
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetName, NEEDS_INIT, TAKES(char *name, int len, CUdevice dev), get_name(name, len, dev))

static CUresult get_attribute(int *value, CUdevice_attribute attribute, CUdevice device)
{
	if (!value || attribute <= 0 || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*value = attributes[attribute];
	if (attribute == CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
		*value = sim.concurrent_managed;
	if (attribute == CU_DEVICE_ATTRIBUTE_PCI_BUS_ID)
		*value = device + 1;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetAttribute, NEEDS_INIT, TAKES(int *pi, CUdevice_attribute attrib, CUdevice dev),
      get_attribute(pi, attrib, dev))
ENTRY(cuDeviceTotalMem_v2, NEEDS_INIT, TAKES(size_t *bytes, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, bytes, sim.memory))

static CUresult get_uuid(CUuuid *uuid, CUdevice device)
{
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	memset(uuid, 0x51, sizeof(*uuid));
	uuid->bytes[15] = (char)device;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetUuid, NEEDS_INIT, TAKES(CUuuid *uuid, CUdevice dev), get_uuid(uuid, dev))
ENTRY(cuDeviceGetUuid_v2, NEEDS_INIT, TAKES(CUuuid *uuid, CUdevice dev), get_uuid(uuid, dev))

static CUresult get_capability(int *major, int *minor, CUdevice device)
{
	if (!major || !minor)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	*major = attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR];
	*minor = attributes[CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR];
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceComputeCapability, NEEDS_INIT, TAKES(int *major, int *minor, CUdevice dev),
      get_capability(major, minor, dev))

static CUresult get_bus_id(char *id, int length, CUdevice device)
{
	if (!id || length <= 0)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	snprintf(id, length, "0000:%02X:00.0", (unsigned)device + 1);
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetPCIBusId, NEEDS_INIT, TAKES(char *pciBusId, int len, CUdevice dev), get_bus_id(pciBusId, len, dev))
ENTRY(cuDeviceCanAccessPeer, NEEDS_INIT, TAKES(int *canAccessPeer, CUdevice dev, CUdevice peerDev),
      ANSWER_OF(device_exists(dev) && device_exists(peerDev), CUDA_ERROR_INVALID_DEVICE, canAccessPeer, dev != peerDev))
