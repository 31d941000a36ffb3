/* The program closes its stderr, and descriptor 2 becomes a data file of its own: no report may end up in there. */
#include "make_buffer.h"
#include <fcntl.h>

int main(void)
{
	CUdeviceptr p;
	int fd;

	tk_start();
	close(2);
	fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	REQUIRE(fd == 2);
	p = make_buffer(4096);
	tk_flip(p, 4096, 1);
	tk_sync();
	CK(cuMemFree(p));
}
