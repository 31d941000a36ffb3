/*
 * The program of `make demo`: two kernels over three vectors of 1000 floats. It prints the right results, and vec_add
 * writes four bytes behind its output vector all the same.
 */
#include "testkit.h"

#define N 1000

static CUdeviceptr make_vector(float value)
{
	float host[N];
	CUdeviceptr vector;

	for (int i = 0; i < N; i++)
		host[i] = value;
	CK(cuMemAlloc(&vector, sizeof(host)));
	CK(cuMemcpyHtoD(vector, host, sizeof(host)));
	return vector;
}

static double total(CUdeviceptr vector)
{
	float host[N];
	double sum = 0;

	CK(cuMemcpyDtoH(host, vector, sizeof(host)));
	for (int i = 0; i < N; i++)
		sum += (double)host[i];
	return sum;
}

int main(void)
{
	long long n = N;
	float factor = 3;

	tk_start();
	CUdeviceptr a = make_vector(1), b = make_vector(2), sum = make_vector(0);

	tk_launch(tk_kernel("scale"), 8, 128, NULL, TK_ARGS(&b, &factor, &n));
	tk_launch(tk_kernel("vec_add"), 8, 128, NULL, TK_ARGS(&sum, &a, &b, &n));
	tk_sync();

	double got = total(sum), expected = (1 + 2 * 3) * (double)N;
	printf("sum of %d elements: %g, expected %g: %s\n", N, got, expected, got == expected ? "correct" : "WRONG");
	CK(cuMemFree(sum));
	CK(cuMemFree(b));
	CK(cuMemFree(a));
	return got == expected ? 0 : 1;
}
