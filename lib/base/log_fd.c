#include "lib/base/log_fd.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <unistd.h>

#define INTERRUPTS_MAX 8

struct gmod_file_id gmod_file_id(const struct stat *st)
{
	return (struct gmod_file_id){true, st->st_dev, st->st_ino, st->st_mode & S_IFMT, st->st_rdev};
}

bool gmod_file_id_matches(const struct gmod_file_id *id, const struct stat *st)
{
	return id->known && id->dev == st->st_dev && id->ino == st->st_ino && id->type == (st->st_mode & S_IFMT) &&
	       id->rdev == st->st_rdev;
}

static bool takes_output(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

/*
 * Write it all, or say false, and in *torn whether a part of it is out. paced: the descriptor may block and is not
 * ours to make non-blocking, so ask before each piece; what a pipe that polls writable takes at once is PIPE_BUF.
 */
static bool write_all(int fd, const char *s, size_t n, bool paced, bool *torn)
{
	int interrupts = 0;

	for (size_t done = 0; done < n;) {
		size_t piece = paced && n - done > PIPE_BUF ? PIPE_BUF : n - done;
		ssize_t w = -1;

		errno = EAGAIN;
		if (!paced || takes_output(fd))
			w = write(fd, s + done, piece);
		if (w < 0 && errno == EINTR && interrupts++ < INTERRUPTS_MAX)
			continue;
		if (w <= 0) {
			*torn = done > 0;
			return false;
		}
		done += (size_t)w;
	}
	return true;
}

bool gmod_write_line(int fd, const char *s, size_t n, bool paced, bool *torn)
{
	bool still = false;

	if (*torn && !write_all(fd, "\n", 1, paced, &still))
		return false;
	*torn = false;
	return write_all(fd, s, n, paced, torn);
}
