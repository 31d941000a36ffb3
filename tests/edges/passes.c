/*
 * passes MS: a kernel that allocates and frees runs for so long, and then nothing does. Prints how many passes the
 * guard has made meanwhile.
 */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_get_stats

static unsigned long long passes(void)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	if (gmod_device_get_stats)
		REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	return s.passes;
}

static unsigned long long passes_in(int ms)
{
	unsigned long long before = passes();

	tk_sleep_ms(ms);
	return passes() - before;
}

int main(int argc, char **argv)
{
	int ms = argc > 1 ? atoi(argv[1]) : 300;
	long long rounds = 1ll << 40, size = 100;
	CUdeviceptr missing = ik_counter();
	volatile int *stop = tk_flag();
	unsigned long long busy;

	tk_launch(ik_kernel("d_pairs"), 1, 32, NULL, TK_ARGS(&rounds, &size, &missing, &stop));
	busy = passes_in(ms);
	*stop = 1;
	tk_sync();
	tk_sleep_ms(100);
	printf("busy %llu, idle %llu\n", busy, passes_in(ms));
}
