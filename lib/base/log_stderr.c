#include "lib/base/log_stderr.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "lib/base/log_fd.h"

/* noted and id are written by whoever notes first, torn by the holder of the lock of lib/base/log.c. */
static struct {
	bool noted;     /* even if it was closed */
	struct stat id; /* at the start */
	bool torn;      /* the last piece ended early */
} stream;

void gmod_log_remember_stderr(void)
{
	int saved = errno;

	if (!stream.noted)
		fstat(STDERR_FILENO, &stream.id);
	stream.noted = true;
	errno = saved;
}

bool gmod_is_terminal(int fd)
{
	struct termios settings;

	return ioctl(fd, TCGETS, &settings) == 0;
}

/* Does this descriptor have the file, opened so? */
static bool has(int fd, const struct stat *file, int mask, int flags)
{
	int f = fcntl(fd, F_GETFL);
	struct stat st;

	return f >= 0 && (f & mask) == flags && fstat(fd, &st) == 0 && gmod_same_file(file, &st);
}

/*
 * May we write to descriptor 2, whose file is *st? Yes if it is the file it was at the start. Otherwise the program
 * closed it, and either redirected its stderr or had the number recycled for something a stray line would corrupt;
 * nothing tells the two apart for certain, and a lost line does less harm than a spoilt data file. So only what
 * cannot be data is accepted: a terminal; the writing end of a pipe (Jupyter), which a recycled 2 can be only where the
 * reading end came just before, as 0 or 1; and a file opened for appending that stdout is too (a daemon sends both to
 * one log). Sockets and files of its own on descriptor 2 are refused. log_path is the remedy.
 */
static bool stderr_is_safe(const struct stat *st)
{
	if (gmod_same_file(&stream.id, st) || (S_ISCHR(st->st_mode) && gmod_is_terminal(STDERR_FILENO)))
		return true;
	if (S_ISFIFO(st->st_mode))
		return has(STDERR_FILENO, st, O_ACCMODE, O_WRONLY) && !has(STDIN_FILENO, st, O_ACCMODE, O_RDONLY) &&
		       !has(STDOUT_FILENO, st, O_ACCMODE, O_RDONLY);
	return S_ISREG(st->st_mode) && has(STDERR_FILENO, st, O_APPEND, O_APPEND) && has(STDOUT_FILENO, st, 0, 0);
}

/*
 * A non-blocking descriptor of our own for the pipe or terminal behind descriptor 2, -1 if there is none. Setting
 * O_NONBLOCK on the program's own would change it for all who share it. Held for one piece only: a reader must see the
 * end of the pipe when the program closes it.
 */
static int open_private_stderr(const struct stat *st)
{
	struct stat got;
	int fd;

	if (!S_ISFIFO(st->st_mode) && !gmod_is_terminal(STDERR_FILENO))
		return -1;
	fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0 && (fstat(fd, &got) != 0 || !gmod_same_file(st, &got))) {
		close(fd);
		fd = -1;
	}
	return fd;
}

bool gmod_stderr_write(const char *s, size_t n)
{
	struct stat st;
	bool ok;
	int fd;

	gmod_log_remember_stderr();
	if (fstat(STDERR_FILENO, &st) != 0)
		return false;
	if (!stderr_is_safe(&st)) {
		errno = EAGAIN; /* it may come back, as behind pytest's tests */
		return false;
	}
	fd = open_private_stderr(&st);
	if (fd < 0)
		return gmod_write_piece(STDERR_FILENO, s, n,
					S_ISSOCK(st.st_mode)  ? GMOD_SENDS
					: S_ISREG(st.st_mode) ? GMOD_WRITES
							      : GMOD_PACED,
					&stream.torn);
	ok = gmod_write_own_piece(fd, &st, s, n, &stream.torn);
	close(fd);
	return ok;
}
