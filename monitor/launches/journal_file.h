/* The files of the journal of launches, of lines and of images, and the thread that writes them. */
#ifndef GMOD_MONITOR_LAUNCHES_JOURNAL_FILE_H
#define GMOD_MONITOR_LAUNCHES_JOURNAL_FILE_H

#include <stddef.h>
#include <stdint.h>

/* Who has the lines. All of it is called by the thread that writes. */
struct gmod_journal_source {
	void (*tell_beginning)(void), (*tell_more)(void), (*tell_end)(void); /* by the functions below */
};

/* In the folder of option journal, which is made if its parent is there; NULL: there is no memory for a source. */
void gmod_journal_open(const struct gmod_journal_source *source);

/* A part of a line has no newline, and a part of an image no name. */
void gmod_journal_write(const void *bytes, size_t size);
void gmod_journal_write_image(const void *bytes, size_t size, uint64_t hash);

/*
 * What hooks have told so far is written within `deadline` ns, and the last line; what was in the way of it is said.
 * From any thread, also in a signal handler.
 */
void gmod_journal_end(uint64_t deadline);

#endif
