/*
 * From return addresses to "main app+0x8b01".
 *
 * dladdr() and dl_iterate_phdr() take the loader's lock, which the program may hold while it waits for us (a library's
 * constructor that frees GPU memory). So the process's own map of memory is read from /proc, and names from the ELF
 * files on disk; both are treated as input that may be wrong. Nothing is allocated, no lock is taken and errno not
 * changed. May be called from any thread and from inside a hook; it reads files, so not in a signal handler.
 */
#ifndef GMOD_MONITOR_SYMBOL_H
#define GMOD_MONITOR_SYMBOL_H

#include "lib/base/text.h"
#include "monitor/report/maps.h"

void gmod_symbolize(struct gmod_frames *frames, const struct gmod_stack *stack, struct gmod_symbol_scratch *scratch);

#define GMOD_NAME_SHOWN 200 /* bytes of a name, in text */

/* Append "main", what stands between, and "app+0x8b01"; of these what is known. */
void gmod_frame_text(struct gmod_text *t, const struct gmod_frame *f, const char *between);

#endif
