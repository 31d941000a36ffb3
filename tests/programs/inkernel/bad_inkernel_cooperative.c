// expect: heap-buffer-overflow size 500 offset +0
// suspect: d_flip
/* Cooperative launches that allocate, write too far and free. */
#include "inkernel.h"

static void launch(const char *kernel, void **args)
{
	CK(cuLaunchCooperativeKernel(ik_kernel(kernel), 4, 1, 1, 64, 1, 1, 0, NULL, args));
}

int main(void)
{
	long long count = 256, size = 500, index = 200, one = 1, none = 0;
	CUdeviceptr p = ik_array(count);

	launch("d_alloc", TK_ARGS(&p, &count, &size, &none));
	launch("d_flip", TK_ARGS(&p, &index, &size, &one));
	launch("d_free", TK_ARGS(&p, &count, &none));
	tk_sync();
	CK(cuMemFree(p));
}
