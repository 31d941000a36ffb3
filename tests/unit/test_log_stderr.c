/* Lines on stderr, and above all where none is written. */
#include <sys/socket.h>

#include "lib/base/counters.h"
#include "lib/base/log.h"
#include "lib/base/log_stderr.h"
#include "tests/unit/log_child.h"

static void close_stderr(void)
{
	gmod_log_remember_stderr();
	close(2);
	errno = EBUSY;
	gmod_log_lines("one\n", 4);
	NEED(errno == EBUSY);
	NEED(gmod_counters.lost_lines == 1);
	NEED(open("data", O_RDWR | O_CREAT | O_TRUNC, 0600) == 2);
	log_line("two");
	NEED(gmod_counters.lost_lines == 2);
}

static void close_stderr_first(void)
{
	close(2);
	gmod_log_remember_stderr();
	NEED(open("data", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600) == 2);
	log_line("three");
	NEED(gmod_counters.lost_lines == 1);
}

static void recycle_stderr_as_socket(void)
{
	int pair[2];
	char c;

	gmod_log_remember_stderr();
	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	NEED(dup2(pair[0], 2) == 2);
	log_line("four");
	NEED(gmod_counters.lost_lines == 1);
	NEED(read(pair[1], &c, 1) == -1 && errno == EAGAIN);
}

TEST_FIXTURE(a_recycled_stderr_is_not_written_to, NULL, clean_directory)
{
	in_child(close_stderr);
	assert_string_equal(read_file("data"), "");
	in_child(close_stderr_first);
	assert_string_equal(read_file("data"), "");
	in_child(recycle_stderr_as_socket);
}

static void redirect_as_daemons_do(void)
{
	int log;

	gmod_log_remember_stderr();
	log = open("daemon", O_WRONLY | O_CREAT | O_APPEND, 0600);
	NEED(dup2(log, 1) == 1 && dup2(log, 2) == 2);
	log_line("one");
	NEED(gmod_counters.lost_lines == 0);
}

TEST_FIXTURE(a_log_that_stdout_shares_is_accepted, NULL, clean_directory)
{
	in_child(redirect_as_daemons_do);
	assert_string_equal(read_file("daemon"), "one\n");
}

/* Both ends of a pipe by the numbers that are free. */
static void recycle_stderr_as_pipe(void)
{
	int ends[2];

	gmod_log_remember_stderr();
	close(1);
	close(2);
	NEED(pipe(ends) == 0 && ends[1] == 2);
	log_line("one");
	NEED(gmod_counters.lost_lines == 1);
}

static void recycle_stderr_as_reader(void)
{
	int ends[2];

	gmod_log_remember_stderr();
	close(2);
	NEED(pipe(ends) == 0 && ends[0] == 2);
	log_line("one");
	NEED(gmod_counters.lost_lines == 1);
}

