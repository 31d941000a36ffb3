/*
 * stderr as a place for lines: written to only while descriptor 2 cannot be a file of the program's that a line would
 * spoil. gmod_log_remember_stderr() of lib/base/log.h notes which file it is.
 */
#ifndef GMOD_LIB_LOG_STDERR_H
#define GMOD_LIB_LOG_STDERR_H

#include <stdbool.h>
#include <stddef.h>

/* Under the log's lock. false: the line is lost, or a part of it. */
bool gmod_stderr_write(const char *s, size_t n);

#endif
