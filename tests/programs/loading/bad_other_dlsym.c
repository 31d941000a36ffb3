// case: bad_other_dlsym_first => preload-first: plugin_dlsym.so
// case: bad_other_dlsym_last => preload-last: plugin_dlsym.so
// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip
/* Another preloaded library, before or after GMOD, hooks dlsym too. */
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
}
