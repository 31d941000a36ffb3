// case: good_pool_loaded_first 0
// case: bad_pool_loaded_first 1 => heap-buffer-overflow size 1000 offset +0 in make_pooled
// options: max_overhead=100
// suspect: k_flip
/* A module is loaded between an allocation and its first kernel, as the runtime does where a kernel is launched first.
 */
#include "pooled.h"

int main(void)
{
	CUdeviceptr p = make_pooled(SIZE, NULL);
	CUmodule module = tk_load_kernels();

	flip_end(p, SIZE, NULL, CASE);
	CK(cuMemFreeAsync(p, NULL));
	tk_sync();
	CK(cuModuleUnload(module));
	puts("done");
}
