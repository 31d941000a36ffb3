/* Fills of device memory, and copies within it, return though a kernel ahead of them waits for the host. */
#include "testkit.h"

int main(void)
{
	static unsigned char host[2000];
	long long off = 0, count = 2000;
	size_t right = 0;
	volatile int *flag = tk_flag();
	CUdeviceptr other = tk_alloc(2000);
	CUdeviceptr p = tk_alloc(2000);
	CUdeviceptr q = tk_alloc(3000000);

	CK(cuMemsetD8(other, 0, 2000));
	tk_sync();
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, NULL, TK_ARGS(&other, &off, &count, &flag));
	CK(cuMemsetD8(p, 1, 2000));
	CK(cuMemsetD32(p, 0x02020202, 100));
	CK(cuMemsetD2D8(p, 100, 3, 50, 10));
	CK(cuMemcpyDtoD(q, p, 2000));
	CK(cuMemcpyDtoD(p + 1000, p, 1000));
	CK(cuMemcpy(q + 2000, p, 500));
	puts("returned");
	*flag = 1;
	CK(cuMemcpyDtoH(host, p, 2000));
	for (int i = 0; i < 2000; i++)
		right += host[i] == (i % 1000 < 950 && i % 100 < 50 ? 3 : i % 1000 < 400 ? 2 : 1);
	printf("%zu of 2000 right\n", right);
	CK(cuMemcpyDtoH(host, q + 2000, 500));
	printf("last of the copy: %d\n", host[499]);
}
