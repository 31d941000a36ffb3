/* Memory that is created and mapped, in reservations larger than it, and the program's own pages beside it. */
#include "conformance.h"

#include <sys/mman.h>

struct mapped mapped_open(int rdma)
{
	struct mapped m = {.piece = 2 << 20};

	CK(cuMemAddressReserve(&m.base, 3 * m.piece, 0, 0, 0));
	m.at = m.base + m.piece;
	CK(create_physical(&m.handle, m.piece, rdma));
	CK(cuMemMap(m.at, m.piece, 0, m.handle, 0));
	CK(make_accessible(m.at, m.piece));
	return m;
}

static void mapped_close(struct mapped *m)
{
	tk_sync();
	if (m->at) {
		CK(cuMemUnmap(m->at, m->piece));
		CK(cuMemRelease(m->handle));
	}
	CK(cuMemAddressFree(m->base, 3 * m->piece));
}

static const char *attribute_value(CUpointer_attribute attribute, CUdeviceptr at, CUdeviceptr subtract, size_t unit)
{
	unsigned long long value = 77;
	CUresult r = cuPointerGetAttribute(&value, attribute, at);

	return r ? code(r) : number((long long)((value - subtract) / unit));
}

/* In pieces, counted from where the reservation starts. */
static void ranges_of_mapping(void)
{
	struct mapped m = mapped_open(0);
	CUdeviceptr base = 0;
	size_t size = 0;

	fact(attribute_value(CU_POINTER_ATTRIBUTE_CONTEXT, m.at, 0, 1), "context of a mapping in a larger reservation");
	fact(attribute_value(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, m.at + 500, m.base, m.piece),
	     "range start of a mapping in a larger reservation");
	fact(attribute_value(CU_POINTER_ATTRIBUTE_RANGE_SIZE, m.at + 500, 0, m.piece),
	     "range size of a mapping in a larger reservation");
	fact(attribute_value(CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR, m.at + 500, m.base, m.piece),
	     "mapping base of a mapping in a larger reservation");
	fact(attribute_value(CU_POINTER_ATTRIBUTE_MAPPING_SIZE, m.at + 500, 0, m.piece),
	     "mapping size of a mapping in a larger reservation");
	CK(cuMemGetAddressRange(&base, &size, m.at + 500));
	fact(yes_no(base == m.at && size == m.piece), "its address range is the mapping");
	fact(code(cuMemGetAddressRange(&base, &size, m.base)),
	     "address range of a reservation where nothing is mapped");
	fact(attribute_value(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, m.base, 0, 1),
	     "memory type of a reservation where nothing is mapped");
	mapped_close(&m);
}

static void rdma_of_mappings(void)
{
	for (int rdma = 0; rdma < 2; rdma++) {
		struct mapped m = mapped_open(rdma);
		unsigned char capable = 77;

		CK(cuPointerGetAttribute(&capable, CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, m.at));
		fact(number(capable), "a mapping created with gpuDirectRDMACapable %d is RDMA capable", rdma);
		mapped_close(&m);
	}
}

static void handles_of_memory(void)
{
	struct mapped m = mapped_open(0);
	struct memory device = memory_new(DEVICE), registered = memory_new(REGISTERED);
	CUmemGenericAllocationHandle handle = 0;
	CUresult r = cuMemRetainAllocationHandle(&handle, (void *)(m.at + 500));

	fact(code(r), "retaining the handle of a mapping");
	fact(yes_no(handle == m.handle), "which is the one it was made from");
	if (!r)
		CK(cuMemRelease(handle));
	fact(code(cuMemRetainAllocationHandle(&handle, (void *)device.at)), "retaining the handle of device memory");
	fact(code(cuMemRetainAllocationHandle(&handle, registered.own)), "retaining the handle of registered memory");
	memory_free(&registered);
	memory_free(&device);
	mapped_close(&m);
}

static size_t free_memory(void)
{
	size_t free_bytes, total;

	CK(cuMemGetInfo(&free_bytes, &total));
	return free_bytes;
}

