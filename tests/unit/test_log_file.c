/* The file of log_path: how it is named, made and found again, and what is refused as one. */
#include <limits.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include "lib/base/clock.h"
#include "lib/base/counters.h"
#include "lib/base/log.h"
#include "tests/unit/log_child.h"

static void use_log(void)
{
	struct stat st;

	NEED(gmod_log_open("log", false, 0) == 0);
	NEED(stat("log", &st) != 0 && errno == ENOENT); /* a quiet run leaves no file */
	log_line("first");
	NEED(stat("log", &st) == 0 && (st.st_mode & 07777) == 0600);
	NEED(chdir("/") == 0);
	log_line("second");
}

static void use_stale_log(void)
{
	NEED(gmod_log_open("log", false, 0) == 0);
	log_line("third");
}

TEST_FIXTURE(the_file_is_made_by_the_first_line, NULL, clean_directory)
{
	in_child(use_log);
	assert_string_equal(read_file("log"), "first\nsecond\n");
	assert_string_equal(read_file("stderr"), "");
	in_child(use_stale_log);
	assert_string_equal(read_file("log"), "first\nsecond\nthird\n");
}

static void use_patterns(void)
{
	setenv("PMI_RANK", "7", 1);
	NEED(gmod_log_open("p%p.h%h.t%t.r%r.%%.%q", false, 0) == 0);
	log_line("x");
	setenv("OMPI_COMM_WORLD_RANK", "../../etc/3", 1); /* comes first, but is no rank */
	NEED(gmod_log_open("hostile%r", false, 0) == 0);
	log_line("x");
	setenv("OMPI_COMM_WORLD_RANK", "12", 1);
	NEED(gmod_log_open("trailing%r%", false, 0) == 0);
	log_line("x");
	unsetenv("OMPI_COMM_WORLD_RANK");
	unsetenv("PMI_RANK");
	unsetenv("PMIX_RANK");
	unsetenv("SLURM_PROCID");
	unsetenv("RANK");
	NEED(gmod_log_open("none%r", false, 0) == 0);
	log_line("x");
}

TEST_FIXTURE(the_pattern_is_expanded, NULL, clean_directory)
{
	struct utsname u;
	char command[512];

	in_child(use_patterns);
	assert_int_equal(uname(&u), 0);
	snprintf(command, sizeof(command), "ls | grep -Eqx 'p[0-9]+\\.h%s\\.t2[0-9]{7}-[0-9]{6}\\.r7\\.%%\\.%%q'",
		 u.nodename);
	assert_int_equal(system(command), 0);
	assert_string_equal(read_file("hostile0"), "x\n");
	assert_string_equal(read_file("trailing12%"), "x\n");
	assert_string_equal(read_file("none0"), "x\n");
}

/* Set one after the other, each goes before those that are set already. */
static void use_ranks(void)
{
	static const char *const variable[] = {"RANK", "SLURM_PROCID", "PMI_RANK", "PMIX_RANK", "OMPI_COMM_WORLD_RANK"};
	char rank[] = "0";

	for (size_t i = 0; i < SIZE_OF(variable); i++)
		unsetenv(variable[i]);
	for (size_t i = 0; i < SIZE_OF(variable); i++) {
		rank[0]++;
		setenv(variable[i], rank, 1);
		NEED(gmod_log_open("rank%r", false, 0) == 0);
		log_line(rank);
	}
}

TEST_FIXTURE(every_launcher_has_its_rank, NULL, clean_directory)
{
	char path[] = "rank1";

	in_child(use_ranks);
	for (; path[4] <= '5'; path[4]++)
		assert_int_equal(read_file(path)[0], path[4]);
}

static void open_bad_paths(void)
{
	char path[PATH_MAX + 10];

	memset(path, 'x', sizeof(path));
	path[sizeof(path) - 1] = '\0';
	NEED(gmod_log_open(path, false, 0) == -1);
	log_line("to stderr");
}

