// expect: heap-buffer-underflow size 1000 offset -1 in make_pinned_host
/* Pinned host memory by cuMemAllocHost, the byte before its start written by the CPU, seen at exit. */
#include "make_buffer.h"

EXPORTED char *make_pinned_host(size_t size)
{
	void *p;

	CK(cuMemAllocHost(&p, size));
	return p;
}

int main(void)
{
	volatile char *host;

	tk_start();
	host = make_pinned_host(1000);
	host[-1] ^= 0x5a;
}
