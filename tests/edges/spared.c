/*
 * spared SIZE TIMES: a buffer of SIZE comes and goes so often, and another one stays. Prints how many KiB of the
 * process a child would not get, and how many pages the thread has touched for the first time since the first ten.
 */
#include "testkit.h"

#include <sys/resource.h>

static void come_and_go(size_t size, int times)
{
	CUdeviceptr p;

	while (times--) {
		CK(cuMemAlloc(&p, size));
		tk_flip(p, 0, 1);
		CK(cuMemFree(p));
	}
}

static long touched(void)
{
	struct rusage usage;

	REQUIRE(!getrusage(RUSAGE_THREAD, &usage));
	return usage.ru_minflt;
}

/* Mappings with the flag of MADV_DONTFORK. */
static long long kept_back(void)
{
	long long size = 0, sum = 0;
	char line[300];
	FILE *f = fopen("/proc/self/smaps", "r");

	REQUIRE(f);
	while (fgets(line, sizeof(line), f)) {
		if (!strncmp(line, "Size:", 5))
			size = atoll(line + 5);
		if (!strncmp(line, "VmFlags:", 8) && strstr(line, " dc"))
			sum += size;
	}
	fclose(f);
	return sum;
}

int main(int argc, char **argv)
{
	size_t size = argc > 1 ? strtoul(argv[1], NULL, 10) : 1000;
	int times = argc > 2 ? atoi(argv[2]) : 100;
	CUdeviceptr stays = tk_alloc(size);
	long before;

	tk_flip(stays, 0, 1);
	tk_sync();
	tk_sleep_ms(100);
	come_and_go(size, 10);
	before = touched();
	come_and_go(size, times);
	printf("%lld KiB, %ld pages\n", kept_back(), touched() - before);
}
