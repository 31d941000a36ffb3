/*
 * fill_device SIZE [SMALL]: allocates until the device is full, in pieces of SIZE bytes, and says how many there were
 * and what is free then. SMALL: after as many small buffers have come and gone, and what is free is what was.
 */
#include "make_buffer.h"

static void come_and_go(int count)
{
	size_t before, after, total;
	CUdeviceptr p[16];

	REQUIRE(count <= 16);
	tk_flip(make_buffer(4096), 0, 1);
	tk_sync();
	CK(cuMemGetInfo(&before, &total));
	for (int i = 0; i < count; i++)
		p[i] = make_buffer(4096);
	for (int i = 0; i < count; i++)
		CK(cuMemFree(p[i]));
	CK(cuMemGetInfo(&after, &total));
	printf("%zu MiB missing, ", before > after ? (before - after) >> 20 : 0);
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 2 << 20;
	size_t available, total;
	CUdeviceptr p;
	CUresult r;
	int pieces = 0;

	tk_start();
	if (argc > 2)
		come_and_go(atoi(argv[2]));
	while ((r = cuMemAlloc(&p, size)) == CUDA_SUCCESS)
		pieces++;
	CK(cuMemGetInfo(&available, &total));
	printf("%d pieces, then %s, %zu MiB free\n", pieces, tk_error_name(r), available >> 20);
}
