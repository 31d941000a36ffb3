/*
 * A program that reads where it should not: sums over what lies before and behind its buffers, each buffer twice at the
 * same address. Natively this is other memory or an error; under GMOD no two of the sums are alike.
 */
#include "make_buffer.h"

enum { SIZE = 4096, ZONE = 1024 };

static unsigned long long sum_at(CUdeviceptr p, CUdeviceptr result)
{
	unsigned long long sum;
	long long words = ZONE / 4;

	CK(cuMemsetD8(result, 0, sizeof(sum)));
	tk_launch(tk_kernel("k_sum"), 1, 1, NULL, TK_ARGS(&result, &p, &words));
	CK(cuMemcpyDtoH(&sum, result, sizeof(sum)));
	return sum;
}

int main(void)
{
	CUdeviceptr p[4], before[4] = {0};
	CUdeviceptr result = make_buffer(8);

	for (int round = 0; round < 2; round++) {
		for (int i = 0; i < 4; i++)
			p[i] = make_buffer(SIZE);
		for (int i = 0; i < 4; i++) {
			fprintf(stderr, "%llx %s\n", (unsigned long long)p[i],
				p[i] == before[0] || p[i] == before[1] || p[i] == before[2] || p[i] == before[3]
				    ? "reused"
				    : "new");
			printf("%llx\n%llx\n", sum_at(p[i] - ZONE, result), sum_at(p[i] + SIZE, result));
		}
		for (int i = 0; i < 4; i++) {
			before[i] = p[i];
			CK(cuMemFree(p[i]));
		}
	}
}
