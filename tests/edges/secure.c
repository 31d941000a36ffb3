/* Says whether the loader runs it in secure-execution mode; linked with libgmod.so and the driver (bystanders.sh). */
#include "make_buffer.h"
#include <sys/auxv.h>

int main(void)
{
	CUdeviceptr p, base;
	size_t size;

	tk_init();
	CK(cuDevicePrimaryCtxRetain(&tk_context, 0));
	CK(cuCtxSetCurrent(tk_context));
	p = make_buffer(1000);
	CK(cuMemGetAddressRange(&base, &size, p));
	printf("secure: %d, buffer of %zu\n", getauxval(AT_SECURE) != 0, size);
	CK(cuMemFree(p));
}
