/*
 * slow_gather MILLISECONDS [left [BESIDE]]: the slack behind a buffer is overrun, and the buffer freed so long after,
 * or not. So many others are there.
 */
#include "make_buffer.h"

int main(int argc, char **argv)
{
	CUdeviceptr p;

	REQUIRE(argc > 1);
	tk_start();
	for (int i = argc > 3 ? atoi(argv[3]) : 0; i > 0; i--)
		make_buffer(1000);
	p = make_buffer(1000);
	tk_flip(p, 1010, 1);
	tk_sync();
	tk_sleep_ms(atoi(argv[1]));
	fprintf(stderr, "leaving\n");
	if (argc == 2)
		CK(cuMemFree(p));
}
