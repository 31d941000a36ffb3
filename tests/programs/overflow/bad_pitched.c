// expect: heap-buffer-overflow size 10240 offset +0 in make_pitched
// suspect: k_flip
/* One byte behind the last row of a pitched buffer; what lies between the rows belongs to the program. */
#include "make_buffer.h"

EXPORTED CUdeviceptr make_pitched(size_t *pitch)
{
	CUdeviceptr p;

	CK(cuMemAllocPitch(&p, pitch, 1000, 10, 4));
	return p;
}

int main(void)
{
	CUdeviceptr p;
	size_t pitch;

	tk_start();
	p = make_pitched(&pitch);
	REQUIRE(pitch == 1024);
	tk_flip(p, 1000, 24);
	tk_flip(p, 10 * (long long)pitch, 1);
	tk_sync();
	CK(cuMemFree(p));
}
