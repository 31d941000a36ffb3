/*
 * The longest that a call of the program's takes while GMOD gets ready: run it without and with GMOD.
 *
 *	figure_longest_call [ms]
 *
 * For so many milliseconds (300) a program allocates 4 KiB, fills it, launches, copies, records an event, frees, and
 * waits for all of it now and then. Prints microseconds: the longest call of each kind, and of all but the waits. The
 * first round is not counted, in which the driver loads and makes what it needs.
 */
#include "testkit.h"

#include <stdbool.h>

enum kind { ALLOC, FILL, LAUNCH, COPY, RECORD, FREE, KINDS };

static const char *const names[] = {"alloc", "fill", "launch", "copy", "record", "free"};
static double longest_us[KINDS];

static CUfunction empty;
static CUstream stream;
static CUevent event;
static CUdeviceptr buffer;
static void *pinned;

static void call(enum kind kind)
{
	long long off = 0, count = 0;

	switch (kind) {
	case ALLOC:
		CK(cuMemAlloc(&buffer, 4096));
		break;
	case FILL:
		CK(cuMemsetD8Async(buffer, 1, 4096, stream));
		break;
	case LAUNCH:
		tk_launch(empty, 1, 1, stream, TK_ARGS(&buffer, &off, &count));
		break;
	case COPY:
		CK(cuMemcpyDtoHAsync(pinned, buffer, 256, stream));
		break;
	case RECORD:
		CK(cuEventRecord(event, stream));
		break;
	default:
		CK(cuMemFree(buffer));
	}
}

static void one_round(bool counted)
{
	for (int kind = 0; kind < KINDS; kind++) {
		double began = tk_ms(), us;

		call(kind);
		us = (tk_ms() - began) * 1e3;
		if (counted && us > longest_us[kind])
			longest_us[kind] = us;
	}
}

int main(int argc, char **argv)
{
	double ms = argc > 1 ? atof(argv[1]) : 300, end, longest = 0;
	long rounds = 0;

	REQUIRE(ms > 0);
	tk_start();
	empty = tk_kernel("k_flip");
	stream = tk_stream();
	CK(cuEventCreate(&event, 0));
	CK(cuMemHostAlloc(&pinned, 256, 0));
	for (end = tk_ms() + ms; tk_ms() < end; rounds++) {
		one_round(rounds > 0);
		if (rounds % 16 == 0)
			CK(cuStreamSynchronize(stream));
	}
	printf("ms=%g rounds=%ld", ms, rounds);
	for (int kind = 0; kind < KINDS; kind++) {
		printf(" %s_us=%.1f", names[kind], longest_us[kind]);
		longest = longest_us[kind] > longest ? longest_us[kind] : longest;
	}
	printf(" longest_us=%.1f\n", longest);
	return 0;
}
