/*
 * Devices: what they are called, can do and have, as far as a test or GMOD asks. The figures are an H200's, the memory
 * is SIM_MEMORY.
 */
#include "sim.h"

#include <stdio.h>
#include <string.h>

#define PROCESSORS 132

static const int attributes[CU_DEVICE_ATTRIBUTE_MAX] = {
    [CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT] = 512,
    [CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT] = PROCESSORS,
    [CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR] = 2048,
    [CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR] = 9,
    [CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM] = 1,
    [CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN] = 232448,
    [CU_DEVICE_ATTRIBUTE_HOST_REGISTER_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED] = 1,
    [CU_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED] = 1,
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

int device_bus(CUdevice device)
{
	return device + 1;
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

/* Its last byte is the device's number. */
static CUresult get_uuid(CUuuid *uuid, CUdevice device)
{
	if (!uuid)
		return CUDA_ERROR_INVALID_VALUE;
	if (!device_exists(device))
		return CUDA_ERROR_INVALID_DEVICE;
	memset(uuid, 0x5a, sizeof(*uuid));
	uuid->bytes[15] = (char)device;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetUuid_v2, NEEDS_INIT, TAKES(CUuuid *uuid, CUdevice dev), get_uuid(uuid, dev))

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
		*value = device_bus(device);
	if (attribute == CU_DEVICE_ATTRIBUTE_MPS_ENABLED)
		*value = sim.mps;
	return CUDA_SUCCESS;
}

ENTRY(cuDeviceGetAttribute, NEEDS_INIT, TAKES(int *pi, CUdevice_attribute attrib, CUdevice dev),
      get_attribute(pi, attrib, dev))
ENTRY(cuDeviceTotalMem_v2, NEEDS_INIT, TAKES(size_t *bytes, CUdevice dev),
      ANSWER_OF(device_exists(dev), CUDA_ERROR_INVALID_DEVICE, bytes, sim.memory))

ENTRY(cuDeviceCanAccessPeer, NEEDS_INIT, TAKES(int *canAccessPeer, CUdevice dev, CUdevice peerDev),
      ANSWER_OF(device_exists(dev) && device_exists(peerDev), CUDA_ERROR_INVALID_DEVICE, canAccessPeer, dev != peerDev))
