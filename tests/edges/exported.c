/* A buffer that a network card may write to, by DMA-BUF, is overrun by a kernel: it may have been the card. */
#include "make_buffer.h"

#include <unistd.h>

enum { SIZE = 2 << 20 };

int main(void)
{
	CUdeviceptr p = make_buffer(SIZE);
	int fd;

	CK(cuMemGetHandleForAddressRange(&fd, p, SIZE, CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
	close(fd);
	tk_flip(p, SIZE, 4);
	tk_sync();
	CK(cuMemFree(p));
}
