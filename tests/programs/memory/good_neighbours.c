/* Hundreds of buffers of odd sizes live at once, all of them full; each keeps what was put into it. */
#include "testkit.h"

#define BUFFERS 600

int main(void)
{
	static unsigned char host[2000];
	static CUdeviceptr p[BUFFERS];
	int right = 0;

	tk_start();
	for (int i = 0; i < BUFFERS; i++) {
		CK(cuMemAlloc(&p[i], 1 + 3 * i));
		CK(cuMemsetD8(p[i], (unsigned char)i, 1 + 3 * i));
	}
	for (int i = 0; i < BUFFERS; i++) {
		int ok = 1;

		CK(cuMemcpyDtoH(host, p[i], 1 + 3 * i));
		for (int k = 0; k < 1 + 3 * i; k++)
			ok &= host[k] == (unsigned char)i;
		right += ok;
		CK(cuMemFree(p[i]));
	}
	printf("%d buffers right\n", right);
}
