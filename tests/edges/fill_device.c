/* Allocates until the device is full, in pieces of so many bytes, and says how many there were and what is free then.
 */
#include "make_buffer.h"

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 2 << 20;
	size_t available, total;
	CUdeviceptr p;
	CUresult r;
	int pieces = 0;

	tk_start();
	while ((r = cuMemAlloc(&p, size)) == CUDA_SUCCESS)
		pieces++;
	CK(cuMemGetInfo(&available, &total));
	printf("%d pieces, then %s, %zu MiB free\n", pieces, tk_error_name(r), available >> 20);
	return 0;
}
