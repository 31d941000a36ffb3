/* What the driver answers about addresses of every kind, about advice and IPC. */
#include "conformance.h"

static void range_of(const struct memory *m, const char *where, size_t offset)
{
	CUdeviceptr base = 0;
	size_t size = 0;
	CUresult r = cuMemGetAddressRange(&base, &size, m->at + offset);

	fact(code(r), "address range of %s, %s", kind_names[m->kind], where);
	if (r)
		return;
	fact(number((long long)(base - m->at)), "address range of %s, %s, starts at", kind_names[m->kind], where);
	fact(number(size), "address range of %s, %s, bytes", kind_names[m->kind], where);
}

static void ranges(const struct memory *m)
{
	range_of(m, "base", 0);
	range_of(m, "inside", 500);
	range_of(m, "last byte", m->size - 1);
}

/* The attributes whose value is the same on every machine; addresses are given as offsets. */
static void attributes(const struct memory *m, size_t offset)
{
	static const struct {
		CUpointer_attribute attribute;
		const char *name;
		enum { FLAG, INT, ADDRESS, SIZE, CONTEXT, HANDLE } type;
	} rows[] = {
	    {CU_POINTER_ATTRIBUTE_CONTEXT, "context is current", CONTEXT},
	    {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, "memory type", INT},
	    {CU_POINTER_ATTRIBUTE_DEVICE_POINTER, "device pointer", ADDRESS},
	    {CU_POINTER_ATTRIBUTE_HOST_POINTER, "host pointer", ADDRESS},
	    {CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, "sync memops", FLAG},
	    {CU_POINTER_ATTRIBUTE_BUFFER_ID, "has a buffer id", HANDLE},
	    {CU_POINTER_ATTRIBUTE_IS_MANAGED, "is managed", FLAG},
	    {CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, "device", INT},
	    {CU_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE, "is IPC capable", FLAG},
	    {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, "range start", ADDRESS},
	    {CU_POINTER_ATTRIBUTE_RANGE_SIZE, "range size", SIZE},
	    {CU_POINTER_ATTRIBUTE_MAPPED, "is mapped", FLAG},
	    {CU_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES, "handle types", SIZE},
	    {CU_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE, "is RDMA capable", FLAG},
	    {CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, "access", INT},
	    {CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE, "has a pool", HANDLE},
	};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		unsigned long long value = 0;
		CUresult r = cuPointerGetAttribute(&value, rows[i].attribute, m->at + offset);
		long long shown = (long long)value;

		if (rows[i].type == FLAG)
			shown = value & 0xff;
		if (rows[i].type == INT)
			shown = (int)value;
		if (rows[i].type == ADDRESS)
			shown = (long long)(value - m->at);
		if (rows[i].type == CONTEXT)
			shown = (CUcontext)value == tk_context;
		if (rows[i].type == HANDLE)
			shown = value != 0;
		fact(r ? code(r) : number(shown), "attribute of %s +%zu, %s", kind_names[m->kind], offset,
		     rows[i].name);
	}
}

/* Several at once: unknown memory is no error then. */
static void attributes_at_once(CUdeviceptr p, const char *name)
{
	unsigned type = 77, managed = 77;
	int device = 77;
	CUdeviceptr start = 77;
	size_t size = 77;
	void *data[] = {&type, &managed, &device, &start, &size};
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED,
					CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
					CU_POINTER_ATTRIBUTE_RANGE_SIZE};

	fact(code(cuPointerGetAttributes(5, wanted, data, p)), "attributes of %s", name);
	fact(number(type), "attributes of %s, memory type", name);
	fact(number(managed & 0xff), "attributes of %s, is managed", name);
	fact(number(device), "attributes of %s, device", name);
	fact(yes_no(start == p), "attributes of %s, starts there", name);
	fact(number(size), "attributes of %s, range size", name);
}

static void setting_attributes(const struct memory *m)
{
	unsigned on = 1, value = 0;
	CUresult r = cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m->at);

	fact(code(r), "setting sync memops of %s", kind_names[m->kind]);
	r = cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, m->at);
	fact(r ? code(r) : number(value & 0xff), "sync memops of %s after that", kind_names[m->kind]);
}

