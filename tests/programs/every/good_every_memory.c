// under managed: differs: attributes are those of managed memory
// guarded: some
/* Every allocation and free, every question about memory, advice and handle, by both of its default streams. */
#include "every.h"

static CUstream stream;

/* Writes all of it and says what the last byte is. */
static void use(CUdeviceptr p, size_t size)
{
	unsigned char last = 0;

	CK(cuMemsetD8(p, 9, size));
	CK(cuMemcpyDtoH(&last, p + size - 1, 1));
	printf("last byte %d\n", last);
}

static void ask(CUdeviceptr p)
{
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
					CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	unsigned type = 7, managed = 0;
	CUdeviceptr base = 0, other = 0;
	size_t size = 0, range = 0;
	void *data[] = {&type, &managed, &range};
	unsigned flags = 0;

	SAY(cuMemGetAddressRange_v2, &base, &size, p + 5);
	printf("base %d, size %zu\n", base == p, size);
	SAY(cuMemGetInfo_v2, &range, &size);
	printf("free of all %d\n", range <= size);
	SAY(cuPointerGetAttribute, &type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, p);
	SAY(cuPointerGetAttributes, 3, wanted, data, p);
	printf("type %u, managed %u, range %zu\n", type, managed & 1, range);
	SAY(cuMemHostGetDevicePointer_v2, &other, (void *)p, 0);
	SAY(cuMemHostGetFlags, &flags, (void *)p);
	printf("flags %u\n", flags);
}

static void allocations(void)
{
	static char page[8192];
	CUDA_ARRAY_DESCRIPTOR shape = {
	    .Width = 64, .Height = 4, .Format = CU_AD_FORMAT_UNSIGNED_INT8, .NumChannels = 1};
	CUarray array;
	size_t pitch = 0;
	CUdeviceptr p = 0;
	void *host = NULL;

	SAY(cuMemAlloc_v2, &p, 1000);
	use(p, 1000);
	ask(p);
	SAY(cuMemFree_v2, p);
	SAY(cuMemAllocPitch_v2, &p, &pitch, 100, 10, 4);
	printf("pitch %zu\n", pitch);
	use(p, pitch * 9 + 100);
	SAY(cuMemFree_v2, p);
	SAY(cuMemAllocManaged, &p, 3000, CU_MEM_ATTACH_GLOBAL);
	use(p, 3000);
	ask(p);
	SAY(cuMemFree_v2, p);
	SAY(cuMemAllocHost_v2, &host, 500);
	memset(host, 1, 500);
	ask((CUdeviceptr)host);
	SAY(cuMemFreeHost, host);
	SAY(cuMemHostAlloc, &host, 600, CU_MEMHOSTALLOC_DEVICEMAP);
	memset(host, 1, 600);
	ask((CUdeviceptr)host);
	SAY(cuMemFreeHost, host);
	CK(cuMemHostRegister(page, sizeof(page), 0));
	SAY(cuMemHostUnregister, page);
	SAY(cuMemHostUnregister, page);
	CK(cuArrayCreate(&array, &shape));
	SAY(cuArrayDestroy, array);
}

static void free_by_both(CUdeviceptr p, CUdeviceptr q)
{
	use(p, 2000);
	use(q, 2000);
	BOTH(cuMemFreeAsync, _ptsz, 0, stream);
	SAY(cuMemFreeAsync, p, stream);
	SAY(cuMemFreeAsync_ptsz, q, NULL);
	CK(cuCtxSynchronize());
}

static void pools(void)
{
	CUmemPoolProps props = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
				.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = tk_device}};
	CUmemAccessDesc access = {props.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
	CUdeviceptr p = 0, q = 0;
	CUmemoryPool pool, made;
	cuuint64_t used = 1;

	CK(cuDeviceGetDefaultMemPool(&pool, tk_device));
	SAY(cuMemPoolCreate, &made, &props);
	SAY(cuMemPoolGetAttribute, made, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &used);
	printf("in use %llu\n", (unsigned long long)used);
	SAY(cuMemPoolSetAccess, made, &access, 1);
	SAY(cuMemPoolSetAttribute, made, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &used);
	SAY(cuMemPoolTrimTo, made, 0);
	SAY(cuMemPoolDestroy, made);
	SAY(cuMemAllocAsync, &p, 2000, stream);
	SAY(cuMemAllocAsync_ptsz, &q, 2000, NULL);
	CK(cuCtxSynchronize());
	free_by_both(p, q);
	SAY(cuMemAllocFromPoolAsync, &p, 2000, pool, stream);
	SAY(cuMemAllocFromPoolAsync_ptsz, &q, 2000, pool, NULL);
	CK(cuCtxSynchronize());
	free_by_both(p, q);
	free_by_both(tk_alloc(2000), tk_alloc(2000)); /* cuMemAlloc's may go like that too */
}

