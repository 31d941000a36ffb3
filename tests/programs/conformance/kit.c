/* What the parts of the conformance program share. */
#include "conformance.h"

#include <stdarg.h>

void fact(const char *value, const char *topic, ...)
{
	va_list args;

	va_start(args, topic);
	vprintf(topic, args);
	va_end(args);
	printf(": %s\n", value);
	fflush(stdout);
}

const char *code(CUresult r)
{
	return strchr(tk_error_name(r), '_') ? tk_error_name(r) + strlen("CUDA_") : tk_error_name(r);
}

const char *yes_no(int yes)
{
	return yes ? "yes" : "no";
}

void keep_busy(CUmodule module, int ms)
{
	CUfunction spin = tk_kernel_of(module, "k_spin_ms");

	tk_launch(spin, 1, 1, NULL, TK_ARGS(&(int){1}));
	tk_sync();
	tk_launch(spin, 1, 1, NULL, TK_ARGS(&ms));
	tk_sleep_ms(5);
}

const char *number(long long n)
{
	static char text[8][24];
	static unsigned next;
	char *to = text[next++ % 8];

	snprintf(to, sizeof(text[0]), "%lld", n);
	return to;
}

const char *const kind_names[KINDS] = {"device", "device 4 MiB", "pitched", "managed",
				       "pinned", "registered",   "pool",    "vmm"};

CUresult create_physical(CUmemGenericAllocationHandle *handle, size_t size, int rdma)
{
	CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
				    .location = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device}};

	prop.allocFlags.gpuDirectRDMACapable = rdma;
	return cuMemCreate(handle, size, &prop, 0);
}

CUresult make_accessible(CUdeviceptr at, size_t size)
{
	CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, tk_device}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};

	return cuMemSetAccess(at, size, &access, 1);
}

static void memory_map(struct memory *m)
{
	CK(create_physical(&m->handle, m->size, 0));
	CK(cuMemAddressReserve(&m->at, m->size, 0, 0, 0));
	CK(cuMemMap(m->at, m->size, 0, m->handle, 0));
	CK(make_accessible(m->at, m->size));
}

struct memory memory_new(enum kind kind)
{
	struct memory m = {.kind = kind, .size = 1000};
	void *host;

	switch (kind) {
	case DEVICE_LARGE:
		m.size = 4 << 20;
		/* fallthrough */
	case DEVICE:
		CK(cuMemAlloc(&m.at, m.size));
		break;
	case PITCHED:
		CK(cuMemAllocPitch(&m.at, &m.pitch, 100, 10, 4));
		m.size = m.pitch * 10;
		break;
	case MANAGED:
		CK(cuMemAllocManaged(&m.at, m.size, CU_MEM_ATTACH_GLOBAL));
		break;
	case PINNED:
		CK(cuMemHostAlloc(&host, m.size, 0));
		m.at = (CUdeviceptr)host;
		break;
	case REGISTERED:
		m.size = 8192;
		m.own = aligned_alloc(4096, m.size + 4096); /* room for what must not be written */
		CK(cuMemHostRegister(m.own, m.size, 0));
		m.at = (CUdeviceptr)m.own;
		break;
	case POOL:
		CK(cuMemAllocAsync(&m.at, m.size, NULL));
		CK(cuStreamSynchronize(NULL));
		break;
	default:
		m.size = 2 << 20;
		memory_map(&m);
	}
	return m;
}

void memory_free(struct memory *m)
{
	switch (m->kind) {
	case PINNED:
		CK(cuMemFreeHost((void *)m->at));
		break;
	case REGISTERED:
		CK(cuMemHostUnregister(m->own));
		free(m->own);
		break;
	case POOL:
		CK(cuMemFreeAsync(m->at, NULL));
		CK(cuStreamSynchronize(NULL));
		break;
	case VMM:
		CK(cuMemUnmap(m->at, m->size));
		CK(cuMemAddressFree(m->at, m->size));
		CK(cuMemRelease(m->handle));
		break;
	default:
		CK(cuMemFree(m->at));
	}
}

CUresult copy_batch(CUdeviceptr to, CUdeviceptr from, size_t count, CUmemcpySrcAccessOrder order, CUstream s)
{
	CUmemcpyAttributes attributes = {.srcAccessOrder = order};
	CUdeviceptr dst[2] = {to, to + PIECE}, src[2] = {from, from + PIECE};
	size_t bytes[2] = {PIECE, PIECE}, first = 0;

	return cuMemcpyBatchAsync(dst, src, bytes, count, &attributes, &first, 1, s);
}

CUresult copy_box(CUdeviceptr to, CUdeviceptr from, CUstream s)
{
	CUDA_MEMCPY3D_BATCH_OP op = {
	    .src = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = from}},
	    .dst = {.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr = {.ptr = to}},
	    .extent = {16, 4, 4},
	    .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM,
	};

	return cuMemcpy3DBatchAsync(1, &op, 0, s);
}
