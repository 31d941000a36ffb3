// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip
// preload-last: plugin_dlsym.so
/* Another preloaded library, after GMOD, hooks dlsym too. */
#include "make_buffer.h"
#include <dlfcn.h>

int main(void)
{
	CUresult (*mem_free)(CUdeviceptr);
	CUdeviceptr p;

	*(void **)&mem_free = dlsym(RTLD_DEFAULT, "cuMemFree_v2");
	REQUIRE(mem_free);
	REQUIRE(dlsym(RTLD_DEFAULT, "no_such_function") == NULL);
	tk_start();
	p = make_buffer(4000);
	tk_flip(p, 4000, 1);
	tk_sync();
	CK(mem_free(p));
	return 0;
}
