/* A directory of its own for all the tests of a file, and the files in it. For test programs of one file. */
#pragma once

#include "tests/unit/test.h"

static char directory[] = "/tmp/gmod-test-XXXXXX";
static char text[4 << 20];

/* The text of a file, until the next is read; "" if there is none. */
static inline const char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static inline void write_file(const char *path, const char *s)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, s, strlen(s)), strlen(s));
	close(fd);
}

FIXTURE(enter_directory)
{
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

FIXTURE(clean_directory)
{
	return system("rm -rf ./*") == 0 ? 0 : -1;
}

FIXTURE(leave_directory)
{
	return clean_directory(state) == 0 && chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static CMFixtureFunction group_setup = enter_directory, group_teardown = leave_directory;
