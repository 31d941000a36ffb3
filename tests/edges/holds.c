/*
 * holds FILE HEX...: does the file hold one of these byte strings? 0: yes, 1: no, 2: it could not be read. Core files
 * have holes of many GiB, which are passed over, and no lines that grep could take one at a time.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

enum { BLOCK = 1 << 20, PATTERN = 64, PATTERNS = 8 };

static unsigned char pattern[PATTERNS][PATTERN];
static size_t length[PATTERNS];
static int patterns;

static int parse(const char *hex, unsigned char *out, size_t *size)
{
	size_t digits = strlen(hex);

	if (!digits || digits % 2 || digits / 2 > PATTERN)
		return 0;
	for (*size = 0; *size < digits / 2; ++*size) {
		unsigned byte;

		if (sscanf(hex + 2 * *size, "%2x", &byte) != 1)
			return 0;
		out[*size] = (unsigned char)byte;
	}
	return 1;
}

static int found(const unsigned char *bytes, size_t size)
{
	for (int i = 0; i < patterns; i++)
		if (memmem(bytes, size, pattern[i], length[i]))
			return 1;
	return 0;
}

/* One run of data; blocks overlap, so that nothing hides across two of them. */
static int search(int fd, off_t from, off_t to)
{
	static unsigned char block[BLOCK];

	for (off_t at = from; at < to; at += BLOCK - PATTERN) {
		ssize_t n = pread(fd, block, sizeof(block), at);

		if (n <= 0)
			break;
		if (found(block, (size_t)n))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	int fd = argc > 2 && argc - 2 <= PATTERNS ? open(argv[1], O_RDONLY | O_CLOEXEC) : -1;
	off_t at = 0, end;

	if (fd < 0)
		return 2;
	for (; patterns < argc - 2; patterns++)
		if (!parse(argv[patterns + 2], pattern[patterns], &length[patterns]))
			return 2;
	while ((at = lseek(fd, at, SEEK_DATA)) >= 0) {
		end = lseek(fd, at, SEEK_HOLE);
		if (search(fd, at, end))
			return 0;
		at = end;
	}
	return 1;
}
