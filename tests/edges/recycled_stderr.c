/*
 * The program closes its stderr, and descriptor 2 becomes a data file of its own: no report may end up in there. With
 * an argument it gives itself its stderr back in the end, as pytest does behind each test.
 */
#include "make_buffer.h"
#include <fcntl.h>

int main(int argc, char **argv TK_UNUSED)
{
	CUdeviceptr p;
	int fd, kept = dup(2);

	tk_start();
	close(2);
	fd = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	REQUIRE(fd == 2);
	p = make_buffer(4096);
	tk_flip(p, 4096, 1);
	tk_sync();
	CK(cuMemFree(p));
	if (argc > 1) {
		tk_sleep_ms(100);
		REQUIRE(dup2(kept, 2) == 2);
	}
}