TEST(a_path_that_is_too_long_is_refused)
{
	check_child_says(open_bad_paths, ": the path is too long; reports go to stderr\nto stderr\n");
}

static void open_missing(void)
{
	NEED(gmod_log_open("nowhere/log", false, 0) == -1);
	log_line("to stderr");
	NEED(gmod_log_open("nowhere/log", false, 0) == -1); /* said once */
}

TEST(an_unwritable_path_is_said_at_the_start)
{
	in_child(open_missing);
	assert_non_null(strstr(text, "GMOD: cannot write log_path /"));
	assert_non_null(strstr(text, "/nowhere/log: No such file or directory; reports go to stderr\nto stderr\n"));
	assert_null(strstr(strstr(text, "cannot") + 1, "cannot"));
}

static void open_forbidden(void)
{
	NEED(mkdir("private", 0500) == 0);
	if (geteuid() == 0) /* root may write anywhere: become somebody else */
		NEED(chmod(".", 0755) == 0 && seteuid(65534) == 0);
	NEED(gmod_log_open("private/log", false, 0) == -1);
}

TEST_FIXTURE(a_directory_without_permission_is_refused, NULL, clean_directory)
{
	check_child_says(open_forbidden, "/private/log: Permission denied; reports go to stderr\n");
}

static void open_foreign(void)
{
	close(open("foreign", O_WRONLY | O_CREAT, 0666));
	NEED(chmod("foreign", 0666) == 0 && chown("foreign", 1234, -1) == 0);
	NEED(gmod_log_open("foreign", false, 0) == -1);
}

