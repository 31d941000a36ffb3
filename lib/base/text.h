/*
 * Lines in the making, and how what comes from outside gets into them without breaking them. No function allocates,
 * takes a lock or changes errno; each may be called from any thread and from signal handlers.
 */
#ifndef GMOD_LIB_BASE_TEXT_H
#define GMOD_LIB_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GMOD_PRINTF(fmt, first) __attribute__((format(printf, fmt, first)))

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

/*
 * Nanoseconds of CLOCK_REALTIME as YYYY-MM-DD with `between` in the dashes' place, as HH:MM:SS.uuuuuu, and as a quoted
 * RFC 3339 stamp (0: null). UTC: localtime locks.
 */
void gmod_text_date(struct gmod_text *t, uint64_t ns, const char *between);
void gmod_text_clock(struct gmod_text *t, uint64_t ns);
void gmod_text_stamp(struct gmod_text *t, uint64_t ns);

/* Bytes as "1.5 KiB": tenths, rounded down. */
void gmod_text_size(struct gmod_text *t, uint64_t bytes);

/* What makes a noun of n things plural: "s", or nothing for one. */
static inline const char *gmod_plural(uint64_t n)
{
	return n == 1 ? "" : "s";
}

/* Why a system call has failed, in English; strerror() may allocate, and takes the lock of the locale. */
const char *gmod_error_words(int error);

#endif