static void host_side(const struct memory *m)
{
	const char *name = kind_names[m->kind];
	CUdeviceptr device = 0;
	unsigned flags = 77;
	CUresult r = cuMemHostGetFlags(&flags, (void *)m->at);

	fact(r ? code(r) : number(flags), "host flags of %s", name);
	r = cuMemHostGetFlags(&flags, (void *)(m->at + 500));
	fact(r ? code(r) : number(flags), "host flags of the inside of %s", name);
	r = cuMemHostGetDevicePointer(&device, (void *)m->at, 0);
	fact(r ? code(r) : number((long long)(device - m->at)), "device pointer of %s", name);
	device = m->at + 12345; /* seen if the driver leaves it alone */
	r = cuMemHostGetDevicePointer(&device, (void *)(m->at + 500), 0);
	fact(r ? code(r) : number((long long)(device - m->at)), "device pointer of the inside of %s", name);
	fact(code(cuMemHostGetDevicePointer(&device, (void *)m->at, 1)), "device pointer of %s with flags", name);
}

static void host_flags(void)
{
	unsigned flags;
	void *p;

	for (unsigned wanted = 0; wanted < 8; wanted++) {
		CK(cuMemHostAlloc(&p, 1000, wanted));
		CK(cuMemHostGetFlags(&flags, p));
		fact(number(flags), "host flags of cuMemHostAlloc with %u", wanted);
		CK(cuMemFreeHost(p));
	}
	CK(cuMemAllocHost(&p, 1000));
	CK(cuMemHostGetFlags(&flags, p));
	fact(number(flags), "host flags of cuMemAllocHost");
	CK(cuMemFreeHost(p));
}

static void sharing(const struct memory *m)
{
	const char *name = kind_names[m->kind];
	CUipcMemHandle handle, inner;
	CUdeviceptr p;
	CUresult r = cuIpcGetMemHandle(&handle, m->at);
	int fd = -1;

	fact(code(r), "IPC handle of %s", name);
	if (!r) {
		r = cuIpcOpenMemHandle(&p, handle, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS);
		fact(code(r), "opening the IPC handle of %s in its own process", name);
		if (!r)
			CK(cuIpcCloseMemHandle(p));
		r = cuIpcGetMemHandle(&inner, m->at + 500);
		fact(r ? code(r) : yes_no(!memcmp(&handle, &inner, sizeof(handle))),
		     "the inside of %s has the same IPC handle", name);
	}
	if (m->kind != DEVICE_LARGE && m->kind != VMM && m->kind != MANAGED)
		return;
	r = cuMemGetHandleForAddressRange(&fd, m->at, m->size & ~4095ul, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0);
	fact(code(r), "dma-buf of %s", name);
	if (!r)
		close(fd);
}

static const CUmemLocation on_host = {CU_MEM_LOCATION_TYPE_HOST, 0};

static void advice_on(const struct memory *m)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
	const char *name = kind_names[m->kind];
	int value;

	fact(code(cuMemAdvise(m->at, m->size, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here)), "advice on %s", name);
	fact(code(cuMemPrefetchAsync(m->at, m->size, here, 0, NULL)), "prefetch of %s", name);
	fact(code(cuMemRangeGetAttribute(&value, sizeof(value), CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, m->at,
					 m->size)),
	     "range attribute of %s", name);
	fact(code(cuStreamAttachMemAsync(NULL, m->at, 0, CU_MEM_ATTACH_GLOBAL)), "attaching %s", name);
	tk_sync();
}

static int range_value(CUmem_range_attribute attribute, CUdeviceptr p, size_t size)
{
	int value = 77;

	CK(cuMemRangeGetAttribute(&value, sizeof(value), attribute, p, size));
	return value;
}