TEST_FIXTURE(a_file_of_another_user_is_refused, NULL, clean_directory)
{
	if (geteuid() != 0)
		skip();
	check_child_says(open_foreign, "it belongs to another user");
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

TEST_FIXTURE(directories_and_hard_links_are_refused, NULL, clean_directory)
{
	in_child(open_odd_things);
}

static void open_symlink(void)
{
	NEED(symlink("precious", "log") == 0);
	NEED(gmod_log_open("log", false, 0) == -1);
	log_line("one");
}

static void swap_in_symlink(void)
{
	NEED(gmod_log_open("log2", false, 0) == 0);
	NEED(symlink("precious", "log2") == 0);
	log_line("two");
	NEED(gmod_counters.lost_lines == 0);
}

TEST_FIXTURE(a_symbolic_link_is_never_followed, NULL, clean_directory)
{
	close(open("precious", O_WRONLY | O_CREAT, 0600));
	check_child_says(open_symlink, "/log: it is a symbolic link; reports go to stderr\none\n");
	check_child_says(swap_in_symlink, "/log2: Too many levels of symbolic links; reports go to stderr\ntwo\n");
	assert_string_equal(read_file("precious"), "");
}

static void write_to_full_disk(void)
{
	NEED(gmod_log_open("/dev/full", false, 0) == 0);
	log_line("one");
	log_line("two");
	NEED(gmod_counters.lost_lines == 0);
	NEED(close(2) == 0);
	log_line("three");
	NEED(gmod_counters.lost_lines == 1);
}

TEST(a_full_disk_sends_lines_to_stderr)
{
	check_child_says(write_to_full_disk,
			 "cannot write log_path /dev/full: No space left on device; reports go to stderr\none\ntwo\n");
	assert_false(has("stderr", "three"));
}

static void write_past_limit(void)
{
	const struct rlimit limit = {10, 10};

	NEED(gmod_log_open("log", false, 0) == 0);
	NEED(setrlimit(RLIMIT_FSIZE, &limit) == 0);
	log_line("more than ten bytes");
	NEED(gmod_counters.lost_lines >= 1); /* stderr is a file as well */
}

TEST_FIXTURE(the_file_size_limit_kills_nobody, NULL, clean_directory)
{
	in_child(write_past_limit);
	assert_string_equal(read_file("log"), "more than ");
}

static void lose_descriptors(void)
{
	int first, last;

	NEED(gmod_log_open("log", false, 0) == 0);
	log_line("one");
	for (int fd = 3; fd < 700; fd++) /* what daemons do */
		close(fd);
	first = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	NEED(first == 3);
	for (last = first; last >= 0 && last < 690;)
		last = dup(first); /* our number is among these */
	log_line("two");
	log_line("three");
}

TEST_FIXTURE(a_recycled_log_descriptor_is_noticed, NULL, clean_directory)
{
	in_child(lose_descriptors);
	assert_string_equal(read_file("log"), "one\ntwo\nthree\n");
	assert_string_equal(read_file("data"), "");
}

static void wait_for_strangers(void)
{
	uint64_t began, took;
	int fd;

	NEED(gmod_log_open("log", false, 0) == 0);
	log_line("first");
	fd = open("log", O_WRONLY | O_APPEND);
	NEED(fd >= 0 && flock(fd, LOCK_EX) == 0);
	began = gmod_monotonic_ns();
	log_line("second");
	took = gmod_monotonic_ns() - began;
	NEED(took > GMOD_MILLISECONDS(90) && took < GMOD_SECONDS(5));
	NEED(gmod_counters.lost_lines == 0);
}

TEST_FIXTURE(another_process_is_waited_for_but_not_for_long, NULL, clean_directory)
{
	in_child(wait_for_strangers);
	assert_string_equal(read_file("log"), "first\nsecond\n");
}

static void rotate_log(void)
{
	NEED(gmod_log_open("d/log", false, 0) == 0);
	log_line("one");
	NEED(rename("d/log", "d/log.1") == 0);
	log_line("two");
	NEED(unlink("d/log") == 0);
	log_line("three");
	/* A place that is not to be had any more: the old file has a name at first, and then none. */
	NEED(rename("d", "e") == 0);
	log_line("four");
	NEED(unlink("e/log") == 0);
	log_line("five");
	NEED(mkdir("d", 0700) == 0);
	log_line("six");
	NEED(gmod_counters.lost_lines == 0);
}

TEST_FIXTURE(a_rotated_log_is_opened_again, NULL, clean_directory)
{
	assert_int_equal(mkdir("d", 0700), 0);
	check_child_says(rotate_log, "/d/log: No such file or directory; reports go to stderr\nfive\n");
	assert_string_equal(read_file("e/log.1"), "one\n");
	assert_string_equal(read_file("d/log"), "six\n");
	assert_int_equal(unlink("e/log.1") | unlink("d/log") | rmdir("e") | rmdir("d"), 0);
}

static void start_without_standard_streams(void)
{
	int null;

	for (int fd = 0; fd < 3; fd++)
		close(fd);
	NEED(gmod_log_open("log", false, 0) == 0);
	log_line("one");
	null = open("/dev/null", O_RDWR);
	NEED(null == 0); /* the log keeps away from the low numbers */
	log_line("two");
	NEED(gmod_counters.lost_lines == 0);
}

TEST_FIXTURE(the_log_works_without_stderr, NULL, clean_directory)
{
	in_child(start_without_standard_streams);
	assert_string_equal(read_file("log"), "one\ntwo\n");
}

static void use_fifo(void)
{
	char got[64] = "";
	int reader;

	NEED(mkfifo("fifo", 0600) == 0);
	NEED(gmod_log_open("fifo", false, 0) == 0);
	log_line("one");
	reader = open("fifo", O_RDONLY | O_NONBLOCK);
	NEED(reader >= 0);
	log_line("two");
	NEED(read(reader, got, sizeof(got)) == 4 && memcmp(got, "two\n", 4) == 0);
	close(reader);
	log_line("three");
	NEED(gmod_counters.lost_lines == 0);
}

TEST_FIXTURE(a_fifo_without_a_reader_blocks_nobody, NULL, clean_directory)
{
	check_child_says(use_fifo, "/fifo: No such device or address; reports go to stderr\none\nthree\n");
}
