/*
 * Where GMOD's words go: lines built in a caller's buffer, written to stderr or to the file of log_path.
 *
 * Every function may be called from any thread, from inside a hook, from atexit handlers and from signal handlers;
 * none allocates, waits for a reader, takes a lock that the program can hold, or changes errno. The only wait is for
 * another report in the making, and it is bounded. What comes from outside the library must be appended with
 * gmod_text_escaped() or gmod_text_json(); gmod_log_note() escapes by itself.
 */
#ifndef GMOD_LIB_BASE_LOG_H
#define GMOD_LIB_BASE_LOG_H

#include <stdbool.h>
#include <stddef.h>

#include "lib/base/text.h"

/* Append what every JSON line begins with: "schema" to "version", without a comma behind. */
void gmod_log_event(struct gmod_text *t, const char *event);

/*
 * Choose where lines go. An empty or NULL pattern: stderr. In the pattern %p is the pid, %h the host, %t the time
 * (YYYYmmdd-HHMMSS, UTC), %r the rank of a launcher's environment or 0, %% a percent sign; a relative path means the
 * current directory of this moment. The file is checked now but created by the first line. Returns 0, or -1 after
 * saying once why the file cannot be used; then lines go to stderr.
 *
 * Not thread-safe against other functions here: call it once, before other threads report.
 */
int gmod_log_open(const char *pattern, bool json, unsigned verbosity);

bool gmod_log_json(void);

/* Lines go to a terminal, and NO_COLOR is not set. */
bool gmod_log_is_bold(void);

/*
 * One line behind "==PID==GMOD: ", cut after 2 KiB with "...", if `level` is within the verbosity. A JSON log gets it
 * as an object with "event":"note".
 */
void gmod_log_note(unsigned level, const char *format, ...) GMOD_PRINTF(2, 3);

/* "==PID==GMOD: WHAT; see FILE" on stderr, where lines go to a file. */
void gmod_log_point(const char *what);

/* gmod_log_note(0, "%s", line), in the shape that gmod_options_parse() and gmod_options_help() call. */
void gmod_log_string(void *unused, const char *line);

/*
 * Finished lines, each ending in '\n', written as one piece: nobody else's lines stand between them, other processes'
 * neither. What no file takes is counted.
 */
void gmod_log_lines(const char *text, size_t len);

/*
 * The same for who can wait for a slow reader. false: nothing of it is written or counted now, because a pipe is full;
 * the same text may be tried again, or be given up by gmod_log_lines(). true: it is out, or counted as lost.
 */
bool gmod_log_try(const char *text, size_t len);

#endif
