/* A kernel waits for the host, which allocates before it lets the kernel go on: no allocation may wait for it. */
#include "testkit.h"

int main(void)
{
	static unsigned char host[4096];
	long long zero = 0, one = 1;
	CUdeviceptr q[20], m;
	CUstream stream;
	double start;
	void *h;
	CUfunction f = tk_kernel("k_wait_flip");
	volatile int *go_on = tk_flag();
	CUdeviceptr p = tk_alloc(4096);

	CK(cuMemAlloc(&q[0], 4096));
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	tk_launch(f, 1, 1, stream, TK_ARGS(&p, &zero, &one, &go_on));
	start = tk_ms();
	for (int i = 1; i < 20; i++)
		CK(cuMemAlloc(&q[i], 1000 * i));
	CK(cuMemAlloc(&q[0], 5 << 20));
	CK(cuMemAllocManaged(&m, 4000, CU_MEM_ATTACH_GLOBAL));
	CK(cuMemHostAlloc(&h, 4000, 0));
	printf("still running: %d\n", cuStreamQuery(stream) == CUDA_ERROR_NOT_READY);
	*go_on = 1;
	CK(cuStreamSynchronize(stream));
	REQUIRE(tk_ms() - start < 10000);
	CK(cuMemcpyDtoH(host, p, 4096));
	for (int i = 0; i < 20; i++)
		CK(cuMemFree(q[i]));
	CK(cuMemFree(m));
	CK(cuMemFreeHost(h));
	CK(cuMemFree(p));
}
