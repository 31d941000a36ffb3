/* Allocates until the device is full, in pieces of so many bytes, and says how many there were. */
#include "make_buffer.h"

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 2 << 20;
	CUdeviceptr p;
	CUresult r;
	int pieces = 0;

	tk_start();
	while ((r = cuMemAlloc(&p, size)) == CUDA_SUCCESS)
		pieces++;
	printf("%d pieces, then %s\n", pieces, tk_error_name(r));
	return 0;
}
