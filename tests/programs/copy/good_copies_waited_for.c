// options: backend=unified
/*
 * Copies to and from a buffer have been done when they return, for as long as it wants that. Mapped memory natively
 * cannot want it.
 */
#include "testkit.h"

static void tell(const char *what, CUdeviceptr to, CUdeviceptr from)
{
	tk_spin(NULL, 30);
	CK(cuMemcpyDtoD(to, from, 3 << 20));
	printf("%s: %s\n", what, tk_error_name(cuStreamQuery(NULL)));
}

int main(void)
{
	CUdeviceptr p = tk_alloc(3 << 20), other = tk_alloc(3 << 20);
	unsigned on = 1, off = 0;

	CK(cuPointerSetAttribute(&on, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	tell("to", p, other);
	tell("from", other, p);
	tk_sync();
	CK(cuPointerSetAttribute(&off, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, p));
	tell("not any more", p, other);
	CK(cuMemFree(p));
	CK(cuMemFree(other));
}
