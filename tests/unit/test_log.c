/*
 * The sink: what it writes, and above all where it does not write. Each case that needs a descriptor 2, signals or
 * limits of its own runs in a forked child; one that blocks is killed after CHILD_SECONDS, which fails the test.
 */
#include "lib/log.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#define CHILD_SECONDS 10

static char directory[] = "/tmp/gmod-test-log-XXXXXX";
static int complaints = -1; /* the test's own stderr, for failing children */

static void need(int holds, const char *what, int line)
{
	if (holds)
		return;
	dprintf(complaints, "tests/unit/test_log.c:%d: in the child: %s\n", line, what);
	_exit(1);
}

#define NEED(condition) need(!!(condition), #condition, __LINE__)

static volatile pid_t child;

/* From here, because while it writes the sink holds off the child's own alarms. */
static void kill_child(int number)
{
	(void)number;
	kill(child, SIGKILL);
}

/* Run body in a child whose descriptor 2 is the file "stderr" in the test's directory. */
static void in_child(void (*body)(void))
{
	int status;

	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		int fd = open("stderr", O_RDWR | O_CREAT | O_TRUNC, 0600);

		NEED(fd > 2 && dup2(fd, 2) == 2);
		close(fd);
		body();
		_exit(0);
	}
	signal(SIGALRM, kill_child);
	alarm(CHILD_SECONDS);
	assert_int_equal(waitpid(child, &status, 0), child);
	alarm(0);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

