/*
 * The program of `make demo`: two kernels over three vectors of 1000 floats. It prints the right results, and vec_add
 * writes four bytes behind its output vector all the same. With the argument fault it faults instead, for
 * gmod doctor --fault.
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

static float factor = 3;

/* A wait behind a fault may say that all is well. */
static int fault(void)
{
	CUdeviceptr nowhere = 0;
	long long n = 1;

	tk_launch(tk_kernel("scale"), 1, 1, NULL, TK_ARGS(&nowhere, &factor, &n));
	for (int i = 0; i < 5000 && cuCtxSynchronize() == CUDA_SUCCESS; i++)
		tk_sleep_ms(1);
	return 0;
}

int main(int argc, char **argv)
{
	long long n = N;

	tk_start();
	if (argc > 1 && !strcmp(argv[1], "fault"))
		return fault();
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
