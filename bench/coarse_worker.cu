/*
 * A run in blocks, each when it is told to, so that several processes can take turns.
 *
 * It says "ready", and then answers each line that it reads with one number: an empty one, as often as there are
 * blocks, with the ms of the next block, of which the first one begins with the allocations and the last one ends with
 * the frees; "bytes" with the bytes of its allocations so far; others with -1. At the end of its input it checks what
 * it has computed and exits.
 */
#include "coarse.h"

#include <string>

static struct {
	unsigned blocks, rounds; /* of the run; no blocks: it is none of these */
	unsigned block, round;   /* that have been done */
	double begin_ms;
} worker;

static bool read_line(std::string *line)
{
	int c;

	line->clear();
	while ((c = getchar()) != EOF && c != '\n')
		*line += (char)c;
	return c != EOF;
}

static void say(const char *format, double value)
{
	printf(format, value);
	fflush(stdout);
}

static void answer(const std::string &question)
{
	say("%.0f\n", question == "bytes" ? (double)bytes_asked() : -1);
}

static void block_begin(void)
{
	std::string line;

	do {
		if (!read_line(&line)) {
			fprintf(stderr, "coarse: %u of %u blocks were asked for\n", worker.block, worker.blocks);
			exit(1);
		}
		if (!line.empty())
			answer(line);
	} while (!line.empty());
	worker.begin_ms = now_ms();
}

static void block_end(void)
{
	CUDA(cudaDeviceSynchronize());
	say("%.4f\n", now_ms() - worker.begin_ms);
	worker.block++;
}

/* The last block ends with the run. */
void round_done(void)
{
	if (!worker.blocks)
		return;
	worker.round++;
	if (worker.block + 1 == worker.blocks ||
	    worker.round < (uint64_t)(worker.block + 1) * worker.rounds / worker.blocks)
		return;
	block_end();
	block_begin();
}

int worker_serve(const struct program *program, unsigned blocks)
{
	std::string line;

	program->prepare();
	CUDA(cudaFree(NULL)); /* makes the context */
	worker.blocks = blocks;
	worker.rounds = program->rounds;
	puts("ready");
	fflush(stdout);
	block_begin();
	work_and_free(program, program->rounds);
	block_end();
	while (read_line(&line))
		answer(line);
	return program->check() != 0;
}
