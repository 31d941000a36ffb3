/*
 * stderr as a place for lines: written to only while descriptor 2 cannot be a file of the program's that a line would
 * spoil.
 */
#ifndef GMOD_LIB_BASE_LOG_STDERR_H
#define GMOD_LIB_BASE_LOG_STDERR_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Note which file stderr is now. Call it from the constructor: the program may close or recycle descriptor 2 before
 * it first uses CUDA. The first line and gmod_log_open() do it if nobody has.
 */
void gmod_log_remember_stderr(void);

bool gmod_is_terminal(int fd);

/* Under the log's lock: write a piece. false, with the reason in errno, as gmod_write_piece() says it. */
bool gmod_stderr_write(const char *s, size_t n);

#endif
