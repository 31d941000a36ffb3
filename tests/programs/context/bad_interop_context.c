// expect: heap-buffer-overflow size 6000 offset +0 in make_portable
// suspect: k_wait_flip
// preload-last: plugin_interop.so
/* A second context that is made behind GMOD's back: it is met when a module is loaded there. */
#include "second_context.h"
#include <dlfcn.h>

static CUfunction in_new_context(void)
{
	CUresult (*make)(CUcontext *, CUdevice);
	CUcontext c;

	*(void **)&make = dlsym(RTLD_DEFAULT, "make_interop_context");
	REQUIRE(make);
	CK(make(&c, tk_device));
	return tk_kernel_of(tk_load_kernels(), "k_wait_flip");
}

int main(void)
{
	tk_start();
	overrun_from(in_new_context);
}
