/* Pieces of the log that are longer than a pipe takes at once. */
#include "lib/base/log_fd.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/unit/support.h"

enum { LONG = 20000, PIPE = 4096 };

static int ends[2];
static char piece[LONG], got[LONG];
static size_t taken;

static void make_pipe(void)
{
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fcntl(ends[1], F_SETPIPE_SZ, PIPE), PIPE);
	for (size_t i = 0; i < LONG; i++)
		piece[i] = (char)('a' + i % 26);
	taken = 0;
}

static void close_pipe(void)
{
	close(ends[0]);
	close(ends[1]);
}

static void *read_slowly(void *unused)
{
	const struct timespec pause = {0, 10000000};
	ssize_t n;

	while (taken < LONG && (n = read(ends[0], got + taken, LONG - taken)) > 0) {
		taken += (size_t)n;
		nanosleep(&pause, NULL);
	}
	return unused;
}

TEST(a_slow_reader_gets_all)
{
	pthread_t reader;
	bool torn = false;

	make_pipe();
	assert_int_equal(pthread_create(&reader, NULL, read_slowly, NULL), 0);
	assert_true(gmod_write_piece(ends[1], piece, LONG, true, &torn));
	assert_false(torn);
	pthread_join(reader, NULL);
	assert_int_equal(taken, LONG);
	assert_memory_equal(got, piece, LONG);
	close_pipe();
}

TEST(who_never_reads_is_not_awaited_for_long)
{
	struct timespec begin, end;
	bool torn = false;

	make_pipe();
	clock_gettime(CLOCK_MONOTONIC, &begin);
	assert_false(gmod_write_piece(ends[1], piece, LONG, true, &torn));
	clock_gettime(CLOCK_MONOTONIC, &end);
	assert_true(torn);
	assert_true(end.tv_sec - begin.tv_sec <= 5);
	close_pipe();
}