static void released_while_mapped(void)
{
	size_t before = free_memory();
	struct mapped m = mapped_open(0);
	unsigned char bytes[2] = {0, 0};
	CUdeviceptr base;
	size_t size;

	CK(cuMemsetD8(m.at, 7, m.piece));
	fact(code(cuMemRelease(m.handle)), "cuMemRelease of what is mapped");
	tk_flip(m.at, 1, 1);
	CK(cuMemcpyDtoH(bytes, m.at, 2));
	fact(yes_no(bytes[0] == 7 && bytes[1] == (7 ^ 0x5a)), "which stays mapped and holds what was written");
	fact(yes_no(free_memory() == before), "which gives its memory back");
	fact(code(cuMemUnmap(m.at, m.piece)), "cuMemUnmap of it");
	fact(yes_no(free_memory() == before), "which gives its memory back then");
	fact(code(cuMemGetAddressRange(&base, &size, m.at)), "address range of what was unmapped");
	m.at = 0;
	mapped_close(&m);
}

/* The program's own pages, right behind the mapping. */

#define OWN_BYTES 8192

static unsigned char *own_pages(const struct mapped *m)
{
	unsigned char *own = (unsigned char *)(m->at + m->piece);

	REQUIRE(!mprotect(own, OWN_BYTES, PROT_READ | PROT_WRITE));
	memset(own, 0, OWN_BYTES);
	return own;
}

/* From 8 bytes before the border to 8 behind it. */
static void across_the_border(CUdeviceptr border)
{
	unsigned char bytes[16] = "";
	CUdeviceptr other, from = border - 8;

	CK(cuMemAlloc(&other, 16));
	fact(code(cuMemcpyHtoD(from, bytes, 16)), "copy to a mapping and on into registered memory");
	fact(code(cuMemcpyDtoH(bytes, from, 16)), "copy from a mapping and on from registered memory");
	fact(code(cuMemcpyDtoD(other, from, 16)), "copy from a mapping and on from registered memory to device");
	fact(code(cuMemcpyDtoDAsync(from, other, 16, NULL)), "async copy to a mapping and on into registered memory");
	fact(code(cuMemsetD8(from, 1, 16)), "fill of a mapping and on into registered memory");
	fact(code(cuMemsetD8Async(from, 1, 16, NULL)), "async fill of a mapping and on into registered memory");
	tk_sync();
	CK(cuMemFree(other));
}

static void pages_beside_mapping(void)
{
	struct mapped m = mapped_open(0);
	unsigned char *own = own_pages(&m), bytes[8] = "";
	long long before = -8, count = 16;
	CUdeviceptr p = 0, border = (CUdeviceptr)own;
	CUresult r = cuMemHostRegister(own, OWN_BYTES, CU_MEMHOSTREGISTER_DEVICEMAP | CU_MEMHOSTREGISTER_PORTABLE);

	fact(code(r), "registering own pages in a reservation, beside a mapping");
	if (!r) {
		CK(cuMemHostGetDevicePointer(&p, own, 0));
		fact(number((long long)(p - border)), "their device pointer");
		fact(attribute_value(CU_POINTER_ATTRIBUTE_MEMORY_TYPE, border, 0, 1), "their memory type");
		fact(attribute_value(CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, border + 500, border, 1),
		     "their range start");
		fact(attribute_value(CU_POINTER_ATTRIBUTE_RANGE_SIZE, border + 500, 0, 1), "their range size");
		CK(cuMemsetD8(m.at, 0, m.piece));
		tk_flip(border, before, count);
		fact(code(cuCtxSynchronize()), "a kernel that stores across the border");
		CK(cuMemcpyDtoH(bytes, border - 8, 8));
		fact(yes_no(bytes[0] == 0x5a && own[7] == 0x5a && own[8] == 0), "and changes both sides of it");
		across_the_border(border);
		fact(code(cuMemHostUnregister(own)), "unregistering them");
	}
	REQUIRE(!mprotect(own, OWN_BYTES, PROT_NONE));
	mapped_close(&m);
}

void mapped_facts(void)
{
	ranges_of_mapping();
	rdma_of_mappings();
	handles_of_memory();
	released_while_mapped();
	pages_beside_mapping();
}
