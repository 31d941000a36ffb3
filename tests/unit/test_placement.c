/*
 * What the backends ask of the driver for the places of a buffer: flags, advice and room, which a program sees as
 * speed, as an error of another context's, or not at all.
 */
#include "lib/buffers/backend.h"

#include "lib/driver/driver.h"
#include "tests/unit/buffer.h"

enum { DEVICE = 3, SIZE = 3 << 20 };

static struct gmod_context context = {.device = DEVICE, .stream = (CUstream)&context};

/* ---- the driver ---- */

static size_t available;
static unsigned managed_flags, registered_flags, zones;
static int body_prefers, body_fetched_to; /* where the body is to lie; -9: nobody has said */

static CUresult CUDAAPI attribute(int *value, CUdevice_attribute which, CUdevice device)
{
	(void)which;
	NEED(device == DEVICE);
	*value = 1;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI exchange(CUstreamCaptureMode *mode)
{
	*mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI room(size_t *free_bytes, size_t *total)
{
	*free_bytes = available;
	*total = (size_t)1 << 40;
	return CUDA_SUCCESS;
}

static CUdeviceptr pages(size_t size)
{
	char *p = mmap(NULL, size + GMOD_LARGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	NEED(p != MAP_FAILED);
	return ((uintptr_t)p + GMOD_LARGE - 1) / GMOD_LARGE * GMOD_LARGE;
}

static CUresult CUDAAPI alloc_managed(CUdeviceptr *p, size_t size, unsigned flags)
{
	managed_flags = flags;
	*p = pages(size);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI advise(CUdeviceptr p, size_t size, CUmem_advise advice, CUdevice device)
{
	(void)p;
	if (advice == CU_MEM_ADVISE_SET_PREFERRED_LOCATION && size >= SIZE)
		body_prefers = device;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI prefetch(CUdeviceptr p, size_t size, CUdevice device, CUstream stream)
{
	(void)p;
	NEED(size >= SIZE && stream == context.stream);
	body_fetched_to = device;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI granularity(size_t *bytes, const CUmemAllocationProp *properties,
				    CUmemAllocationGranularity_flags flags)
{
	(void)properties;
	(void)flags;
	*bytes = GMOD_LARGE;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI reserve(CUdeviceptr *p, size_t size, size_t alignment, CUdeviceptr wish,
				unsigned long long flags)
{
	(void)wish;
	(void)flags;
	NEED(alignment == GMOD_LARGE);
	*p = pages(size);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI pin_pages(void *p, size_t size, unsigned flags)
{
	(void)p;
	NEED(size == gmod_page_size());
	registered_flags = flags;
	zones++;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI create(CUmemGenericAllocationHandle *memory, size_t size, const CUmemAllocationProp *properties,
			       unsigned long long flags)
{
	(void)properties;
	(void)flags;
	*memory = size;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI map(CUdeviceptr p, size_t size, size_t offset, CUmemGenericAllocationHandle memory,
			    unsigned long long flags)
{
	(void)p;
	(void)flags;
	NEED(size == memory && !offset);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI release(CUmemGenericAllocationHandle memory)
{
	(void)memory;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI let_in(CUdeviceptr p, size_t size, const CUmemAccessDesc *access, size_t count)
{
	(void)p;
	(void)size;
	NEED(count == 1 && access->location.id == DEVICE);
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI take_back(CUdeviceptr p, size_t size)
{
	(void)p;
	(void)size;
	return CUDA_SUCCESS;
}

static CUresult CUDAAPI unpin_pages(void *p)
{
	(void)p;
	return CUDA_SUCCESS;
}

/* Entry points are missing where no driver has been loaded. */
static void start(const char *options)
{
	NEED(!start_gmod(options) && dlopen("libcuda.so.1", RTLD_LAZY) && gmod_driver_resolve());
	gmod_driver.cuDeviceGetAttribute = attribute;
	gmod_driver.cuThreadExchangeStreamCaptureMode = exchange;
	gmod_driver.cuMemGetInfo_v2 = room;
	gmod_driver.cuMemAllocManaged = alloc_managed;
	gmod_driver.cuMemAdvise = advise;
	gmod_driver.cuMemPrefetchAsync = prefetch;
	gmod_driver.cuMemGetAllocationGranularity = granularity;
	gmod_driver.cuMemAddressReserve = reserve;
	gmod_driver.cuMemHostRegister_v2 = pin_pages;
	gmod_driver.cuMemCreate = create;
	gmod_driver.cuMemMap = map;
	gmod_driver.cuMemRelease = release;
	gmod_driver.cuMemSetAccess = let_in;
	gmod_driver.cuMemUnmap = take_back;
	gmod_driver.cuMemAddressFree = take_back;
	gmod_driver.cuMemHostUnregister = unpin_pages;
	available = (size_t)1 << 30;
	body_prefers = body_fetched_to = -9;
}

static enum gmod_answer answer(const struct gmod_backend *b, enum gmod_memory memory, unsigned flags)
{
	struct gmod_request q = {.memory = memory, .size = SIZE, .flags = flags, .context = &context};
	struct gmod_record record = {.bounds = {0}};
	struct gmod_place p;
	enum gmod_answer a = b->alloc(&q, &p);

	if (a == GMOD_ACCEPTS && b->arm) {
		record.bounds = (struct gmod_bounds){p.user, SIZE, p.zone_head, p.body, p.zone_tail, p.end};
		b->arm(&q, &record);
	}
	return a;
}

/* ---- the tests ---- */

TEST_IN_CHILD(the_programs_managed_memory_is_as_it_asked_for)
{
	start(":backend=managed");
	NEED(answer(&gmod_backend_managed, GMOD_MEM_MANAGED, CU_MEM_ATTACH_HOST) == GMOD_ACCEPTS);
	CHECK(managed_flags == CU_MEM_ATTACH_HOST, "%#x", managed_flags);
	CHECK(body_prefers == -9 && body_fetched_to == -9, "%d %d", body_prefers, body_fetched_to);
	end_gmod(NULL);
}

TEST_IN_CHILD(managed_memory_for_the_devices_lies_there)
{
	start(":backend=managed");
	NEED(answer(&gmod_backend_managed, GMOD_MEM_DEVICE, 0) == GMOD_ACCEPTS);
	CHECK(managed_flags == CU_MEM_ATTACH_GLOBAL, "%#x", managed_flags);
	CHECK(body_prefers == DEVICE && body_fetched_to == DEVICE, "%d %d", body_prefers, body_fetched_to);
	/* It would evict what is there. */
	available = SIZE - 1;
	NEED(answer(&gmod_backend_managed, GMOD_MEM_DEVICE, 0) == GMOD_DECLINES);
	end_gmod(NULL);
}

/* A kernel of any context may write past the end. */
TEST_IN_CHILD(zones_beside_mapped_memory_are_for_all_contexts)
{
	start(":backend=unified");
	NEED(answer(&gmod_backend_mapped, GMOD_MEM_DEVICE, 0) == GMOD_ACCEPTS);
	NEED(zones == 2);
	CHECK(registered_flags == (CU_MEMHOSTREGISTER_PORTABLE | CU_MEMHOSTREGISTER_DEVICEMAP), "%#x",
	      registered_flags);
	end_gmod(NULL);
}
