// expect: heap-buffer-overflow size 4000 offset +0 in make_pinned
// suspect: k_flip
/* Pinned host memory, overrun by a kernel. */
#include "make_buffer.h"

int main(void)
{
	char *host = make_pinned(4000);

	tk_flip((CUdeviceptr)host, 4000, 16);
	tk_sync();
	CK(cuMemFreeHost(host));
}
