/* Small buffers come and go, two at a time, in two contexts of which one goes and takes the last of its own along. */
#include "testkit.h"

static unsigned use(CUdeviceptr p, unsigned n)
{
	unsigned back = 0;

	CK(cuMemcpyHtoD(p, &n, sizeof(n)));
	CK(cuMemcpyDtoH(&back, p, sizeof(back)));
	return back;
}

static unsigned come_and_go(unsigned rounds)
{
	CUdeviceptr p, q;
	unsigned sum = 0;

	for (unsigned r = 0; r < rounds; r++) {
		CK(cuMemAlloc(&p, 4 + r * 100));
		CK(cuMemAlloc(&q, 4));
		sum += use(p, r) + use(q, r);
		CK(cuMemFree(p));
		CK(cuMemFree(q));
	}
	return sum;
}

int main(void)
{
	CUcontext other;
	CUdeviceptr left;
	unsigned sum;

	tk_start();
	sum = come_and_go(20);
	CK(tk_create_context(&other, tk_device));
	sum += come_and_go(3);
	CK(cuMemAlloc(&left, 1000));
	CK(cuCtxDestroy(other));
	CK(cuCtxSetCurrent(tk_context));
	sum += come_and_go(3);
	printf("%u\n", sum);
}
