/*
 * What the tests of the log share: children with a descriptor 2, signals and limits of
 * their own. One that blocks is killed after CHILD_SECONDS, which fails the test.
 */
#pragma once

#include <signal.h>

#include "lib/base/log.h"
#include "tests/unit/directory.h"

#define CHILD_SECONDS 10

static int complaints = -1; /* the test's own stderr, for failing children */

static inline void need(int holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	dprintf(complaints, "%s:%d: in the child: %s\n", file, line, what);
	_exit(1);
}

#define NEED(condition) need(!!(condition), #condition, __FILE__, __LINE__)

static volatile pid_t child;

/* From here, because while it writes the sink holds off the child's own alarms. */
static inline void kill_child(int number)
{
	(void)number;
	kill(child, SIGKILL);
}

/* Run body in a child whose descriptor 2 is the file "stderr" in the test's directory; what it wrote is in text. */
static inline void in_child(void (*body)(void))
{
	int status;

	if (complaints < 0)
		complaints = fcntl(2, F_DUPFD_CLOEXEC, 3000);
	if (complaints < 0)
		complaints = fcntl(2, F_DUPFD_CLOEXEC, 900);
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
	read_file("stderr");
}

static inline void run_in_child(void **state)
{
	in_child(((const struct listed_test *)*state)->body);
}

/* A piece of one line. */
static inline void log_line(const char *words)
{
	char line[256];

	gmod_log_lines(line, (size_t)snprintf(line, sizeof(line), "%s\n", words));
}

static inline bool has(const char *path, const char *words)
{
	return strstr(read_file(path), words) != NULL;
}

/* ... and these words stand on its stderr. */
static inline void check_child_says(void (*body)(void), const char *words)
{
	in_child(body);
	if (!strstr(text, words))
		print_error("\"%s\" is missing in:\n%s\n", words, text);
	assert_non_null(strstr(text, words));
}
