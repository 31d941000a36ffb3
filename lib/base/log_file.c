#include "lib/base/log_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lib/base/log_fd.h"
#include "lib/base/origin.h"
#include "lib/base/text.h"

#define HIGH_DESCRIPTOR 200 /* above what programs number by hand, below any sensible limit */

/* path is set by gmod_log_file_choose() and read-only afterwards; the rest belongs to the holder of the log's lock. */
static struct {
	char path[PATH_MAX]; /* empty: none */
	int fd;              /* meaningful only while *id is behind it */
	struct stat id;      /* zeros: there is none */
	bool torn;           /* the last piece ended early */
} file;

/* ---- why not ---- */

/* What is wrong with writing reports to an existing file, NULL if nothing is. */
static const char *refuse_file(const struct stat *st)
{
	if (S_ISLNK(st->st_mode))
		return "it is a symbolic link";
	if (!S_ISREG(st->st_mode) && !S_ISFIFO(st->st_mode) && !S_ISCHR(st->st_mode))
		return "it is not a file, a pipe or a character device";
	/* Somebody else put it there, to read what we say or to have us write into something of ours. */
	if (st->st_uid != geteuid() && st->st_uid != 0)
		return "it belongs to another user";
	if (S_ISREG(st->st_mode) && st->st_nlink > 1)
		return "it has several hard links";
	return NULL;
}

/* ---- the path ---- */

/* Append what %LETTER stands for; an unknown letter stays as it is written. */
static void append_directive(struct gmod_text *t, char letter)
{
	uint64_t now = (uint64_t)time(NULL);
	unsigned second = now % 86400;

	switch (letter) {
	case 'p':
		gmod_text_fmt(t, "%d", (int)getpid());
		return;
	case 'h':
		gmod_text_str(t, gmod_origin.host);
		return;
	case 't':
		gmod_text_date(t, now * 1000000000, "");
		gmod_text_fmt(t, "-%02u%02u%02u", second / 3600, second / 60 % 60, second % 60);
		return;
	case 'r':
		gmod_text_str(t, *gmod_origin.rank ? gmod_origin.rank : "0");
		return;
	case '%':
		gmod_text_str(t, "%");
		return;
	default:
		gmod_text_fmt(t, "%%%c", letter);
	}
}

/* Expand the pattern into path, made absolute because programs change directory; false if it does not fit. */
static bool expand_path(const char *pattern, char path[PATH_MAX])
{
	struct gmod_text t;

	gmod_text_init(&t, path, PATH_MAX);
	if (pattern[0] != '/') {
		if (syscall(SYS_getcwd, path, PATH_MAX) <= 0)
			path[0] = '\0';
		t.len = strlen(path);
		gmod_text_str(&t, "/");
	}
	for (const char *p = pattern; *p; p++) {
		if (*p == '%' && p[1])
			append_directive(&t, *++p);
		else
			gmod_text_bytes(&t, p, 1);
	}
	return !t.full;
}

/* What is known to be wrong with the path, as far as that can be seen without creating the file; NULL: nothing. */
static const char *check_path(char *path, bool replaced)
{
	char *slash = strrchr(path, '/');
	const char *why = NULL;
	struct stat st;

	if (!slash[1])
		return "it names a directory";
	if (lstat(path, &st) == 0) {
		why = replaced && !S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode) ? "it is no regular file"
									       : refuse_file(&st);
		if (!why && !replaced && faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0)
			why = gmod_error_words(errno);
		if (why || !replaced)
			return why;
	}
	*slash = '\0';
	if (faccessat(AT_FDCWD, slash == path ? "/" : path, W_OK | X_OK, AT_EACCESS) != 0)
		why = gmod_error_words(errno);
	*slash = '/';
	return why;
}

/* ---- the descriptor ---- */

/* The program may have closed our descriptor (daemons close them all) and got its number for a file of its own. */
static bool is_still(int fd, const struct stat *file, struct stat *now)
{
	return fstat(fd, now) == 0 && gmod_same_file(file, now);
}

/* Move a new descriptor out of the program's way, and never keep one that stands for a standard stream. */
static int move_high(int fd, const struct stat *st)
{
	int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_DESCRIPTOR);
	struct stat now;

	if (high < 0 && fd > STDERR_FILENO)
		return fd;
	if (is_still(fd, st, &now))
		close(fd);
	return high;
}

/* Open the path; NULL, or why not. Refused files are tried again for the next piece. */
static const char *open_file(void)
{
	const int flags = O_WRONLY | O_CREAT | O_APPEND | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
	const char *why = NULL;
	struct stat st;
	int fd = open(file.path, flags, 0600);

	if (fd >= 0 && fstat(fd, &st) == 0)
		why = refuse_file(&st);
	if (why) {
		close(fd);
		return why;
	}
	if (fd >= 0)
		fd = move_high(fd, &st);
	if (fd < 0)
		return gmod_error_words(errno);
	file.fd = fd;
	file.id = st;
	file.torn = false;
	return NULL;
}

/*
 * Have the file that the path names now: a log that has grown is renamed or removed. Where there is none to be had (the
 * program has changed its root, or its user) the old one serves, if it still has a name.
 */
static const char *find_file(void)
{
	struct stat here, old;
	bool ours = is_still(file.fd, &file.id, &old);
	const char *why;
	int fd = file.fd;

	if (ours && lstat(file.path, &here) == 0 && gmod_same_file(&file.id, &here))
		return NULL;
	why = open_file();
	if (!why && ours)
		close(fd);
	return ours && old.st_nlink ? NULL : why;
}

const char *gmod_log_file_write(const char *s, size_t n)
{
	const char *why = find_file();
	bool written = !why && gmod_write_own_piece(file.fd, &file.id, s, n, &file.torn);

	/* The program may have closed it in between. */
	if (!why && !written && errno == EBADF && !(why = find_file()))
		written = gmod_write_own_piece(file.fd, &file.id, s, n, &file.torn);
	return why || written ? why : gmod_error_words(errno);
}

void gmod_log_file_none(void)
{
	struct stat st;

	if (is_still(file.fd, &file.id, &st))
		close(file.fd);
	file.id = (struct stat){0};
	file.path[0] = '\0';
}

const char *gmod_log_file_name(const char *pattern, char path[PATH_MAX], bool replaced)
{
	path[0] = '\0';
	return !*pattern ? NULL : expand_path(pattern, path) ? check_path(path, replaced) : "the path is too long";
}

const char *gmod_log_file_choose(const char *pattern)
{
	/* A link, to what is there without a file. */
	return gmod_log_file_name(strcmp(pattern, "/dev/stderr") ? pattern : "", file.path, false);
}

const char *gmod_log_file_path(void)
{
	return file.path;
}
