/*
 * Device memory at addresses of our own choice: mapped into a reservation, never evicted, and of no context. Natively
 * such memory is what cuMemCreate and cuMemMap give; a program's own calls of those go past this.
 *
 * Functions return what the driver said.
 */
#ifndef GMOD_LIB_DRIVER_MAPPING_H
#define GMOD_LIB_DRIVER_MAPPING_H

#include "lib/driver/driver.h"

/* Device memory and reserved addresses come in multiples of this. */
#define GMOD_MAPPING_UNIT ((size_t)2 << 20)

/* 0 where the driver does not know it. */
int gmod_device_attribute(int device, CUdevice_attribute which);

/* Does the device have what it takes? */
bool gmod_mapping_is_possible(int device);

/* Memory of the device, in whole units, which nothing is mapped to yet. */
CUresult gmod_mapping_create(int device, size_t size, CUmemGenericAllocationHandle *memory);

/* Memory of the device at reserved addresses, in whole units, that its contexts may use. */
CUresult gmod_mapping_add(int device, uint64_t address, size_t size);

/* Contexts of these devices may use it, too: a bit each. */
CUresult gmod_mapping_open(uint64_t address, size_t size, uint64_t devices);

#endif
