// expect: heap-buffer-overflow size 777 offset +0 in make_pinned
/* Pinned host memory, overrun by the program itself. */
#include "make_buffer.h"

int main(void)
{
	volatile char *host = make_pinned(777);

	host[777] ^= 0x5a;
	CK(cuMemFreeHost((void *)host));
}
