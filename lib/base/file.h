/* Reading a file without stdio, which allocates and locks. Changes errno. */
#ifndef GMOD_LIB_BASE_FILE_H
#define GMOD_LIB_BASE_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

/* Why something failed, in English: strerror() may allocate and take the locale's lock. */
static inline const char *gmod_error_words(int error)
{
	static const char *const words[] = {
	    [EPERM] = "Operation not permitted",
	    [ENOENT] = "No such file or directory",
	    [EIO] = "Input/output error",
	    [ENXIO] = "No such device or address",
	    [EAGAIN] = "Resource temporarily unavailable",
	    [ENOMEM] = "Cannot allocate memory",
	    [EACCES] = "Permission denied",
	    [EBUSY] = "Device or resource busy",
	    [EEXIST] = "File exists",
	    [ENODEV] = "No such device",
	    [ENOTDIR] = "Not a directory",
	    [EISDIR] = "Is a directory",
	    [EINVAL] = "Invalid argument",
	    [ENFILE] = "Too many open files in system",
	    [EMFILE] = "Too many open files",
	    [ETXTBSY] = "Text file busy",
	    [EFBIG] = "File too large",
	    [ENOSPC] = "No space left on device",
	    [EROFS] = "Read-only file system",
	    [EPIPE] = "Broken pipe",
	    [ENAMETOOLONG] = "File name too long",
	    [ELOOP] = "Too many levels of symbolic links",
	    [EDQUOT] = "Disk quota exceeded",
	    [ESTALE] = "Stale file handle",
	};
	bool known = error > 0 && (size_t)error < sizeof(words) / sizeof(*words) && words[error];

	return known ? words[error] : "the system refuses it";
}

/* As much of the file as there is room for, and how much that is; -1: it cannot be read, and errno says why. */
static inline ssize_t gmod_read_file(const char *path, char *buffer, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	ssize_t n = -1, len = 0;
	int saved;

	while (fd >= 0 && (size_t)len < cap &&
	       ((n = read(fd, buffer + len, cap - (size_t)len)) > 0 || (n < 0 && errno == EINTR)))
		len += n > 0 ? n : 0;
	saved = errno;
	if (fd >= 0)
		close(fd);
	errno = saved;
	return n < 0 ? -1 : len;
}

#endif
