// under unified: skip-on: sim
// under managed: skip-on: sim
/* A network adapter gets buffers of whole multiples of 64 KiB as dma-bufs, which takes whole pages: as natively. GMOD
 * says that the buffers of these backends cannot be shared this way. */
#include "testkit.h"

#include <unistd.h>

int main(void)
{
	static const size_t sizes[] = {1 << 20, 64 << 10, 192 << 10, 1 << 20, 64 << 10};

	tk_start();
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		CUdeviceptr p = tk_alloc(sizes[i]);
		int fd;

		CK(cuMemGetHandleForAddressRange(&fd, p, sizes[i], CU_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD, 0));
		close(fd);
	}
	puts("done");
}
