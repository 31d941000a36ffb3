/* Reading a file without stdio, which allocates and locks. Changes errno. */
#ifndef GMOD_LIB_BASE_FILE_H
#define GMOD_LIB_BASE_FILE_H

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

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
