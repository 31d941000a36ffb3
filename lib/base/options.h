/*
 * GMOD_OPTIONS as a struct: one member for each row of lib/base/options.def.
 *
 * These files need nothing but libc's memory and string functions and lib/base/text.h (no malloc, no locale), because
 * the command-line helper is built from them too. All functions may be called from any thread;
 * gmod_options_parse() writes only to *o.
 */
#ifndef GMOD_LIB_BASE_OPTIONS_H
#define GMOD_LIB_BASE_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

#define GMOD_OPTION_STRING_MAX 512 /* bytes of a STRING value, with its end */

/* PERCENT values are parts per 100 000: 2 % is 2000. */
#define GMOD_PERCENT_ONE 1000

/* Positions of the words of the CHOICE rows. */
enum gmod_option_backend {
	GMOD_OPTION_BACKEND_DEVICE,
	GMOD_OPTION_BACKEND_UNIFIED,
	GMOD_OPTION_BACKEND_MANAGED,
	GMOD_OPTION_BACKEND_NATIVE,
	GMOD_OPTION_BACKEND_FENCE
};
enum gmod_option_fence_side { GMOD_OPTION_FENCE_SOME, GMOD_OPTION_FENCE_END, GMOD_OPTION_FENCE_START };
enum gmod_option_device_heap { GMOD_OPTION_HEAP_SLAB, GMOD_OPTION_HEAP_OFF };
enum gmod_option_faults { GMOD_OPTION_FAULTS_OFF, GMOD_OPTION_FAULTS_EXACT };
enum gmod_option_log_format { GMOD_OPTION_LOG_TEXT, GMOD_OPTION_LOG_JSON };

#define GMOD_OPTION_MEMBER_BOOL(name) bool name
#define GMOD_OPTION_MEMBER_UINT(name) unsigned name
#define GMOD_OPTION_MEMBER_PERCENT(name) unsigned name
#define GMOD_OPTION_MEMBER_CHOICE(name) int name
#define GMOD_OPTION_MEMBER_STRING(name) char name[GMOD_OPTION_STRING_MAX]

struct gmod_options {
#define GMOD_OPTION(type, name, fallback, minimum, maximum, choices, help) GMOD_OPTION_MEMBER_##type(name);
#include "lib/base/options.def"
};

/* Has compute-sanitizer started this process, as its environment says? */
bool gmod_is_sanitized(void);

/*
 * As the table has them, but that under compute-sanitizer GMOD is off: that one finds where an allocation ends by the
 * driver's size, so that a store behind a longer buffer would be none to it.
 */
void gmod_options_defaults(struct gmod_options *o);

/*
 * Read "key=value:key=value" into *o, which already holds the defaults or earlier values. A value that begins with
 * " or ' reaches to the next such character, so that a path may hold colons. Blanks around an item and empty items are
 * skipped; in a key - is _, and capitals are small letters; the last value of a key wins. A bad item changes nothing in
 * *o and is handed to complain() (which may be NULL) as one printable line that names a similar key, the good values or
 * the range. Returns the number of bad items.
 */
int gmod_options_parse(struct gmod_options *o, const char *text, void (*complain)(void *, const char *line), void *arg);

/* The same, in words for who typed them as options of a command that does not run then. */
int gmod_options_check(struct gmod_options *o, const char *text, void (*complain)(void *, const char *line), void *arg);

/* Hand the table of options to line(): a heading, then for each option its name and values, and what it is for. */
void gmod_options_help(void (*line)(void *, const char *line), void *arg);

#endif
