/*
 * Descriptors that the log writes to: which file is behind one, and lines that get there whole or visibly torn. Nothing
 * here waits for a reader. For the log's own files, under its lock.
 */
#ifndef GMOD_LIB_BASE_LOG_FD_H
#define GMOD_LIB_BASE_LOG_FD_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

/* The file behind a descriptor. Two descriptors of one file are alike; a recycled one is not. */
struct gmod_file_id {
	bool known;
	dev_t dev;
	ino_t ino;
	mode_t type;
	dev_t rdev;
};

struct gmod_file_id gmod_file_id(const struct stat *st);
bool gmod_file_id_matches(const struct gmod_file_id *id, const struct stat *st);

/*
 * Write a line, or return false with the reason in errno. *torn, kept by the caller for each descriptor, says that the
 * last line there ended early: it gets its newline late, so that the next one starts where a reader expects it. paced:
 * the descriptor may block and is not ours to make non-blocking.
 */
bool gmod_write_line(int fd, const char *s, size_t n, bool paced, bool *torn);

#endif
