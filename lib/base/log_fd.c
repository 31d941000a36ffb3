#include "lib/base/log_fd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "lib/base/deadline.h"

bool gmod_same_file(const struct stat *a, const struct stat *b)
{
	return a->st_dev == b->st_dev && a->st_ino == b->st_ino && ((a->st_mode ^ b->st_mode) & S_IFMT) == 0;
}

static bool takes_output(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT);
}

/*
 * How much of n bytes a write takes at once: nothing where it had to stop in the midst of them. A pipe takes PIPE_BUF
 * bytes or says that it does not; of more, what it has room for, and each two of its pages hold more than one page's
 * bytes. What else may block takes PIPE_BUF when it polls writable.
 */
static size_t takes_at_once(int fd, size_t n, bool paced)
{
	int capacity = fcntl(fd, F_GETPIPE_SZ), held = 0;

	if (n > PIPE_BUF && capacity > 0 && ioctl(fd, FIONREAD, &held) == 0) {
		if (held)
			return 2 * (size_t)held + n + 3 * PIPE_BUF <= (size_t)capacity ? n : 0;
		return n < (size_t)capacity ? n : (size_t)capacity;
	}
	if (!paced)
		return n;
	if (!takes_output(fd))
		return 0;
	return n < PIPE_BUF ? n : PIPE_BUF;
}

static ssize_t write_now(int fd, const char *s, size_t n, enum gmod_writing how)
{
	size_t now;

	if (how == GMOD_SENDS)
		return send(fd, s, n, MSG_DONTWAIT | MSG_NOSIGNAL);
	now = takes_at_once(fd, n, how == GMOD_PACED);
	errno = EAGAIN;
	return now ? write(fd, s, now) : -1;
}

/* Write it all, or say false, and in *torn whether a part of it is out. */
static bool write_all(int fd, const char *s, size_t n, enum gmod_writing how, bool *torn)
{
	/* Whoever reads takes a moment to make room for the rest: less than anybody waits for the log. */
	uint64_t patience = GMOD_SECONDS(1) / 2;

	for (size_t done = 0; done < n;) {
		ssize_t w = write_now(fd, s + done, n - done, how);

		if (w <= 0 && done && errno == EAGAIN && gmod_nap(&patience, GMOD_MILLISECONDS(1)))
			continue;
		if (w <= 0) {
			*torn = done > 0;
			if (*torn && errno == EAGAIN)
				errno = EMSGSIZE;
			return false;
		}
		done += (size_t)w;
	}
	return true;
}

bool gmod_write_piece(int fd, const char *s, size_t n, enum gmod_writing how, bool *torn)
{
	bool still = false;

	if (*torn && !write_all(fd, "\n", 1, how, &still))
		return false;
	*torn = false;
	return write_all(fd, s, n, how, torn);
}

static bool is_still(int fd, const struct stat *whose)
{
	struct stat now;

	return fstat(fd, &now) == 0 && gmod_same_file(&now, whose);
}

bool gmod_write_own_piece(int fd, const struct stat *whose, const char *s, size_t n, bool *torn)
{
	uint64_t deadline = GMOD_MILLISECONDS(100);
	bool ok;

	/* Each time: a file of the program's would be locked, and stay so. */
	while (is_still(fd, whose) && flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK &&
	       gmod_nap(&deadline, GMOD_MILLISECONDS(1)))
		;
	if (!is_still(fd, whose)) {
		errno = EBADF;
		return false;
	}
	ok = gmod_write_piece(fd, s, n, GMOD_WRITES, torn);
	flock(fd, LOCK_UN);
	return ok;
}
