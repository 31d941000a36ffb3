/* The log: what its lines are, and that those of several threads and processes do not get into each other's way. */
#include "lib/base/clock.h"
#include "lib/base/counters.h"
#include "lib/base/log.h"

#include "tests/unit/log_child.h"

/* ---- lines ---- */

static void say_lines(void)
{
	errno = EBUSY;
	gmod_log_note(0, "one %d %s", 1, "a\x1b[31m");
	NEED(gmod_log_open("", false, 1) == 0);
	gmod_log_note(0, "two");
	gmod_log_note(1, "three");
	gmod_log_note(2, "four");
	gmod_log_string(NULL, "100%s");
	NEED(errno == EBUSY);
	NEED(gmod_counters.lost_lines == 0);
}

TEST(lines_go_to_stderr)
{
	in_child(say_lines);
	assert_non_null(strstr(text, "==GMOD: one 1 a\\x1b[31m\n=="));
	assert_non_null(strstr(text, "==GMOD: two\n"));
	assert_non_null(strstr(text, "==GMOD: three\n"));
	assert_null(strstr(text, "four"));
	assert_non_null(strstr(text, "==GMOD: 100%s\n"));
}

static void say_long_lines(void)
{
	static char word[10001];

	memset(word, 'w', 10000);
	gmod_log_note(0, "%s", word);
	NEED(gmod_log_open(NULL, true, 0) == 0);
	memset(word, '\x01', 10000);
	gmod_log_note(0, "%s", word);
}

TEST(long_lines_are_cut)
{
	const char *second;

	in_child(say_long_lines);
	second = strchr(text, '\n') + 1;
	assert_in_range(second - text, 2000, 2048);
	assert_int_equal(memcmp(second - 6, "ww...\n", 6), 0);
	assert_in_range(strlen(second), 2000, 2048);
	assert_int_equal(strncmp(second, "{\"schema\":\"gmod-report-2\",\"event\":\"note\",\"pid\":", 47), 0);
	assert_non_null(strstr(second, ",\"text\":\"\\u0001\\u0001"));
	assert_string_equal(second + strlen(second) - 12, "\\u0001...\"}\n");
}

static void say_in_json(void)
{
	NEED(gmod_log_open("", true, 1) == 0);
	NEED(gmod_log_json());
	gmod_log_note(1, "a \"%s\"", "b\n");
	gmod_log_note(0, "plain");
}

TEST(a_json_log_has_nothing_but_json)
{
	in_child(say_in_json);
	assert_int_equal(strncmp(text, "{\"schema\":\"gmod-report-2\",\"event\":\"note\",\"pid\":", 47), 0);
	assert_non_null(strstr(text, ",\"text\":\"a \\\"b\\u000a\\\"\"}\n{"));
	assert_non_null(strstr(text, ",\"text\":\"plain\"}\n"));
	assert_null(strstr(text, "==GMOD"));
}

/* ---- threads ---- */

#define WRITERS 4
#define BLOCKS 50

static void *write_blocks(void *name)
{
	char block[64];
	char c = (char)('a' + (uintptr_t)name);
	int n = snprintf(block, sizeof(block), "%c1\n%c2\n%c3\n", c, c, c);

	for (int i = 0; i < BLOCKS; i++)
		gmod_log_lines(block, (size_t)n);
	return NULL;
}

static void write_from_threads(void)
{
	NEED(gmod_log_open("log", false, 0) == 0);
	in_threads(WRITERS, write_blocks);
}

TEST_FIXTURE(the_lines_of_a_block_stay_together, NULL, clean_directory)
{
	const char *at = text;

	in_child(write_from_threads);
	read_file("log");
	assert_int_equal(strlen(text), WRITERS * BLOCKS * 9);
	for (int i = 0; i < WRITERS * BLOCKS; i++, at += 9) {
		char block[16];

		snprintf(block, sizeof(block), "%c1\n%c2\n%c3\n", at[0], at[0], at[0]);
		assert_int_equal(memcmp(at, block, 9), 0);
	}
}

/* ---- processes ---- */

enum { PROCESSES = 8, PIECES = 20, PIECE_MAX = 20000 };

/* Of one letter, with a first and a last line of its own; returns its length. */
static size_t make_piece(char *at, char letter, int number)
{
	size_t n = 4 + (size_t)(number * 7919 + letter * 131) % (PIECE_MAX - 4);

	memset(at, letter, n);
	for (size_t i = 79; i < n; i += 80)
		at[i] = '\n';
	at[0] = '<';
	at[n - 2] = '>';
	at[n - 1] = '\n';
	return n;
}

static void write_pieces(char letter)
{
	char piece[PIECE_MAX];

	for (int i = 0; i < PIECES; i++) {
		size_t n = make_piece(piece, letter, i);

		while (!gmod_log_try(piece, n))
			usleep(1000);
	}
	_exit(gmod_counters.lost_lines != 0);
}

static void begin_processes(void)
{
	for (int i = 0; i < PROCESSES; i++)
		if (fork() == 0)
			write_pieces((char)('a' + i));
}

static void end_processes(void)
{
	int status;

	for (int i = 0; i < PROCESSES; i++)
		NEED(wait(&status) > 0 && status == 0);
}

/* The pieces that begin and end by themselves. */
static int count_pieces(const char *at)
{
	int pieces = 0;

	for (; *at == '<'; pieces++) {
		const char letter[] = {at[1], '\n', '\0'};

		at += 1 + strspn(at + 1, letter);
		if (strncmp(at, ">\n", 2) != 0)
			return -1;
		at += 2;
	}
	return *at ? -1 : pieces;
}

static char *slurp(int fd, unsigned pause_us)
{
	static char all[PROCESSES * PIECES * PIECE_MAX + 1];
	size_t had = 0;
	ssize_t n;

	while ((n = read(fd, all + had, sizeof(all) - 1 - had < 4096 ? sizeof(all) - 1 - had : 4096)) > 0) {
		had += (size_t)n;
		usleep(pause_us);
	}
	all[had] = '\0';
	return all;
}

static void share_a_file(void)
{
	NEED(gmod_log_open("log", false, 0) == 0);
	begin_processes();
	end_processes();
	NEED(count_pieces(slurp(open("log", O_RDONLY), 0)) == PROCESSES * PIECES);
}

static void share_a_pipe(void)
{
	int ends[2];

	NEED(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	close(ends[1]);
	begin_processes();
	close(2);
	NEED(count_pieces(slurp(ends[0], 500)) == PROCESSES * PIECES);
	end_processes();
}

TEST_FIXTURE(the_pieces_of_processes_stay_apart, NULL, clean_directory)
{
	in_child(share_a_file);
	in_child(share_a_pipe);
}

static _Atomic bool enough;

static void *write_without_end(void *unused)
{
	while (!enough)
		gmod_log_lines("x\nx\nx\nx\nx\nx\nx\nx\n", 16);
	return unused;
}

/* A child of fork() may inherit the lock in use; it must not wait for a thread it does not have. */
TEST_IN_CHILD(a_lock_inherited_by_fork_is_not_waited_for)
{
	uint64_t start;
	pthread_t thread;
	int status;

	NEED(gmod_log_open("/dev/null", false, 0) == 0);
	thread = begin_thread(write_without_end, NULL);
	for (int i = 0; i < 4; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			start = gmod_monotonic_ns();
			gmod_log_note(0, "child");
			_exit(gmod_monotonic_ns() - start > 3000000000);
		}
		NEED(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	enough = true;
	end_thread(thread);
}
