/* The module is unloaded with its buffers alive and loaded again, many times; another one keeps them meanwhile. */
#include "inkernel.h"

int main(void)
{
	long long count = 100, size = 200;
	CUdeviceptr p;
	CUmodule first = ik_another();
	CUdeviceptr bad = ik_counter();

	for (int i = 0; i < 100; i++) {
		p = ik_alloc(count, size);
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
		CK(cuModuleUnload(ik_module));
		if (i % 10 == 9) { /* now and then there is none */
			CK(cuModuleUnload(first));
			first = ik_another();
		}
		CK(cuModuleLoad(&ik_module, ik_file()));
		tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
		ik_free(p, count, 0);
		CK(cuMemFree(p));
	}
	printf("bytes gone: %d\n", ik_count(bad));
}
