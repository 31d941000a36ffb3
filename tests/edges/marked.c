/* Has buffers, a finding, and a mark in its memory that a core file must show (secrets.sh). */
#include "make_buffer.h"

static char mark[] = "gmod-edges-";

int main(void)
{
	char *whole = malloc(64);
	CUdeviceptr p[20];

	REQUIRE(whole);
	sprintf(whole, "%smarker", mark);
	tk_start();
	for (int i = 0; i < 20; i++)
		p[i] = make_buffer(100 + 300 * (size_t)i);
	tk_flip(p[0], 100, 2);
	tk_sync();
	for (int i = 0; i < 10; i++)
		CK(cuMemFree(p[i]));
	puts(whole);
}
