/* The program exits with what its kernels allocated, of all kinds, and with a kernel that may still be running. */
#include "inkernel.h"

int main(void)
{
	long long count = 5000;
	CUdeviceptr p;

	ik_start();
	for (long long size = 0; size < 1000; size += 100) {
		p = ik_alloc(count, size);
		tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
		ik_free(p, count / 2, 0);
	}
	puts("left");
}
