/*
 * Where GMOD's words go: lines built in a caller's buffer, written to stderr or to the file of log_path.
 *
 * Every function may be called from any thread, from inside a hook, from atexit handlers and from signal handlers;
 * none allocates, waits for a reader, takes a lock that the program can hold, or changes errno. The only wait is for
 * another report in the making, and it is bounded. What comes from outside the library must be appended with
 * gmod_text_escaped() or gmod_text_json(); gmod_log_line() and gmod_log_note() escape by themselves.
 */
#ifndef GMOD_LIB_LOG_H
#define GMOD_LIB_LOG_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMOD_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

#define GMOD_LOG_SCHEMA "gmod-report-1" /* of every JSON line */

/*
 * Text in the making.
 *
 * Invariant: at[len] == '\0' and len < cap. Once something did not fit, full is set and nothing more is appended
 * until the owner takes it back, so that what is there is always a prefix of what was meant.
 */
struct gmod_text {
	char *at;
	size_t len, cap;
	bool full;
};

void gmod_text_init(struct gmod_text *t, char *buffer, size_t cap);

/* Bytes that are the library's own; not escaped. */
void gmod_text_bytes(struct gmod_text *t, const char *s, size_t n);
void gmod_text_str(struct gmod_text *t, const char *s);

/* printf for at most 256 bytes of numbers and short strings of the library's own: only %s %c %d %u %x, with l, ll, z.
 */
void gmod_text_fmt(struct gmod_text *t, const char *format, ...) GMOD_PRINTF(2, 3);

/*
 * At most max bytes of a foreign string, "..." if it is longer. Control bytes, bytes that are not UTF-8, and
 * characters that are invisible or turn the direction of writing become \xNN a byte. NULL: "?".
 */
void gmod_text_escaped(struct gmod_text *t, const char *s, size_t max);

/* The same as a quoted JSON string: such characters become \uNNNN, stray bytes the four characters \xNN. NULL: null. */
void gmod_text_json(struct gmod_text *t, const char *s, size_t max);

/* Where something did not fit, make the last bytes "...", and let the text be appended to again once it has room. */
void gmod_text_mark_cut(struct gmod_text *t);

/* Nanoseconds of CLOCK_REALTIME as HH:MM:SS.uuuuuu, and as a quoted RFC 3339 stamp (0: null). UTC: localtime locks. */
void gmod_text_clock(struct gmod_text *t, uint64_t ns);
void gmod_text_stamp(struct gmod_text *t, uint64_t ns);

/*
 * Signals and cancellation held off in this thread, so that no handler can jump, and no pthread_cancel() unwind, out
 * of a report half made. May nest; gmod_log_*() do it by themselves. SIGPIPE raised in between is taken back.
 */
struct gmod_hold {
	sigset_t mask; /* the program's */
	int cancel;
	bool pending_pipe, pending_size;
};

void gmod_hold(struct gmod_hold *h);
void gmod_let_go(const struct gmod_hold *h);

/*
 * Note which file stderr is now. Call it from the constructor: the program may close or recycle descriptor 2 before
 * it first uses CUDA. The first line and gmod_log_open() do it if nobody has.
 */
void gmod_log_remember_stderr(void);

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

/* One line, cut after 2 KiB with "...". A JSON log gets it as an object with "event":"note". */
void gmod_log_line(const char *format, ...) GMOD_PRINTF(1, 2);

/* The same behind "==PID==GMOD: ", if `level` is within the verbosity. */
void gmod_log_note(unsigned level, const char *format, ...) GMOD_PRINTF(2, 3);

/* gmod_log_note(0, "%s", line), in the shape that gmod_options_parse() and gmod_options_help() call. */
void gmod_log_string(void *unused, const char *line);

/* Finished lines, each ending in '\n', written without another thread's lines between them. */
void gmod_log_lines(const char *text, size_t len);

/* How many lines no file took. */
uint64_t gmod_log_lost(void);

#endif
