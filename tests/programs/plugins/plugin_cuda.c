/* A library that uses CUDA and is unloaded again (good_dlclose, bad_dlclosed). */
#include "testkit.h"

__attribute__((visibility("default"))) CUdeviceptr plugin_make_buffer(size_t size)
{
	CUdeviceptr p;

	CK(cuMemAlloc(&p, size));
	return p;
}

__attribute__((visibility("default"))) void plugin_flip(CUmodule module, CUdeviceptr p, long long off, long long count)
{
	tk_launch_n(tk_kernel_of(module, "k_flip"), count, NULL, TK_ARGS(&p, &off, &count));
}
