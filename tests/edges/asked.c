/* The program asks for a look, and what it has overrun has been seen when that returns, wherever its canary lies. */
#include "make_buffer.h"

#include "include/gmod.h"

#pragma weak gmod_check
#pragma weak gmod_findings_seen

int main(void)
{
	CUdeviceptr p[] = {make_buffer(1000), make_managed(4096), make_buffer(3 << 20)};
	long long size[] = {1000, 4096, 3 << 20};

	for (int i = 0; i < 3; i++) {
		tk_flip(p[i], size[i], 1);
		tk_sync();
		REQUIRE(gmod_check() == GMOD_OK);
		printf("%u ", gmod_findings_seen());
	}
}