/* A file's text in a static buffer; "" if there is none. */
static const char *text_of(const char *path)
{
	static char text[65536];
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static bool has(const char *path, const char *words)
{
	return strstr(text_of(path), words) != NULL;
}

static int enter_directory(void **unused)
{
	(void)unused;
	complaints = fcntl(2, F_DUPFD_CLOEXEC, 3000);
	if (complaints < 0)
		complaints = fcntl(2, F_DUPFD_CLOEXEC, 900);
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **unused)
{
	char command[128];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

static int clean_directory(void **unused)
{
	(void)unused;
	return system("rm -rf ./*") == 0 ? 0 : -1;
}

/* ---- text ---- */

static const char *escaped(const char *s, size_t max)
{
	static char out[4096];
	struct gmod_text t;

	gmod_text_init(&t, out, sizeof(out));
	gmod_text_escaped(&t, s, max);
	return out;
}

static const char *quoted(const char *s, size_t max)
{
	static char out[4096];
	struct gmod_text t;

	gmod_text_init(&t, out, sizeof(out));
	gmod_text_json(&t, s, max);
	return out;
}

static void escaping_leaves_readable_text_alone(void **unused)
{
	(void)unused;
	assert_string_equal(escaped("void f<int>(\"x\\y\")", 100), "void f<int>(\"x\\y\")");
	assert_string_equal(escaped("\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80", 100),
			    "\xc3\xa9 \xe4\xb8\xad \xf0\x9f\x98\x80");
	assert_string_equal(escaped("", 100), "");
	assert_string_equal(escaped(NULL, 100), "?");
}

static void escaping_shows_what_hides(void **unused)
{
	static const struct {
		const char *in, *out;
	} row[] = {
	    {"a\nb\r\t\x1b[2J\x7f", "a\\x0ab\\x0d\\x09\\x1b[2J\\x7f"},
	    {"\xc2\x9b"
	     "31m",
	     "\\xc2\\x9b31m"}, /* a C1 control: CSI in one character */
	    {"\xe2\x80\xae"
	     "gpj",
	     "\\xe2\\x80\\xaegpj"},                                           /* right-to-left override */
	    {"\xe2\x80\x8b", "\\xe2\\x80\\x8b"},                              /* zero-width space */
	    {"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},                              /* byte order mark */
	    {"\xf3\xa0\x81\x81", "\\xf3\\xa0\\x81\\x81"},                     /* a tag character */
	    {"\xe2\x81\xa6x\xe2\x81\xa9", "\\xe2\\x81\\xa6x\\xe2\\x81\\xa9"}, /* bidi isolates */
	    {"\xff\xfe", "\\xff\\xfe"},                                       /* no UTF-8 at all */
	    {"\xc0\xaf", "\\xc0\\xaf"},                                       /* overlong */
	    {"\xed\xa0\x80", "\\xed\\xa0\\x80"},                              /* a surrogate */
	    {"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"},                     /* past the last character */
	    {"\xe4\xb8", "\\xe4\\xb8"},                                       /* cut in the middle */
	    {"\xe4x", "\\xe4x"},
	};

	(void)unused;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++)
		assert_string_equal(escaped(row[i].in, 100), row[i].out);
}

static void escaping_stops_at_its_limit(void **unused)
{
	(void)unused;
	assert_string_equal(escaped("abcdef", 6), "abcdef");
	assert_string_equal(escaped("abcdefg", 6), "abcdef...");
	assert_string_equal(quoted("abcdefg", 6), "\"abcdef...\"");
}

static void json_strings_are_json(void **unused)
{
	(void)unused;
	assert_string_equal(quoted("a\"b\\c/d", 100), "\"a\\\"b\\\\c/d\"");
	assert_string_equal(quoted("\n\x01\x7f\x1b", 100), "\"\\u000a\\u0001\\u007f\\u001b\"");
	assert_string_equal(quoted("\xc3\xa9", 100), "\"\xc3\xa9\"");
	assert_string_equal(quoted("\xe2\x80\xae", 100), "\"\\u202e\"");
	assert_string_equal(quoted("\xf3\xa0\x81\x81", 100), "\"\\udb40\\udc41\"");
	assert_string_equal(quoted("\xff\xed\xa0\x80", 100), "\"\\\\xff\\\\xed\\\\xa0\\\\x80\"");
	assert_string_equal(quoted(NULL, 100), "null");
}

static void a_full_text_is_a_prefix_and_says_so(void **unused)
{
	char *out = malloc(8); /* on the heap, where a tool sees a byte too far */
	struct gmod_text t;

	(void)unused;
	assert_non_null(out);
	gmod_text_init(&t, out, 8);
	gmod_text_str(&t, "abc");
	gmod_text_escaped(&t,
			  "d\xff"
			  "e",
			  10); /* \xff does not fit as a whole */
	assert_true(t.full);
	assert_string_equal(out, "abcd");
	gmod_text_str(&t, "x");
	assert_string_equal(out, "abcd");
	gmod_text_mark_cut(&t);
	assert_string_equal(out, "a...");
	free(out);
}

static void cutting_spares_whole_characters(void **unused)
{
	char out[8];
	struct gmod_text t;

	(void)unused;
	gmod_text_init(&t, out, sizeof(out));
	gmod_text_escaped(&t, "ab\xf0\x9f\x98\x80zzzz", 20);
	assert_true(t.full);
	gmod_text_mark_cut(&t);
	assert_string_equal(out, "ab...");
}

static void times_are_utc(void **unused)
{
	static const struct {
		uint64_t second;
		const char *stamp;
	} row[] = {
	    {1, "\"1970-01-01T00:00:01.000000007Z\""},          {951782399, "\"2000-02-28T23:59:59.000000007Z\""},
	    {951782400, "\"2000-02-29T00:00:00.000000007Z\""},  {951868800, "\"2000-03-01T00:00:00.000000007Z\""},
	    {1798761599, "\"2026-12-31T23:59:59.000000007Z\""}, {4107542399, "\"2100-02-28T23:59:59.000000007Z\""},
	    {4107542400, "\"2100-03-01T00:00:00.000000007Z\""},
	};
	char out[64];
	struct gmod_text t;

	(void)unused;
	for (size_t i = 0; i < sizeof(row) / sizeof(row[0]); i++) {
		gmod_text_init(&t, out, sizeof(out));
		gmod_text_stamp(&t, row[i].second * 1000000000 + 7);
		assert_string_equal(out, row[i].stamp);
	}
	gmod_text_init(&t, out, sizeof(out));
	gmod_text_stamp(&t, 0);
	gmod_text_str(&t, " ");
	gmod_text_clock(&t, 45067102311999ull);
	assert_string_equal(out, "null 12:31:07.102311");
}

/* ---- lines ---- */

static void say_lines(void)
{
	errno = EBUSY;
	gmod_log_line("one %d %s", 1, "a\x1b[31m");
	NEED(gmod_log_open("", false, 1) == 0);
	gmod_log_note(0, "two");
	gmod_log_note(1, "three");
	gmod_log_note(2, "four");
	gmod_log_string(NULL, "100%s");
	NEED(errno == EBUSY);
	NEED(gmod_log_lost() == 0);
}

static void lines_go_to_stderr(void **unused)
{
	const char *text;

	(void)unused;
	in_child(say_lines);
	text = text_of("stderr");
	assert_int_equal(strncmp(text, "one 1 a\\x1b[31m\n==", 18), 0);
	assert_non_null(strstr(text, "==GMOD: two\n"));
	assert_non_null(strstr(text, "==GMOD: three\n"));
	assert_null(strstr(text, "four"));
	assert_non_null(strstr(text, "==GMOD: 100%s\n"));
}

static void say_long_lines(void)
{
	static char word[10001];

	memset(word, 'w', 10000);
	gmod_log_line("%s", word);
	NEED(gmod_log_open(NULL, true, 0) == 0);
	memset(word, '\x01', 10000);
	gmod_log_line("%s", word);
}

static void long_lines_are_cut(void **unused)
{
	const char *text, *second;

	(void)unused;
	in_child(say_long_lines);
	text = text_of("stderr");
	second = strchr(text, '\n') + 1;
	assert_in_range(second - text, 2000, 2048);
	assert_int_equal(memcmp(second - 6, "ww...\n", 6), 0);
	assert_in_range(strlen(second), 2000, 2048);
	assert_int_equal(strncmp(second, "{\"schema\":\"gmod-report-1\",\"event\":\"note\",\"pid\":", 47), 0);
	assert_non_null(strstr(second, ",\"text\":\"\\u0001\\u0001"));
	assert_string_equal(second + strlen(second) - 12, "\\u0001...\"}\n");
}

static void say_in_json(void)
{
	NEED(gmod_log_open("", true, 1) == 0);
	NEED(gmod_log_json());
	gmod_log_note(1, "a \"%s\"", "b\n");
	gmod_log_line("plain");
}

static void a_json_log_has_nothing_but_json(void **unused)
{
	const char *text;

	(void)unused;
	in_child(say_in_json);
	text = text_of("stderr");
	assert_int_equal(strncmp(text, "{\"schema\":\"gmod-report-1\",\"event\":\"note\",\"pid\":", 47), 0);
	assert_non_null(strstr(text, ",\"text\":\"a \\\"b\\u000a\\\"\"}\n{"));
	assert_non_null(strstr(text, ",\"text\":\"plain\"}\n"));
	assert_null(strstr(text, "==GMOD"));
}

/* ---- the file ---- */

static void use_log(void)
{
	struct stat st;

	NEED(gmod_log_open("log", false, 0) == 0);
	NEED(stat("log", &st) != 0 && errno == ENOENT); /* a quiet run leaves no file */
	gmod_log_line("first");
	NEED(stat("log", &st) == 0 && (st.st_mode & 07777) == 0600);
	NEED(chdir("/") == 0);
	gmod_log_line("second");
}

static void use_stale_log(void)
{
	NEED(gmod_log_open("log", false, 0) == 0);
	gmod_log_line("third");
}

static void the_file_is_made_by_the_first_line(void **unused)
{
	(void)unused;
	in_child(use_log);
	assert_string_equal(text_of("log"), "first\nsecond\n");
	assert_string_equal(text_of("stderr"), "");
	in_child(use_stale_log);
	assert_string_equal(text_of("log"), "first\nsecond\nthird\n");
}

static void use_patterns(void)
{
	setenv("PMI_RANK", "7", 1);
	NEED(gmod_log_open("p%p.h%h.t%t.r%r.%%.%q", false, 0) == 0);
	gmod_log_line("x");
	setenv("OMPI_COMM_WORLD_RANK", "../../etc/3", 1); /* comes first, but is no rank */
	NEED(gmod_log_open("hostile%r", false, 0) == 0);
	gmod_log_line("x");
	setenv("OMPI_COMM_WORLD_RANK", "12", 1);
	NEED(gmod_log_open("trailing%r%", false, 0) == 0);
	gmod_log_line("x");
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMI_RANK");
	unsetenv("PMIX_RANK");
	unsetenv("SLURM_PROCID");
	unsetenv("RANK");
	NEED(gmod_log_open("none%r", false, 0) == 0);
	gmod_log_line("x");
}

static void the_pattern_is_expanded(void **unused)
{
	struct utsname u;
	char command[512];

	(void)unused;
	in_child(use_patterns);
	assert_int_equal(uname(&u), 0);
	snprintf(command, sizeof(command), "ls | grep -Eqx 'p[0-9]+\\.h%s\\.t2[0-9]{7}-[0-9]{6}\\.r7\\.%%\\.%%q'",
		 u.nodename);
	assert_int_equal(system(command), 0);
	assert_string_equal(text_of("hostile0"), "x\n");
	assert_string_equal(text_of("trailing12%"), "x\n");
	assert_string_equal(text_of("none0"), "x\n");
}

static void open_bad_paths(void)
{
	char path[PATH_MAX + 10];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	NEED(gmod_log_open(path, false, 0) == -1);
	gmod_log_line("to stderr");
}

static void a_path_that_is_too_long_is_refused(void **unused)
{
	(void)unused;
	in_child(open_bad_paths);
	assert_true(has("stderr", ": the path is too long; reports go to stderr\nto stderr\n"));
}

static void open_missing(void)
{
	NEED(gmod_log_open("nowhere/log", false, 0) == -1);
	gmod_log_line("to stderr");
	NEED(gmod_log_open("nowhere/log", false, 0) == -1); /* said once */
}

static void an_unwritable_path_is_said_at_the_start(void **unused)
{
	const char *text;

	(void)unused;
	in_child(open_missing);
	text = text_of("stderr");
	assert_non_null(strstr(text, "GMOD: cannot write log_path /"));
	assert_non_null(strstr(text, "/nowhere/log: no such directory; reports go to stderr\nto stderr\n"));
	assert_null(strstr(strstr(text, "cannot") + 1, "cannot"));
}

static void open_forbidden(void)
{
	NEED(mkdir("private", 0500) == 0);
	if (geteuid() == 0) /* root may write anywhere: become somebody else */
		NEED(chmod(".", 0755) == 0 && seteuid(65534) == 0);
	NEED(gmod_log_open("private/log", false, 0) == -1);
}

static void a_directory_without_permission_is_refused(void **unused)
{
	(void)unused;
	in_child(open_forbidden);
	assert_true(has("stderr", "/private/log: permission denied; reports go to stderr\n"));
}

static void open_foreign(void)
{
	close(open("foreign", O_WRONLY | O_CREAT, 0666));
	NEED(chmod("foreign", 0666) == 0 && chown("foreign", 1234, -1) == 0);
	NEED(gmod_log_open("foreign", false, 0) == -1);
}

static void a_file_of_another_user_is_refused(void **unused)
{
	(void)unused;
	if (geteuid() != 0)
		skip();
	in_child(open_foreign);
	assert_true(has("stderr", "it belongs to another user"));
}

static void open_odd_things(void)
{
	NEED(mkdir("dir", 0700) == 0);
	NEED(gmod_log_open("dir", false, 0) == -1);
	NEED(gmod_log_open("dir/", false, 0) == -1);
	close(open("file", O_WRONLY | O_CREAT, 0600));
	NEED(link("file", "other") == 0);
	NEED(gmod_log_open("file", false, 0) == -1);
	NEED(unlink("other") == 0);
	NEED(gmod_log_open("file", false, 0) == 0);
	NEED(gmod_log_open("file/log", false, 0) == -1);
}

static void directories_and_hard_links_are_refused(void **unused)
{
	(void)unused;
	in_child(open_odd_things);
}

static void open_symlink(void)
{
	NEED(symlink("precious", "log") == 0);
	NEED(gmod_log_open("log", false, 0) == -1);
	gmod_log_line("one");
}

static void swap_in_symlink(void)
{
	NEED(gmod_log_open("log2", false, 0) == 0);
	NEED(symlink("precious", "log2") == 0);
	gmod_log_line("two");
	NEED(gmod_log_lost() == 0);
}

static void a_symbolic_link_is_never_followed(void **unused)
{
	close(open("precious", O_WRONLY | O_CREAT, 0600));
	(void)unused;
	in_child(open_symlink);
	assert_true(has("stderr", "/log: it is a symbolic link; reports go to stderr\none\n"));
	in_child(swap_in_symlink);
	assert_true(has("stderr", "/log2: it is a symbolic link; reports go to stderr\ntwo\n"));
	assert_string_equal(text_of("precious"), "");
}

static void write_to_full_disk(void)
{
	NEED(gmod_log_open("/dev/full", false, 0) == 0);
	gmod_log_line("one");
	gmod_log_line("two");
	NEED(gmod_log_lost() == 0);
	NEED(close(2) == 0);
	gmod_log_line("three");
	NEED(gmod_log_lost() == 1);
}

static void a_full_disk_sends_lines_to_stderr(void **unused)
{
	(void)unused;
	in_child(write_to_full_disk);
	assert_true(has("stderr", "cannot write log_path /dev/full: no space left; reports go to stderr\none\ntwo\n"));
	assert_false(has("stderr", "three"));
}

static void write_past_limit(void)
{
	const struct rlimit limit = {10, 10};

	NEED(gmod_log_open("log", false, 0) == 0);
	NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	gmod_log_line("more than ten bytes");
	NEED(gmod_log_lost() >= 1); /* stderr is a file as well */
}

static void the_file_size_limit_kills_nobody(void **unused)
{
	(void)unused;
	in_child(write_past_limit);
	assert_string_equal(text_of("log"), "more than ");
}

static void lose_descriptors(void)
{
	int first, last;

	NEED(gmod_log_open("log", false, 0) == 0);
	gmod_log_line("one");
	for (int fd = 3; fd < 700; fd++) /* what daemons do */
		close(fd);
	first = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	NEED(first == 3);
	for (last = first; last >= 0 && last < 690;)
		last = dup(first); /* our number is among these */
	gmod_log_line("two");
	gmod_log_line("three");
}

static void a_recycled_log_descriptor_is_noticed(void **unused)
{
	(void)unused;
	in_child(lose_descriptors);
	assert_string_equal(text_of("log"), "one\ntwo\nthree\n");
	assert_string_equal(text_of("data"), "");
}

static void start_without_standard_streams(void)
{
	int null;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	NEED(gmod_log_open("log", false, 0) == 0);
	gmod_log_line("one");
	null = open("/dev/null", O_RDWR);
	NEED(null == 0); /* the log keeps away from the low numbers */
	gmod_log_line("two");
	NEED(gmod_log_lost() == 0);
}

static void the_log_works_without_stderr(void **unused)
{
	(void)unused;
	in_child(start_without_standard_streams);
	assert_string_equal(text_of("log"), "one\ntwo\n");
}

static void use_fifo(void)
{
	char got[64] = "";
	int reader;

	NEED(mkfifo("fifo", 0600) == 0);
	NEED(gmod_log_open("fifo", false, 0) == 0);
	gmod_log_line("one");
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	NEED(reader >= 0);
	gmod_log_line("two");
	NEED(read(reader, got, sizeof(got)) == 4 && memcmp(got, "two\n", 4) == 0);
	close(reader);
	gmod_log_line("three");
	NEED(gmod_log_lost() == 0);
}

static void a_fifo_without_a_reader_blocks_nobody(void **unused)
{
	(void)unused;
	in_child(use_fifo);
	assert_true(has("stderr", "/fifo: nobody reads the pipe; reports go to stderr\none\nthree\n"));
}

/* ---- stderr ---- */

static void close_stderr(void)
{
	gmod_log_remember_stderr();
	close(2);
	errno = EBUSY;
	gmod_log_lines("one\n", 4);
	NEED(errno == EBUSY);
	NEED(gmod_log_lost() == 1);
	NEED(open("data", O_RDWR | O_CREAT | O_TRUNC, 0600) == 2);
	gmod_log_line("two");
	NEED(gmod_log_lost() == 2);
}

static void close_stderr_first(void)
{
	close(2);
	gmod_log_remember_stderr();
	NEED(open("data", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600) == 2);
	gmod_log_line("three");
	NEED(gmod_log_lost() == 1);
}

static void recycle_stderr_as_socket(void)
{
	int pair[2];
	char c;

	gmod_log_remember_stderr();
	NEED(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair) == 0);
	NEED(dup2(pair[0], 2) == 2);
	gmod_log_line("four");
	NEED(gmod_log_lost() == 1);
	NEED(read(pair[1], &c, 1) == -1 && errno == EAGAIN);
}

static void a_recycled_stderr_is_not_written_to(void **unused)
{
	(void)unused;
	in_child(close_stderr);
	assert_string_equal(text_of("data"), "");
	in_child(close_stderr_first);
	assert_string_equal(text_of("data"), "");
	in_child(recycle_stderr_as_socket);
}

static void redirect_as_daemons_do(void)
{
	int log;

	gmod_log_remember_stderr();
	log = open("daemon", O_WRONLY | O_CREAT | O_APPEND, 0600);
	NEED(dup2(log, 1) == 1 && dup2(log, 2) == 2);
	gmod_log_line("one");
	NEED(gmod_log_lost() == 0);
}

static void a_log_that_stdout_shares_is_accepted(void **unused)
{
	(void)unused;
	in_child(redirect_as_daemons_do);
	assert_string_equal(text_of("daemon"), "one\n");
}

static void restore_stderr(void)
{
	int kept = dup(2);

	gmod_log_remember_stderr();
	close(2);
	gmod_log_line("one");
	gmod_log_line("two");
	NEED(dup2(kept, 2) == 2);
	gmod_log_line("three");
	gmod_log_line("four");
	NEED(gmod_log_lost() == 2);
}

static void losses_are_told_when_there_is_a_way_again(void **unused)
{
	const char *text;

	(void)unused;
	in_child(restore_stderr);
	text = text_of("stderr");
	assert_int_equal(strncmp(text, "==", 2), 0);
	assert_non_null(strstr(text, "==GMOD: 2 lines before this one could not be written\nthree\nfour\n"));
}

static void stderr_is_a_socket(void)
{
	char got[16];
	int pair[2];

	NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, pair) == 0);
	NEED(dup2(pair[0], 2) == 2);
	gmod_log_line("one");
	NEED(read(pair[1], got, sizeof(got)) == 4 && memcmp(got, "one\n", 4) == 0);
	close(pair[1]);
	gmod_log_line("two");
	NEED(gmod_log_lost() == 1);
}

