/* An everyday program: two arrays in, one out, the result checked to the bit. */
#include "testkit.h"

#define N 100000

int main(void)
{
	static float x[N], y[N];
	unsigned long long sum = 0;
	long long n = N;
	float a = 2;
	CUdeviceptr dx, dy, dsum;

	tk_start();
	for (int i = 0; i < N; i++) {
		x[i] = (float)(i % 1000);
		y[i] = 1;
	}
	CK(cuMemAlloc(&dx, sizeof(x)));
	CK(cuMemAlloc(&dy, sizeof(y)));
	CK(cuMemAlloc(&dsum, sizeof(sum)));
	CK(cuMemcpyHtoD(dx, x, sizeof(x)));
	CK(cuMemcpyHtoD(dy, y, sizeof(y)));
	CK(cuMemsetD32(dsum, 0, 2));
	tk_launch_n(tk_kernel("k_axpy"), n, NULL, TK_ARGS(&dy, &dx, &a, &n));
	tk_launch(tk_kernel("k_sum"), 16, 128, NULL, TK_ARGS(&dsum, &dy, &n));
	CK(cuMemcpyDtoH(&sum, dsum, sizeof(sum)));
	CK(cuMemcpyDtoH(y, dy, sizeof(y)));
	printf("%llu, last %g\n", sum, y[N - 1]);
	CK(cuMemFree(dx));
	CK(cuMemFree(dy));
	CK(cuMemFree(dsum));
}
