/* Kernels that do nothing wrong, so that the patrol goes on looking. */
#include <unistd.h>

#include "testkit.h"

/* So many, each waited for, and a millisecond between them. */
static void flip_rounds(CUdeviceptr p, int rounds)
{
	for (int i = 0; i < rounds; i++) {
		tk_flip(p, 0, 64);
		tk_sync();
		usleep(1000);
	}
}