static void redirect_as_jupyter_does(void)
{
	char got[16];
	int ends[2];

	gmod_log_remember_stderr();
	NEED(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	log_line("one");
	NEED(read(ends[0], got, sizeof(got)) == 4 && memcmp(got, "one\n", 4) == 0);
}

TEST(a_pipe_put_there_is_accepted_but_not_a_recycled_one)
{
	in_child(recycle_stderr_as_pipe);
	in_child(recycle_stderr_as_reader);
	in_child(redirect_as_jupyter_does);
}

static void restore_stderr(void)
{
	int kept = dup(2);

	gmod_log_remember_stderr();
	close(2);
	log_line("one");
	log_line("two");
	NEED(dup2(kept, 2) == 2);
	log_line("three");
	log_line("four");
	NEED(gmod_counters.lost_lines == 2);
	close(2);
	log_line("five");
	NEED(dup2(kept, 2) == 2);
	log_line("six");
}

TEST(losses_are_told_when_there_is_a_way_again)
{
	in_child(restore_stderr);
	assert_int_equal(strncmp(text, "==", 2), 0);
	assert_non_null(strstr(text, "==GMOD: 2 lines before this one could not be written\nthree\nfour\n"));
	assert_non_null(strstr(text, "==GMOD: 1 line before this one could not be written\nsix\n"));
}

TEST_IN_CHILD(a_socket_from_the_start_is_used)
{
	char got[16];
	int pair[2];

	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	NEED(dup2(pair[0], 2) == 2);
	log_line("one");
	NEED(read(pair[1], got, sizeof(got)) == 4 && memcmp(got, "one\n", 4) == 0);
	close(pair[1]);
	log_line("two");
	NEED(gmod_counters.lost_lines == 1);
}

TEST_IN_CHILD(a_socket_that_nobody_reads_holds_nobody_up)
{
	static char block[4096];
	int pair[2];

	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	NEED(dup2(pair[0], 2) == 2);
	while (send(2, block, sizeof(block), MSG_DONTWAIT) > 0)
		;
	alarm(5);
	log_line("one");
	NEED(gmod_counters.lost_lines == 1);
}

static void fill_pipe(void)
{
	static char block[4096];

	NEED(fcntl(2, F_SETFL, O_NONBLOCK) == 0);
	while (write(2, block, sizeof(block)) > 0)
		;
	while (write(2, block, 1) > 0)
		;
	NEED(fcntl(2, F_SETFL, 0) == 0);
}

/* Make descriptor 2 a pipe with nothing more to be written to it; returns the reading end. */
static int fill_stderr(void)
{
	int ends[2];

	NEED(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	close(ends[1]);
	fill_pipe();
	return ends[0];
}

static void drain(int fd)
{
	char block[4096];

	NEED(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	while (read(fd, block, sizeof(block)) > 0)
		;
}

TEST_IN_CHILD(a_full_pipe_does_not_block)
{
	int reader = fill_stderr();
	char got[256] = "";

	log_line("one");
	log_line("two");
	NEED(gmod_counters.lost_lines == 2);
	NEED(!(fcntl(2, F_GETFL) & O_NONBLOCK)); /* the program's own flag is left alone */
	drain(reader);
	log_line("three");
	NEED(read(reader, got, sizeof(got) - 1) > 0);
	NEED(strstr(got, "2 lines before this one could not be written\nthree\n"));
}

static char block[100000], piece[9001];

/* What is in the pipe, in `block`. */
static size_t take_all(int reader)
{
	ssize_t n;

	NEED(fcntl(reader, F_SETFL, O_NONBLOCK) == 0);
	n = read(reader, block, sizeof(block) - 1);
	block[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

static void make_piece(void)
{
	for (size_t i = 0; i < 9000; i++)
		piece[i] = i % 90 == 89 ? '\n' : 'x';
}

/* Nearly full: what is longer than the room that is left is not begun, and may come later. */
TEST_IN_CHILD(a_piece_fits_or_waits)
{
	int reader = fill_stderr();

	make_piece();
	NEED(read(reader, block, 8192) == 8192);
	NEED(!gmod_log_try(piece, 9000));
	NEED(gmod_counters.lost_lines == 0);
	NEED(take_all(reader) == 65536 - 8192 && !strchr(block, 'x'));
	NEED(gmod_log_try(piece, 9000));
	NEED(take_all(reader) == 9000 && !memcmp(block, piece, 9000));
	fill_pipe();
	NEED(!gmod_log_try("one\n", 4));
	gmod_log_lines(piece, 9000);
	NEED(gmod_counters.lost_lines == 100);
}

/* Longer than the whole pipe: a part gets through, and the next piece does not go on where it ended. */
TEST_IN_CHILD(a_torn_piece_is_ended)
{
	int reader = fill_stderr();

	make_piece();
	drain(reader);
	NEED(fcntl(2, F_SETPIPE_SZ, 4096) == 4096);
	NEED(gmod_log_try(piece, 9000));
	NEED(gmod_counters.lost_lines == 100);
	NEED(take_all(reader) == 4096 && !memcmp(block, piece, 4096));
	log_line("next");
	NEED(take_all(reader) > 0);
	NEED(block[0] == '\n' && strstr(block, "100 lines before this one could not be written\nnext\n"));
}

static volatile sig_atomic_t pipes_broken;

static void note_signal(int number)
{
	(void)number;
	pipes_broken++;
}

TEST_IN_CHILD(a_closed_pipe_does_not_kill)
{
	sigset_t pending, block;
	int ends[2];

	NEED(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	close(ends[0]);
	close(ends[1]);
	signal(SIGPIPE, note_signal);
	log_line("one");
	NEED(gmod_counters.lost_lines == 1 && pipes_broken == 0);
	signal(SIGPIPE, SIG_DFL);
	log_line("two"); /* would kill */
	NEED(sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE));
	NEED(sigprocmask(SIG_SETMASK, NULL, &block) == 0 && !sigismember(&block, SIGPIPE) &&
	     !sigismember(&block, SIGTERM));

	sigemptyset(&block);
	sigaddset(&block, SIGPIPE);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGPIPE); /* the program's own is not ours to take */
	log_line("three");
	NEED(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE));
	NEED(sigprocmask(SIG_SETMASK, NULL, &pending) == 0 && sigismember(&pending, SIGPIPE));
	NEED(gmod_counters.lost_lines == 3);
}