/* Handles say nothing that two runs agree on, but whether there is one. */
static void handles(void)
{
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED};
	CUmemGenericAllocationHandle handle = 0, retained = 0;
	size_t granularity = 0;
	CUipcMemHandle shared;
	int fd = -1;

	prop.location = (CUmemLocation){CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
	CK(cuMemGetAllocationGranularity(&granularity, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
	if (SAY(cuMemCreate, &handle, granularity, &prop, 0) == CUDA_SUCCESS) {
		CUdeviceptr at;

		CK(cuMemAddressReserve(&at, granularity, 0, 0, 0));
		CK(cuMemMap(at, granularity, 0, handle, 0));
		if (SAY(cuMemRetainAllocationHandle, &retained, (void *)at) == CUDA_SUCCESS) {
			printf("the same: %d\n", retained == handle);
			CK(cuMemRelease(retained));
		}
		if (SAY(cuMemGetHandleForAddressRange, &fd, at, granularity, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0) ==
		    CUDA_SUCCESS)
			printf("closed: %d\n", close(fd));
		CK(cuMemUnmap(at, granularity));
		CK(cuMemAddressFree(at, granularity));
		CK(cuMemRelease(handle));
	}
	/* A guarded buffer has no handle, and gmod(1) says so: what is none at all has none either way. */
	SAY(cuIpcGetMemHandle, &shared, 1);
	SAY(cuMemRetainAllocationHandle, &retained, &shared);
}

static void say_place(CUdeviceptr p, size_t size)
{
	int preferred = -9, last = -9, mostly = -9;
	void *data[] = {&last, &mostly};
	size_t sizes[] = {sizeof(int), sizeof(int)};
	CUmem_range_attribute wanted[] = {CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION,
					  CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY};

	SAY(cuMemRangeGetAttribute, &preferred, sizeof(int), CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, size);
	SAY(cuMemRangeGetAttributes, data, sizes, wanted, 2, p, size);
	printf("preferred %d, last %d, mostly read %d\n", preferred, last, mostly);
}

/* Of a managed buffer; of a device buffer, and of more than there is, all of it is refused. */
static void advise(CUdeviceptr p, size_t size)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device}, host = {CU_MEM_LOCATION_TYPE_HOST, 0};
	CUdeviceptr at[] = {p, p + size / 2};
	size_t sizes[] = {size / 2, size - size / 2}, first[] = {0};

	SAY(cuMemAdvise, p, size, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, tk_device);
	say_place(p, size);
	SAY(cuMemAdvise_v2, p, size, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, host);
	SAY(cuMemAdvise_v2, p, size, CU_MEM_ADVISE_SET_READ_MOSTLY, host);
	say_place(p, size);
	BOTH(cuMemPrefetchAsync, _ptsz, p, size, tk_device, stream);
	say_place(p, size);
	BOTH(cuMemPrefetchAsync_v2, _ptsz, p, size, host, 0, stream);
	say_place(p, size);
	BOTH(cuMemPrefetchBatchAsync, _ptsz, at, sizes, 2, &here, first, 1, 0, stream);
	say_place(p, size);
	BOTH(cuMemDiscardBatchAsync, _ptsz, at, sizes, 2, 0, stream);
	BOTH(cuMemDiscardAndPrefetchBatchAsync, _ptsz, at, sizes, 2, &here, first, 1, 0, stream);
	say_place(p, size);
	BOTH(cuStreamAttachMemAsync, _ptsz, stream, p, 0, CU_MEM_ATTACH_GLOBAL);
	BOTH(cuStreamAttachMemAsync, _ptsz, stream, p + 1, 0, CU_MEM_ATTACH_GLOBAL);
	CK(cuCtxSynchronize());
}

static void advice(void)
{
	CUdeviceptr p, q = tk_alloc(8192);

	CK(cuMemAllocManaged(&p, 8192, CU_MEM_ATTACH_GLOBAL));
	advise(p, 8192);
	advise(p, 8193);
	advise(q, 8192);
	CK(cuMemFree(p));
	CK(cuMemFree(q));
}

static void calls(void)
{
	allocations();
	pools();
	handles();
	advice();
}

int main(void)
{
	stream = tk_stream();
	every_way(calls);
}
