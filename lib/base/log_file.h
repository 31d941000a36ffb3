/*
 * The file of log_path: its name, what is refused as such a file, and the descriptor, which the program may close and
 * recycle behind our back.
 */
#ifndef GMOD_LIB_BASE_LOG_FILE_H
#define GMOD_LIB_BASE_LOG_FILE_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Close the file, or choose one: expand the pattern that lib/base/log.h describes, and check what it names, as far as
 * that can be seen without creating it. "" and /dev/stderr are none. Returns NULL, or in words what is wrong with it.
 * Not thread-safe.
 */
void gmod_log_file_none(void);
const char *gmod_log_file_choose(const char *pattern);

/* The same name and checks for another file, which is appended to or, each time that it is written, replaced. */
const char *gmod_log_file_name(const char *pattern, char path[PATH_MAX], bool replaced);

/* The absolute path, "" without a file. Fixed once other threads report. */
const char *gmod_log_file_path(void);

/*
 * Under the log's lock: append a piece, to a new file where the old one was rotated away. Returns NULL, or in words why
 * it is not there, or not all of it.
 */
const char *gmod_log_file_write(const char *s, size_t n);

#endif
