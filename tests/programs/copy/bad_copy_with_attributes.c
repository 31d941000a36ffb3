// expect: 2 x api-out-of-bounds size 4096 offset +0 in copy_to_the_end
/* CUDA 13.2: copies with attributes, one at a time: those past the end are refused as natively. */
#include "make_buffer.h"
#include <dlfcn.h>

static CUresult (*copy)(CUdeviceptr, CUdeviceptr, size_t, CUmemcpyAttributes *, CUstream);
static CUstream stream; /* the default one takes no batches */
static CUresult (*copy_box)(CUDA_MEMCPY3D_BATCH_OP *, unsigned long long, CUstream);

static CUmemcpy3DOperand pointer(CUdeviceptr p)
{
	return (CUmemcpy3DOperand){.type = CU_MEMCPY_OPERAND_TYPE_POINTER, .op.ptr.ptr = p};
}

EXPORTED void copy_to_the_end(CUdeviceptr to, CUdeviceptr from, size_t size, CUresult expected)
{
	CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};
	CUDA_MEMCPY3D_BATCH_OP op = {.src = pointer(from),
				     .dst = pointer(to),
				     .extent = {size, 1, 1},
				     .srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM};

	REQUIRE(copy(to, from, size, &attributes, stream) == expected);
	REQUIRE(copy_box(&op, 0, stream) == expected);
}

int main(void)
{
	CUdeviceptr p = tk_alloc(8192), q = tk_alloc(4096);

	*(void **)&copy = dlsym(RTLD_DEFAULT, "cuMemcpyWithAttributesAsync");
	*(void **)&copy_box = dlsym(RTLD_DEFAULT, "cuMemcpy3DWithAttributesAsync");
	if (!copy || !copy_box) {
		fprintf(stderr, "skipped: the driver is older than CUDA 13.2\n");
		return 77;
	}
	stream = tk_stream();
	copy_to_the_end(q, p, 4096, CUDA_SUCCESS);
	copy_to_the_end(q, p, 4097, CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	CK(cuMemFree(q));
}
