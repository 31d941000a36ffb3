/*
 * placed overrun AT: of buffers from two places a kernel goes beyond the one of 1000, to that offset in it. placed:
 * says where in their 2 MiB 24 buffers lie, each once it is made, and has each freed.
 */
#include "make_buffer.h"

EXPORTED CUdeviceptr make_other(size_t size)
{
	CUdeviceptr p;

	CK(cuMemAlloc(&p, size));
	return p;
}

static void overrun(long long at)
{
	CUdeviceptr other[5], p;

	tk_start();
	for (int i = 0; i < 5; i++)
		other[i] = make_other(2000);
	p = make_buffer(1000);
	tk_flip(p, at, 8);
	cuCtxSynchronize();
	usleep(100000);
	cuCtxSynchronize();
	for (int i = 0; i < 5; i++)
		cuMemFree(other[i]);
	cuMemFree(p);
}

int main(int argc, char **argv)
{
	if (argc > 2) {
		overrun(atoll(argv[2]));
		return 0;
	}
	for (int i = 0; i < 24; i++) {
		CUdeviceptr p = make_buffer(1000);

		printf("%llu\n", p % (2 << 20));
		CK(cuMemFree(p));
	}
}
