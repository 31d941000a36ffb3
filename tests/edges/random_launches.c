/*
 * random_launches SEED [again]: 2 to 8 buffers, memory of the program's own, 4 to 40 kernels, 2 to 4 threads and
 *streams, all by chance. Each kernel has what it works on: mostly the program's own memory, else one of the buffers.
 *One more kernel runs over the end of one of the buffers, once. Prints which it is, and what its arguments can tell:
 *
 *	NAME buffer      a pointer into the buffer; in a structure, perhaps
 *	NAME none        the pointer comes from memory
 *	NAME maybe       the launch is too old, and has left marks
 *	NAME unknown     the pointer lies too far back in what is passed
 *
 * In one of four programs it is maybe or unknown, in one of 40 it is none, and in one of 20 another kernel works on the
 * buffer, too.
 *
 * again: all of that is done over and over, with the overrun in one of three rounds, until report.log has a launch that
 *was caught alone, or for 10 s.
 */
#include "kernel_structs.h"
#include "make_buffer.h"
#include "report_log.h"

enum { BUFFERS = 8, KERNELS = 40, STREAMS = 4, THREADS = 4, LAUNCHES = 60, FLIPPED = 4, TOO_MANY = 300 };
enum kind { PLAIN, IN_600, IN_4000, IN_TABLE, IN_6000, LOST };

static uint64_t seed;
static int buffers, kernels, streams, threads, victim, culprit_thread, culprit_at;
static enum kind kind;
static CUdeviceptr buffer[BUFFERS], own, table;
static size_t size[BUFFERS];
static CUfunction kernel[KERNELS], culprit;
static int works_on[KERNELS]; /* -1: the program's own memory */
static CUstream stream[STREAMS];
static pthread_barrier_t all;

static int chance(int of)
{
	return (int)(tk_random(&seed) >> 33) % of;
}

static void launch_other(uint64_t *its_seed)
{
	int k = (int)((tk_random(its_seed) >> 33) % (uint64_t)kernels),
	    s = (int)((tk_random(its_seed) >> 33) % (uint64_t)streams);
	CUdeviceptr p = works_on[k] < 0 ? own : buffer[works_on[k]];
	long long off = (long long)((tk_random(its_seed) >> 33) % 64), count = FLIPPED;

	tk_launch(kernel[k], 1, FLIPPED, stream[s], TK_ARGS(&p, &off, &count));
}

static void launch_culprit(void)
{
	CUdeviceptr p = buffer[victim];
	long long off = (long long)size[victim], count = FLIPPED;
	struct in_600 small = {.p = p};
	struct in_4000 large = {.p = p};
	struct in_6000 cut = {.p = p};
	void *first[] = {
	    [PLAIN] = &p, [IN_600] = &small, [IN_4000] = &large, [IN_TABLE] = &table, [IN_6000] = &cut, [LOST] = &p};

	tk_launch(culprit, 1, FLIPPED, stream[0], TK_ARGS(first[kind], &off, &count));
}

static void *body(void *number)
{
	int me = (int)(uintptr_t)number;
	uint64_t its_seed = seed + (uint64_t)me * 977 + 1;
	int launches = 5 + (int)((tk_random(&its_seed) >> 33) % (LAUNCHES - 5));

	CK(cuCtxSetCurrent(tk_context));
	pthread_barrier_wait(&all);
	for (int i = 0; i < launches; i++) {
		if (me == culprit_thread && i == culprit_at % launches)
			launch_culprit();
		launch_other(&its_seed);
	}
	for (int i = 0; me == culprit_thread && kind == LOST && i < TOO_MANY; i++)
		launch_other(&its_seed);
	return NULL;
}

static void choose(void)
{
	static const char *const name[] = {"k_flip_59",  "k_in_600",  "k_in_4000",
					   "k_in_table", "k_in_6000", "k_flip_59"};
	static const char *const truth[] = {"buffer", "buffer", "buffer", "none", "unknown", "maybe"};
	int sharing = chance(20) == 0, lot = chance(40);

	kind = lot < 5    ? LOST
	       : lot < 10 ? IN_6000
	       : lot < 11 ? IN_TABLE
	       : lot < 16 ? IN_600
	       : lot < 21 ? IN_4000
			  : PLAIN;
	buffers = 2 + chance(BUFFERS - 1);
	kernels = 4 + chance(KERNELS - 3);
	streams = 2 + chance(STREAMS - 1);
	threads = 2 + chance(THREADS - 1);
	victim = chance(buffers);
	culprit_thread = chance(threads);
	culprit_at = chance(LAUNCHES);
	culprit = tk_kernel(name[kind]);
	for (int k = 0; k < kernels; k++) {
		char flip[16];

		snprintf(flip, sizeof(flip), "k_flip_%02d", k);
		kernel[k] = tk_kernel(flip);
		works_on[k] = chance(4) ? -1 : chance(buffers);
		if (works_on[k] == victim)
			works_on[k] = -1;
	}
	if (sharing)
		works_on[0] = victim;
	printf("%s %s\n", name[kind], truth[kind]);
}

static void go_on(void)
{
	double end = tk_ms() + 10000;
	int culprits_own = culprit_thread;

	for (int round = 1; tk_ms() < end; round++) {
		culprit_thread = round % 3 ? -1 : culprits_own;
		tk_in_threads((size_t)threads, body);
		tk_sync();
		usleep(1000);
		if (round % 10 == 0 && wait_for_report("\"status\":\"caught\"", 1))
			break;
	}
}

int main(int argc, char **argv)
{
	REQUIRE(argc == 2 || argc == 3);
	seed = strtoull(argv[1], NULL, 10) * 7919 + 1;
	tk_start();
	choose();
	own = tk_alloc(8 << 20) + (4 << 20);
	for (int i = 0; i < buffers; i++) {
		size[i] = ((size_t)100 << chance(16)) + (size_t)chance(100); /* to 3 MiB */
		buffer[i] = make_buffer(size[i]);
	}
	for (int i = 0; i < streams; i++)
		stream[i] = tk_stream();
	table = own + 65536;
	CK(cuMemcpyHtoD(table, &buffer[victim], sizeof(buffer[victim])));
	pthread_barrier_init(&all, NULL, (unsigned)threads);
	tk_in_threads((size_t)threads, body);
	if (argc == 3)
		go_on();
	for (int i = 0; i < buffers; i++)
		CK(cuMemFree(buffer[i]));
	CK(cuMemFree(own - (4 << 20)));
}
