// expect: heap-buffer-overflow size 1000 offset +0 in make_buffer
// suspect: k_flip
// options: scan_interval_us=60000000
/* When gmod_check() returns, what it has found is reported. */
#include "include/gmod.h"
#include "make_buffer.h"

#pragma weak gmod_check
#pragma weak gmod_get_stats

int main(void)
{
	struct gmod_stats stats = {.struct_size = sizeof(stats)};
	CUdeviceptr p = make_buffer(1000);

	tk_flip(p, 1000, 4);
	tk_sync();
	if (gmod_check) {
		REQUIRE(gmod_check() == GMOD_OK);
		gmod_get_stats(&stats);
		REQUIRE(stats.findings == 1);
	}
	CK(cuMemFree(p));
}