static void advice_values(void)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
	const size_t page = sysconf(_SC_PAGESIZE), size = 8 * page;
	CUdeviceptr p;
	int by[3] = {77, 77, 77};

	CK(cuMemAllocManaged(&p, size, CU_MEM_ATTACH_GLOBAL));
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, size)), "preferred location at first");
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, size)), "last prefetch at first");
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, size)), "read mostly at first");
	CK(cuMemAdvise(p, page, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, on_host));
	CK(cuMemAdvise(p + page, size - page, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, here));
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, page)), "preferred location, page 0");
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p + page, page)),
	     "preferred location, page 1");
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, size)), "preferred location, all pages");
	CK(cuMemAdvise(p, size, CU_MEM_ADVISE_SET_ACCESSED_BY, here));
	CK(cuMemRangeGetAttribute(by, sizeof(by), CU_MEM_RANGE_ATTRIBUTE_ACCESSED_BY, p, size));
	fact(number(by[0]), "accessed by, first");
	fact(number(by[1]), "accessed by, second");
	CK(cuMemPrefetchAsync(p + page, size - page, here, 0, NULL));
	tk_sync();
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p + page, page)),
	     "last prefetch, page 1");
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION, p, size)), "last prefetch, all pages");
	CK(cuMemAdvise(p, size, CU_MEM_ADVISE_SET_READ_MOSTLY, here));
	fact(number(range_value(CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, size)), "read mostly after advice");
	CK(cuMemFree(p));
}

static void advice_edges(void)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device}, nowhere = {CU_MEM_LOCATION_TYPE_DEVICE, 99};
	const CUmem_advise prefer = CU_MEM_ADVISE_SET_PREFERRED_LOCATION;
	const size_t page = sysconf(_SC_PAGESIZE), size = page + 100;
	CUdeviceptr p;
	int value;

	CK(cuMemAllocManaged(&p, size, CU_MEM_ATTACH_GLOBAL));
	fact(code(cuMemAdvise(p, size + 1, prefer, here)), "advice to the end of the last page");
	fact(code(cuMemAdvise(p, 2 * page, prefer, here)), "advice on whole pages");
	fact(code(cuMemAdvise(p, 64 << 20, prefer, here)), "advice far past the end");
	fact(code(cuMemAdvise(p + 10, 10, prefer, here)), "advice on a piece of a page");
	fact(code(cuMemAdvise(p, 0, prefer, here)), "advice on nothing");
	fact(code(cuMemAdvise(p, size, prefer, nowhere)), "advice to a device there is not");
	fact(code(cuMemAdvise(p, size, 99, here)), "advice of no kind");
	fact(code(cuMemPrefetchAsync(p, size, on_host, 0, NULL)), "prefetch to the host");
	fact(code(cuMemPrefetchAsync(p, 64 << 20, here, 0, NULL)), "prefetch far past the end");
	fact(code(cuMemPrefetchAsync(p, 0, here, 0, NULL)), "prefetch of nothing");
	fact(code(cuMemPrefetchAsync(p, size, here, 1, NULL)), "prefetch with flags");
	fact(code(cuMemPrefetchAsync(p, size + 1, here, 0, NULL)), "prefetch to the end of the last page");
	fact(code(cuMemPrefetchAsync(p, size, nowhere, 0, NULL)), "prefetch to a device there is not");
	fact(code(cuMemRangeGetAttribute(&value, 2, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, size)),
	     "range attribute into 2 bytes");
	fact(code(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, 64 << 20)),
	     "range attribute far past the end");
	fact(code(cuMemRangeGetAttribute(&value, 4, CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, p, size + 1)),
	     "range attribute to the end of the last page");
	tk_sync();
	CK(cuMemFree(p));
}

void query_facts(void)
{
	static char plain[4096];
	unsigned long long value;
	struct memory m;

	for (enum kind k = 0; k < KINDS; k++) {
		m = memory_new(k);
		ranges(&m);
		attributes(&m, 0);
		attributes(&m, 500);
		attributes_at_once(m.at, kind_names[k]);
		host_side(&m);
		sharing(&m);
		advice_on(&m);
		setting_attributes(&m);
		memory_free(&m);
	}
	attributes_at_once((CUdeviceptr)plain, "unknown memory");
	fact(code(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, (CUdeviceptr)plain)),
	     "attribute of unknown memory");
	fact(code(cuPointerGetAttribute(&value, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, 0)), "attribute of NULL");
	fact(code(cuPointerGetAttribute(&value, 99, (CUdeviceptr)plain)), "attribute of no kind");
	fact(code(cuMemHostGetFlags((unsigned *)&value, plain)), "host flags of unknown memory");
	host_flags();
	advice_values();
	advice_edges();
}
