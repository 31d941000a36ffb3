// under managed: differs: pages are the device's once they are used
// skip-on: gpu
// sim-env: SIM_MEMORY=268435456
// guarded: no
/* The device is filled in pieces until it refuses; what was refused fits again once something is freed. */
#include "testkit.h"

#define PIECE ((size_t)8 << 20)

int main(void)
{
	static CUdeviceptr p[10000];
	size_t free_bytes, total;
	int n = 0, most;

	tk_start();
	CK(cuMemGetInfo(&free_bytes, &total));
	most = (int)(free_bytes / PIECE);
	REQUIRE(most < 9999);
	while (n <= most && cuMemAlloc(&p[n], PIECE) == CUDA_SUCCESS)
		n++;
	printf("refused in time: %s\n", n <= most ? "yes" : "no");
	printf("most of it was given: %s\n", n >= most * 3 / 4 ? "yes" : "no");
	CK(cuMemFree(p[n / 2]));
	CK(cuMemAlloc(&p[n / 2], PIECE));
	tk_flip(p[n / 2], 0, 4096);
	while (n > 0)
		CK(cuMemFree(p[--n]));
	CK(cuMemAlloc(&p[0], PIECE * 4));
	CK(cuMemFree(p[0]));
	puts("and given back");
}
