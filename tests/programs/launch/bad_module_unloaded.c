// expect: heap-buffer-overflow size 300 offset +0 in make_buffer
// suspect: k_flip
/* The bytes lie on the device and are looked at when the buffer is freed: by then the kernel's module is gone. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(300);

	tk_flip(p, 300, 1);
	CK(cuModuleUnload(tk_module));
	CK(cuMemFree(p));
}
