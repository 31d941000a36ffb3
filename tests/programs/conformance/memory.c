/* Allocation: sizes, alignment, accounting, frees that are wrong; copies and fills past the end. */
#include "conformance.h"

static int by_address(const void *a, const void *b)
{
	CUdeviceptr x = *(const CUdeviceptr *)a, y = *(const CUdeviceptr *)b;

	return x < y ? -1 : x > y;
}

/* The smallest distance between some allocations, and whether all are multiples of step. */
static void spacing(size_t size, size_t step)
{
	enum { COUNT = 16 };
	CUdeviceptr p[COUNT], least = -1;
	int aligned = 1;

	for (int i = 0; i < COUNT; i++)
		CK(cuMemAlloc(&p[i], size));
	qsort(p, COUNT, sizeof(p[0]), by_address);
	for (int i = 0; i < COUNT; i++) {
		aligned &= p[i] % step == 0;
		if (i && p[i] - p[i - 1] < least)
			least = p[i] - p[i - 1];
	}
	for (int i = 0; i < COUNT; i++)
		CK(cuMemFree(p[i]));
	fact(number(least), "spacing of cuMemAlloc(%zu)", size);
	fact(yes_no(aligned), "cuMemAlloc(%zu) is a multiple of %zu", size, step);
}

static void alignment_of_others(void)
{
	static const size_t steps[] = {256, 512, 4096, 2 << 20};
	struct memory m;

	for (enum kind k = PITCHED; k < KINDS; k++)
		for (int s = 0; k != REGISTERED && s < 3 + (k == VMM); s++) {
			m = memory_new(k);
			fact(yes_no(m.at % steps[s] == 0), "%s is a multiple of %zu", kind_names[k], steps[s]);
			memory_free(&m);
		}
}

static void pitches(void)
{
	static const size_t widths[] = {1, 4, 100, 256, 257, 511, 512, 513, 1000, 4096, 5000, 100000};
	static const unsigned elements[] = {0, 1, 2, 3, 4, 8, 12, 16, 32};
	CUdeviceptr p, base;
	size_t pitch, size;
	CUresult r;

	for (unsigned i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
		CK(cuMemAllocPitch(&p, &pitch, widths[i], 3, 4));
		CK(cuMemGetAddressRange(&base, &size, p));
		fact(number(pitch), "pitch of a width of %zu", widths[i]);
		fact(number(size), "size of 3 rows of a width of %zu", widths[i]);
		CK(cuMemFree(p));
	}
	for (unsigned i = 0; i < sizeof(elements) / sizeof(elements[0]); i++) {
		r = cuMemAllocPitch(&p, &pitch, 100, 10, elements[i]);
		fact(code(r), "pitch with elements of %u", elements[i]);
		if (!r)
			CK(cuMemFree(p));
	}
}

static void zero_sizes(void)
{
	CUdeviceptr p = 0;
	size_t pitch;
	void *h = NULL;
	char bytes[16] = "";

	fact(code(cuMemAlloc(&p, 0)), "cuMemAlloc(0)");
	fact(code(cuMemAlloc(NULL, 16)), "cuMemAlloc(NULL)");
	fact(code(cuMemAllocManaged(&p, 0, CU_MEM_ATTACH_GLOBAL)), "cuMemAllocManaged(0)");
	fact(code(cuMemAllocManaged(&p, 16, 0)), "cuMemAllocManaged with flags 0");
	fact(code(cuMemAllocManaged(&p, 16, CU_MEM_ATTACH_SINGLE)), "cuMemAllocManaged with ATTACH_SINGLE");
	fact(code(cuMemHostAlloc(&h, 0, 0)), "cuMemHostAlloc(0)");
	fact(code(cuMemHostAlloc(&h, 16, 0x100)), "cuMemHostAlloc with unknown flags");
	fact(code(cuMemAllocHost(&h, 0)), "cuMemAllocHost(0)");
	fact(code(cuMemAllocPitch(&p, &pitch, 0, 1, 4)), "cuMemAllocPitch of width 0");
	fact(code(cuMemAllocPitch(&p, &pitch, 1, 0, 4)), "cuMemAllocPitch of height 0");
	fact(code(cuMemAllocPitch(&p, NULL, 1, 1, 4)), "cuMemAllocPitch without a pitch");
	fact(code(cuMemAllocAsync(&p, 0, NULL)), "cuMemAllocAsync(0)");
	fact(code(cuMemHostRegister(bytes, 0, 0)), "cuMemHostRegister(0)");
	fact(code(cuMemcpyHtoD(0, bytes, 0)), "copy of 0 bytes to NULL");
	fact(code(cuMemcpyDtoH(bytes, 0, 0)), "copy of 0 bytes from NULL");
	fact(code(cuMemcpy(0, 0, 0)), "unified copy of 0 bytes");
	fact(code(cuMemsetD8(0, 0, 0)), "fill of 0 bytes at NULL");
	fact(code(cuMemGetAddressRange(&p, &pitch, 0)), "cuMemGetAddressRange(0)");
}

