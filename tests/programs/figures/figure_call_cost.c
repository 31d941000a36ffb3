/*
 * What calls cost the calling thread on the driver that is there: run it without and with GMOD, and the difference is
 * what GMOD adds, with the caches and the bus as the driver leaves them (figure_launch_cost.c has the hook alone).
 *
 *	figure_call_cost [rounds [KiB]]
 *
 * A round is one of a program that makes many calls: an empty kernel on each of so many streams, an event behind each,
 * one more stream that waits for all of these, and a small copy from there to pinned memory, which is then waited for.
 * Prints ns a call, the median of the rounds: for all of these calls, and for each kind. The wait at the end is not
 * measured. The first rounds are not counted.
 *
 * With KiB, before each call the program runs through so much code and as much data of its own, as one does that works
 * out what to launch next: the call finds the caches full of that. Each is timed by itself then, with what reading the
 * clock takes.
 */
#include "evict.h"
#include "sorted.h"
#include "testkit.h"

#define STREAMS 16
#define BYTES 272
#define WARM_UP 200
#define MAX_ROUNDS 100000

enum kind { LAUNCH, RECORD, WAIT, COPY, ALL, KINDS = ALL };

static const char *const names[] = {"launch", "record", "wait", "copy", "call"};
static const int calls[] = {STREAMS, STREAMS, STREAMS, 1, 3 * STREAMS + 1};

static double ns[KINDS + 1][MAX_ROUNDS];
static CUstream streams[STREAMS + 1];
static CUevent events[STREAMS];
static CUfunction empty;
static CUdeviceptr buffer;
static void *pinned;
static struct evict other; /* what the program does between calls */

static void call(enum kind kind, int i)
{
	long long off = 0, count = 0;

	switch (kind) {
	case LAUNCH:
		tk_launch(empty, 1, 1, streams[i], TK_ARGS(&buffer, &off, &count));
		break;
	case RECORD:
		CK(cuEventRecord(events[i], streams[i]));
		break;
	case WAIT:
		CK(cuStreamWaitEvent(streams[STREAMS], events[i], 0));
		break;
	default:
		CK(cuMemcpyDtoHAsync(pinned, buffer, BYTES, streams[STREAMS]));
	}
}

/* Returns ns. */
static double calls_of(enum kind kind)
{
	double took = 0, begin = tk_ms();

	if (!other.code) {
		for (int i = 0; i < calls[kind]; i++)
			call(kind, i);
		return (tk_ms() - begin) * 1e6;
	}
	for (int i = 0; i < calls[kind]; i++) {
		evict(&other);
		begin = tk_ms();
		call(kind, i);
		took += tk_ms() - begin;
	}
	return took * 1e6;
}

static void one_round(int round)
{
	double all = 0;

	for (int kind = 0; kind < KINDS; kind++) {
		double took = calls_of((enum kind)kind);

		all += took;
		if (round >= 0)
			ns[kind][round] = took / calls[kind];
	}
	if (round >= 0)
		ns[ALL][round] = all / calls[ALL];
	CK(cuStreamSynchronize(streams[STREAMS]));
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 5000, kib = argc > 2 ? atoi(argv[2]) : 0;

	REQUIRE(rounds > 0 && rounds <= MAX_ROUNDS && kib >= 0 && kib <= 65536);
	REQUIRE(!kib || evict_make(&other, (size_t)kib * 1024));
	tk_start();
	empty = tk_kernel("k_flip");
	CK(cuMemAlloc(&buffer, BYTES));
	CK(cuMemAllocHost(&pinned, BYTES));
	for (int i = 0; i <= STREAMS; i++)
		CK(cuStreamCreate(&streams[i], CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < STREAMS; i++)
		CK(cuEventCreate(&events[i], CU_EVENT_DISABLE_TIMING));
	for (int round = -WARM_UP; round < rounds; round++)
		one_round(round);
	printf("rounds=%d", rounds);
	for (int kind = 0; kind <= ALL; kind++)
		printf(" %s_ns=%.1f", names[kind], sorted(ns[kind], (size_t)rounds)[rounds / 2]);
	printf("\n");
}
