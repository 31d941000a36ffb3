/*
 * size_limit [BYTES]: no file of the process may grow (beyond so many bytes) any more. Nothing can be written to a log,
 * or only a part, and nobody may die of it.
 */
#include "make_buffer.h"
#include <sys/resource.h>

int main(int argc, char **argv)
{
	rlim_t bytes = argc > 1 ? (rlim_t)atol(argv[1]) : 0;
	CUdeviceptr p;

	tk_start();
	p = make_buffer(4096);
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){bytes, bytes}));
	tk_flip(p, 4096, 1);
	tk_sync();
	tk_sleep_ms(50);
	CK(cuMemFree(p));
	return 5;
}
