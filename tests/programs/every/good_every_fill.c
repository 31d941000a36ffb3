/* Every fill there is, each by both of its default streams: what it returns and what it changes is as without GMOD. */
#include "bytes.h"

#define FILLS(bits, value) \
	BOTH_ON_BYTES(cuMemsetD##bits##_v2, _ptds, p + 4, value, 333); \
	BOTH_ON_BYTES(cuMemsetD##bits##_v2, _ptds, managed + 4, value, 333); \
	BOTH_ON_BYTES(cuMemsetD##bits##Async, _ptsz, q + 8, value, 334, stream); \
	BOTH_ON_BYTES(cuMemsetD2D##bits##_v2, _ptds, p + 12, 120, value, 29, 31); \
	BOTH_ON_BYTES(cuMemsetD2D##bits##Async, _ptsz, q + 16, 124, value, 30, 32, NULL)

static void calls(void)
{
	FILLS(8, 0x5b);
	FILLS(16, 0x5b6c);
	FILLS(32, 0x5b6c7d8e);
}

int main(void)
{
	bytes_make();
	every_way(calls);
}
