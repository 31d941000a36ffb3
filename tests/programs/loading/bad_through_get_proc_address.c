// expect: heap-buffer-overflow size 4000 offset +0 in make_by_pointer
// suspect: k_flip
/* The driver is asked for its functions by cuGetProcAddress, itself asked for by cuGetProcAddress. */
#include "make_buffer.h"

static CUresult (*mem_alloc)(CUdeviceptr *, size_t);
static CUresult (*mem_free)(CUdeviceptr);

typedef CUresult get_fn(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

EXPORTED CUdeviceptr make_by_pointer(size_t size)
{
	CUdeviceptr p;

	CK(mem_alloc(&p, size));
	return p;
}

int main(void)
{
	get_fn *get;
	CUdeviceptr p;

	tk_start();
	CK(cuGetProcAddress("cuGetProcAddress", (void **)&get, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	CK(get("cuMemAlloc", (void **)&mem_alloc, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	CK(get("cuMemFree", (void **)&mem_free, 12000, CU_GET_PROC_ADDRESS_DEFAULT, NULL));
	p = make_by_pointer(4000);
	tk_flip(p, 4000, 1);
	tk_sync();
	CK(mem_free(p));
}