static const char *given(unsigned long long p)
{
	return !p ? "NULL" : p == 77 ? "nothing" : "an address";
}

static void nothing_at_all(void)
{
	CUdeviceptr p = 77;
	void *h = (void *)77;

	CK(cuMemHostAlloc(&h, 0, 0));
	fact(given((CUdeviceptr)h), "cuMemHostAlloc(0) gives");
	h = (void *)77;
	CK(cuMemAllocHost(&h, 0));
	fact(given((CUdeviceptr)h), "cuMemAllocHost(0) gives");
	CK(cuMemAllocAsync(&p, 0, NULL));
	fact(given(p), "cuMemAllocAsync(0) gives");
}

static void too_much(void)
{
	size_t free_bytes, total;
	CUdeviceptr p = 0;
	void *h = NULL;

	CK(cuMemGetInfo(&free_bytes, &total));
	fact(code(cuMemAlloc(&p, total)), "cuMemAlloc of all memory");
	fact(code(cuMemAlloc(&p, total * 2)), "cuMemAlloc of twice all memory");
	fact(code(cuMemAlloc(&p, SIZE_MAX)), "cuMemAlloc(SIZE_MAX)");
	fact(code(cuMemAlloc(&p, SIZE_MAX - 4096)), "cuMemAlloc(SIZE_MAX - 4096)");
	fact(code(cuMemHostAlloc(&h, SIZE_MAX, 0)), "cuMemHostAlloc(SIZE_MAX)");
	fact(code(cuMemAllocManaged(&p, SIZE_MAX, CU_MEM_ATTACH_GLOBAL)), "cuMemAllocManaged(SIZE_MAX)");
	fact(code(cuMemAllocPitch(&p, &total, SIZE_MAX / 2, 3, 4)), "cuMemAllocPitch that overflows");
	fact(code(cuMemAllocAsync(&p, SIZE_MAX, NULL)), "cuMemAllocAsync(SIZE_MAX)");
	fact(yes_no(cuMemGetInfo(&total, &total) == CUDA_SUCCESS), "an out-of-memory error is not sticky");
}

static size_t free_now(void)
{
	size_t free_bytes, total;

	CK(cuMemGetInfo(&free_bytes, &total));
	return free_bytes;
}

static void accounting(void)
{
	CUmemLocation here = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device};
	const size_t size = 64 << 20;
	size_t before = free_now();
	void *h;
	CUdeviceptr p = tk_alloc(size);

	fact(yes_no(before - free_now() == size), "64 MiB of device memory cost 64 MiB");
	CK(cuMemFree(p));
	fact(yes_no(free_now() == before), "and give them back");
	CK(cuMemHostAlloc(&h, size, 0));
	fact(yes_no(free_now() == before), "64 MiB of pinned memory cost nothing");
	CK(cuMemFreeHost(h));
	CK(cuMemAllocManaged(&p, size, CU_MEM_ATTACH_GLOBAL));
	fact(yes_no(free_now() == before), "64 MiB of managed memory cost nothing");
	CK(cuMemPrefetchAsync(p, size, here, 0, NULL));
	tk_sync();
	fact(yes_no(before - free_now() >= size), "until they are prefetched");
	CK(cuMemFree(p));
	tk_sync();
	fact(yes_no(free_now() == before), "and give them back, too");
}

/* A wrong free that succeeds has freed the memory. */
static void wrong_free(CUresult r, const char *how, struct memory *m)
{
	fact(code(r), "%s of %s", how, kind_names[m->kind]);
	if (!r)
		m->at = 0;
}

static void wrong_frees_of_base(struct memory *m)
{
	enum kind k = m->kind;

	if (k == PINNED || k == REGISTERED || k == VMM)
		wrong_free(cuMemFree(m->at), "cuMemFree", m);
	if (m->at && k != PINNED)
		wrong_free(cuMemFreeHost((void *)m->at), "cuMemFreeHost", m);
	if (m->at && k != REGISTERED)
		wrong_free(cuMemHostUnregister((void *)m->at), "cuMemHostUnregister", m);
	if (m->at && (k == MANAGED || k == PINNED || k == REGISTERED || k == VMM))
		wrong_free(cuMemFreeAsync(m->at, NULL), "cuMemFreeAsync", m);
}

static void frees_again(const struct memory *m)
{
	enum kind k = m->kind;

	if (k <= MANAGED || k == POOL)
		fact(code(cuMemFree(m->at)), "cuMemFree of freed %s", kind_names[k]);
	if (k == POOL)
		fact(code(cuMemFreeAsync(m->at, NULL)), "cuMemFreeAsync of freed %s", kind_names[k]);
	if (k == PINNED)
		fact(code(cuMemFreeHost((void *)m->at)), "cuMemFreeHost of freed %s", kind_names[k]);
}

static void wrong_frees_of(enum kind k)
{
	struct memory m = memory_new(k);
	const char *name = kind_names[k];

	fact(code(cuMemFree(m.at + 16)), "cuMemFree of the inside of %s", name);
	fact(code(cuMemFreeHost((void *)(m.at + 16))), "cuMemFreeHost of the inside of %s", name);
	fact(code(cuMemFreeAsync(m.at + 16, NULL)), "cuMemFreeAsync of the inside of %s", name);
	wrong_frees_of_base(&m);
	tk_sync();
	if (!m.at)
		return;
	memory_free(&m);
	frees_again(&m);
}

