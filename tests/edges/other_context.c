/*
 * other_context [SIZE none]: a buffer is freed while another context than its own is current, or none, behind a kernel
 * in its own that overruns it.
 */
#include "make_buffer.h"

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	CUcontext mine;
	CUdeviceptr p;

	tk_start();
	mine = tk_new_context();
	p = make_buffer(size);
	tk_spin(NULL, 50);
	tk_flip(p, (long long)size, 1);
	CK(cuCtxPopCurrent(&mine));
	if (argc > 2)
		CK(cuCtxSetCurrent(NULL));
	CK(cuMemFree(p));
	CK(cuCtxDestroy(mine));
}
