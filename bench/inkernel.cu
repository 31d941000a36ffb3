/*
 * The bench of memory that kernels allocate.
 *
 *	inkernel program MEMORY [NAME [BLOCK]]		one of the programs, or all; threads of a block, or four sizes
 *	inkernel latency MEMORY BUFFERS			how long a stray store stays unseen, beside so many live buffers
 *	inkernel stress MEMORY [PAIRS [BLOCKS]]		allocations and frees from four streams (blocks of each: 64)
 *
 * MEMORY: cuda (malloc and free of CUDA) or gmod (mallocN and freeN, with libgmod in LD_PRELOAD). Prints one line of
 * key=value a case, and lines that begin with FAIL. Exit status: 0, 1 something failed, 2 not understood or no libgmod,
 * 77 no GPU.
 */
#include <algorithm>
#include <iterator>
#include <string.h>

#include "inkernel.h"

#define HEAP_MIB 2048
#define STRESS_PAIRS 100000000ull
#define STRESS_BLOCKS 64ull

static const struct program *const programs[] = {&alloc_dealloc, &alloc_cycle_dealloc, &grid_point,
						 &add_string,    &random_graph,        &malloc_alone};
static const unsigned sizes[] = {1024, 20480, 102400}, blocks_of[] = {128, 256, 512, 1024};

static int usage(void)
{
	fprintf(stderr, "usage: inkernel program cuda|gmod [NAME [BLOCK]]\n"
			"       inkernel latency cuda|gmod BUFFERS\n"
			"       inkernel stress cuda|gmod [PAIRS [BLOCKS]]\n");
	return 2;
}

/* In blocks of so many threads, 0: of all numbers. */
static bool measure(const struct program *p, enum memory memory, uint64_t block)
{
	bool ok = true;

	for (unsigned of : blocks_of)
		for (unsigned size : sizes)
			if (!block || block == of)
				ok &= program_measure(p, memory, of, size);
	return ok;
}

static int run_programs(enum memory memory, const char *name, uint64_t block)
{
	bool ok = true, known = false;

	if (block && std::find(std::begin(blocks_of), std::end(blocks_of), block) == std::end(blocks_of))
		return usage();
	for (const struct program *p : programs) {
		if (name && strcmp(name, p->name))
			continue;
		known = true;
		ok &= measure(p, memory, block);
	}
	return known ? !ok : usage();
}

static int run_stress(enum memory memory, uint64_t pairs, uint64_t blocks)
{
	return !stress(memory, pairs ? pairs : STRESS_PAIRS, (unsigned)(blocks ? blocks : STRESS_BLOCKS));
}

/* The number in a word; 0: it is none. */
static uint64_t number(const char *word)
{
	char *end;
	uint64_t n = word ? strtoull(word, &end, 10) : 0;

	return word && *end ? 0 : n;
}

/* Ends the process where there is nothing to run on. */
static void start(enum memory memory)
{
	int devices;

	if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
		fprintf(stderr, "inkernel: no NVIDIA GPU here\n");
		exit(77);
	}
	if (memory == MEMORY_GMOD && !gmod_is_here()) {
		fprintf(stderr,
			"inkernel: no libgmod with the functions of gmod.h in the process: LD_PRELOAD=libgmod.so\n");
		exit(2);
	}
	/* bench/inkernel.py gives GMOD's as much. */
	if (memory == MEMORY_CUDA)
		CUDA(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)HEAP_MIB << 20));
}

static bool memory_of(const char *word, enum memory *memory)
{
	*memory = strcmp(word, "gmod") ? MEMORY_CUDA : MEMORY_GMOD;
	return !strcmp(word, "gmod") || !strcmp(word, "cuda");
}

int main(int argc, char **argv)
{
	const char *third = argc > 3 ? argv[3] : NULL, *fourth = argc > 4 ? argv[4] : NULL;
	enum memory memory;

	if (argc < 3 || argc > 5 || !memory_of(argv[2], &memory))
		return usage();
	start(memory);
	if (!strcmp(argv[1], "program"))
		return run_programs(memory, third, number(fourth));
	if (!strcmp(argv[1], "latency"))
		return !latency_measure(memory, (unsigned)number(third));
	if (!strcmp(argv[1], "stress"))
		return run_stress(memory, number(third), number(fourth));
	return usage();
}