static void a_socket_from_the_start_is_used(void **unused)
{
	(void)unused;
	in_child(stderr_is_a_socket);
}

/* Make descriptor 2 a pipe with nothing more to be written to it; returns the reading end. */
static int fill_stderr(void)
{
	static char block[4096];
	int ends[2];

	NEED(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	close(ends[1]);
	NEED(fcntl(2, F_SETFL, O_NONBLOCK) == 0);
	while (write(2, block, sizeof(block)) > 0)
		;
	while (write(2, block, 1) > 0)
		;
	NEED(fcntl(2, F_SETFL, 0) == 0);
	return ends[0];
}

static void drain(int fd)
{
	char block[4096];

	NEED(fcntl(fd, F_SETFL, O_NONBLOCK) == 0);
	while (read(fd, block, sizeof(block)) > 0)
		;
}

static void write_to_full_pipe(void)
{
	int reader = fill_stderr();
	char got[256] = "";

	gmod_log_line("one");
	gmod_log_line("two");
	NEED(gmod_log_lost() == 2);
	NEED(!(fcntl(2, F_GETFL) & O_NONBLOCK)); /* the program's own flag is left alone */
	drain(reader);
	gmod_log_line("three");
	NEED(read(reader, got, sizeof(got) - 1) > 0);
	NEED(strstr(got, "2 lines before this one could not be written\nthree\n"));
}

static void a_full_pipe_does_not_block(void **unused)
{
	(void)unused;
	in_child(write_to_full_pipe);
}

/* Nearly full: part of a long line gets through, and the next line does not go on where it ended. */
static void write_into_a_gap(void)
{
	static char text[100000], line[9001];
	int reader = fill_stderr();
	ssize_t n;

	NEED(read(reader, text, 8192) == 8192);
	memset(line, 'x', 9000);
	line[8999] = '\n';
	gmod_log_lines(line, 9000);
	NEED(gmod_log_lost() == 1);
	drain(reader);
	gmod_log_line("next");
	n = read(reader, text, sizeof(text) - 1);
	NEED(n > 0);
	text[n] = '\0';
	NEED(text[0] == '\n' && strstr(text, "\nnext\n"));
}

static void a_torn_line_is_ended(void **unused)
{
	(void)unused;
	in_child(write_into_a_gap);
}

static volatile sig_atomic_t pipes_broken;

static void note_signal(int number)
{
	(void)number;
	pipes_broken++;
}

static void write_to_closed_pipe(void)
{
	sigset_t pending, block;
	int ends[2];

	NEED(pipe(ends) == 0 && dup2(ends[1], 2) == 2);
	close(ends[0]);
	close(ends[1]);
	signal(SIGPIPE, note_signal);
	gmod_log_line("one");
	NEED(gmod_log_lost() == 1 && pipes_broken == 0);
	signal(SIGPIPE, SIG_DFL);
	gmod_log_line("two"); /* would kill */
	NEED(sigpending(&pending) == 0 && !sigismember(&pending, SIGPIPE));
	NEED(sigprocmask(SIG_SETMASK, NULL, &block) == 0 && !sigismember(&block, SIGPIPE) &&
	     !sigismember(&block, SIGTERM));

	sigemptyset(&block);
	sigaddset(&block, SIGPIPE);
	sigprocmask(SIG_BLOCK, &block, NULL);
	raise(SIGPIPE); /* the program's own is not ours to take */
	gmod_log_line("three");
	NEED(sigpending(&pending) == 0 && sigismember(&pending, SIGPIPE));
	NEED(sigprocmask(SIG_SETMASK, NULL, &pending) == 0 && sigismember(&pending, SIGPIPE));
	NEED(gmod_log_lost() == 3);
}

static void a_closed_pipe_does_not_kill(void **unused)
{
	(void)unused;
	in_child(write_to_closed_pipe);
}

/* ---- threads ---- */

#define WRITERS 4
#define BLOCKS 50

static void *write_blocks(void *name)
{
	char block[64];
	int n = snprintf(block, sizeof(block), "%c1\n%c2\n%c3\n", *(char *)name, *(char *)name, *(char *)name);

	for (int i = 0; i < BLOCKS; i++)
		gmod_log_lines(block, (size_t)n);
	return NULL;
}

static void write_from_threads(void)
{
	pthread_t thread[WRITERS];

	NEED(gmod_log_open("log", false, 0) == 0);
	for (int i = 0; i < WRITERS; i++)
		NEED(pthread_create(&thread[i], NULL, write_blocks, &"abcd"[i]) == 0);
	for (int i = 0; i < WRITERS; i++)
		pthread_join(thread[i], NULL);
}

static void the_lines_of_a_block_stay_together(void **unused)
{
	const char *text;

	(void)unused;
	in_child(write_from_threads);
	text = text_of("log");
	assert_int_equal(strlen(text), WRITERS * BLOCKS * 9);
	for (int i = 0; i < WRITERS * BLOCKS; i++, text += 9) {
		char block[16];

		snprintf(block, sizeof(block), "%c1\n%c2\n%c3\n", text[0], text[0], text[0]);
		assert_int_equal(memcmp(text, block, 9), 0);
	}
}

static _Atomic bool enough;

static void *write_without_end(void *unused)
{
	while (!enough)
		gmod_log_lines("x\nx\nx\nx\nx\nx\nx\nx\n", 16);
	return unused;
}

/* A child of fork() may inherit the lock in use; it must not wait for a thread it does not have. */
static void fork_while_writing(void)
{
	struct timespec start, end;
	pthread_t thread;
	int status;

	NEED(gmod_log_open("/dev/null", false, 0) == 0);
	NEED(pthread_create(&thread, NULL, write_without_end, NULL) == 0);
	for (int i = 0; i < 8; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			clock_gettime(CLOCK_MONOTONIC, &start);
			gmod_log_line("child");
			clock_gettime(CLOCK_MONOTONIC, &end);
			_exit(end.tv_sec - start.tv_sec > 3);
		}
		NEED(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
	}
	enough = true;
	pthread_join(thread, NULL);
}

static void a_lock_inherited_by_fork_is_not_waited_for(void **unused)
{
	(void)unused;
	in_child(fork_while_writing);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(escaping_leaves_readable_text_alone),
	    cmocka_unit_test(escaping_shows_what_hides),
	    cmocka_unit_test(escaping_stops_at_its_limit),
	    cmocka_unit_test(json_strings_are_json),
	    cmocka_unit_test(a_full_text_is_a_prefix_and_says_so),
	    cmocka_unit_test(cutting_spares_whole_characters),
	    cmocka_unit_test(times_are_utc),
	    cmocka_unit_test(lines_go_to_stderr),
	    cmocka_unit_test(long_lines_are_cut),
	    cmocka_unit_test(a_json_log_has_nothing_but_json),
	    cmocka_unit_test_teardown(the_file_is_made_by_the_first_line, clean_directory),
	    cmocka_unit_test_teardown(the_pattern_is_expanded, clean_directory),
	    cmocka_unit_test(a_path_that_is_too_long_is_refused),
	    cmocka_unit_test(an_unwritable_path_is_said_at_the_start),
	    cmocka_unit_test_teardown(a_directory_without_permission_is_refused, clean_directory),
	    cmocka_unit_test_teardown(a_file_of_another_user_is_refused, clean_directory),
	    cmocka_unit_test_teardown(directories_and_hard_links_are_refused, clean_directory),
	    cmocka_unit_test_teardown(a_symbolic_link_is_never_followed, clean_directory),
	    cmocka_unit_test(a_full_disk_sends_lines_to_stderr),
	    cmocka_unit_test_teardown(the_file_size_limit_kills_nobody, clean_directory),
	    cmocka_unit_test_teardown(a_recycled_log_descriptor_is_noticed, clean_directory),
	    cmocka_unit_test_teardown(the_log_works_without_stderr, clean_directory),
	    cmocka_unit_test_teardown(a_fifo_without_a_reader_blocks_nobody, clean_directory),
	    cmocka_unit_test_teardown(a_recycled_stderr_is_not_written_to, clean_directory),
	    cmocka_unit_test_teardown(a_log_that_stdout_shares_is_accepted, clean_directory),
	    cmocka_unit_test(losses_are_told_when_there_is_a_way_again),
	    cmocka_unit_test(a_socket_from_the_start_is_used),
	    cmocka_unit_test(a_full_pipe_does_not_block),
	    cmocka_unit_test(a_torn_line_is_ended),
	    cmocka_unit_test(a_closed_pipe_does_not_kill),
	    cmocka_unit_test_teardown(the_lines_of_a_block_stay_together, clean_directory),
	    cmocka_unit_test(a_lock_inherited_by_fork_is_not_waited_for),
	};

	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
