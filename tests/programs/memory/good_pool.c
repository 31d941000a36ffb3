// guarded: no
/* Stream-ordered allocations, freed in stream order and also by cuMemFree. */
#include "testkit.h"

int main(void)
{
	CUdeviceptr p[20];
	CUstream stream = tk_stream();

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < 20; i++) {
			CK(cuMemAllocAsync(&p[i], 1000 + 100 * i, stream));
			tk_flip_on(stream, p[i], 0, 1000 + 100 * i);
		}
		CK(cuStreamSynchronize(stream));
		for (int i = 0; i < 20; i++)
			CK(i % 5 ? cuMemFreeAsync(p[i], stream) : cuMemFree(p[i]));
	}
	CK(cuStreamSynchronize(stream));
	CK(cuStreamDestroy(stream));
	puts("done");
}