static void wrong_frees(void)
{
	CUdeviceptr p;
	int local = 0;

	fact(code(cuMemFree(0)), "cuMemFree(NULL)");
	fact(code(cuMemFreeHost(NULL)), "cuMemFreeHost(NULL)");
	fact(code(cuMemFreeAsync(0, NULL)), "cuMemFreeAsync(NULL)");
	fact(code(cuMemFree((CUdeviceptr)&local)), "cuMemFree of a local variable");
	fact(code(cuMemFreeHost(&local)), "cuMemFreeHost of a local variable");
	for (enum kind k = 0; k < KINDS; k++)
		wrong_frees_of(k);
	CK(cuMemAllocAsync(&p, 1000, NULL));
	tk_sync();
	fact(code(cuMemFree(p)), "cuMemFree of pool memory");
	CK(cuMemAlloc(&p, 1000));
	fact(code(cuMemFreeAsync(p, NULL)), "cuMemFreeAsync of device memory");
	tk_sync();
}

static void past_the_end_of(enum kind k)
{
	struct memory m = memory_new(k);
	const char *name = kind_names[k];
	char *bytes = calloc(1, m.size + 1);
	CUdeviceptr other = tk_alloc(m.size + 1);

	fact(code(cuMemcpyHtoD(m.at, bytes, m.size)), "copy to %s, all of it", name);
	fact(code(cuMemcpyHtoD(m.at, bytes, m.size + 1)), "copy to %s, a byte too many", name);
	fact(code(cuMemcpyHtoD(m.at + 100, bytes, m.size - 99)), "copy to the inside of %s, a byte too many", name);
	fact(code(cuMemcpyHtoDAsync(m.at, bytes, m.size + 1, NULL)), "async copy to %s, a byte too many", name);
	fact(code(cuMemcpyDtoH(bytes, m.at, m.size + 1)), "copy from %s, a byte too many", name);
	fact(code(cuMemcpyDtoD(other, m.at, m.size + 1)), "copy from %s to device, a byte too many", name);
	fact(code(cuMemcpyDtoD(m.at, other, m.size + 1)), "copy from device to %s, a byte too many", name);
	fact(code(cuMemcpy(m.at, other, m.size + 1)), "unified copy to %s, a byte too many", name);
	fact(code(cuMemsetD8(m.at, 0, m.size)), "fill of %s, all of it", name);
	fact(code(cuMemsetD8(m.at, 0, m.size + 1)), "fill of %s, a byte too many", name);
	fact(code(cuMemsetD8Async(m.at, 0, m.size + 1, NULL)), "async fill of %s, a byte too many", name);
	fact(code(cuMemsetD32(m.at, 0, m.size / 4 + 1)), "fill of %s, a word too many", name);
	fact(code(cuMemsetD16(m.at + 1, 0, 1)), "fill of %s, not aligned", name);
	fact(code(cuMemsetD2D8(m.at, 100, 0, 50, m.size / 100 + 2)), "fill of rows of %s, a row too many", name);
	tk_sync();
	CK(cuMemFree(other));
	memory_free(&m);
	free(bytes);
}

/* The descriptor's last row ends where the buffer does, or a byte behind it. */
static void boxes_past_the_end(void)
{
	static char host[64 * 16 + 1];
	CUDA_MEMCPY2D p = {.srcMemoryType = CU_MEMORYTYPE_HOST,
			   .srcHost = host,
			   .srcPitch = 64,
			   .WidthInBytes = 40,
			   .dstMemoryType = CU_MEMORYTYPE_DEVICE,
			   .dstPitch = 64,
			   .Height = 16};

	CK(cuMemAlloc(&p.dstDevice, 64 * 15 + 40));
	fact(code(cuMemcpy2D(&p)), "2D copy whose last row just fits");
	p.WidthInBytes = 41;
	fact(code(cuMemcpy2D(&p)), "2D copy whose last row is a byte too long");
	p.WidthInBytes = 65;
	fact(code(cuMemcpy2D(&p)), "2D copy with rows longer than the pitch");
	p.WidthInBytes = 40;
	p.Height = 0;
	fact(code(cuMemcpy2D(&p)), "2D copy of no rows");
	CK(cuMemFree(p.dstDevice));
}

void memory_facts(void)
{
	static const size_t sizes[] = {1, 512, 513, 1000, 4096, 1 << 20, (2 << 20) - 512, 2 << 20, 3 << 20};

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
		spacing(sizes[i], sizes[i] < 2 << 20 ? 512 : 2 << 20);
	alignment_of_others();
	pitches();
	zero_sizes();
	nothing_at_all();
	too_much();
	accounting();
	wrong_frees();
	for (enum kind k = 0; k < KINDS; k++)
		past_the_end_of(k);
	boxes_past_the_end();
}
