/* A buffer is freed while another context than its own is current, behind a kernel in its own that overruns it. */
#include "make_buffer.h"

int main(void)
{
	CUcontext mine;
	CUdeviceptr p;

	tk_start();
	mine = tk_new_context();
	p = make_buffer(1000);
	tk_spin(NULL, 50);
	tk_flip(p, 1000, 1);
	CK(cuCtxPopCurrent(&mine));
	CK(cuMemFree(p));
	CK(cuCtxDestroy(mine));
}
