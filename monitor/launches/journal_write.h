/* The thread that writes the journal: one file a process, and a file an image (gmod(1), JOURNAL). */
#ifndef GMOD_MONITOR_LAUNCHES_JOURNAL_WRITE_H
#define GMOD_MONITOR_LAUNCHES_JOURNAL_WRITE_H

#include "lib/base/text.h"
#include "monitor/launches/journal.h"

/*
 * Where option journal names a folder, which is made if its parent is there. site: appends the members "frames" and
 * "python". Whatever is in the way ends the journal, and is said once.
 */
void gmod_journal_start(int32_t (*device_of)(uint64_t context, int32_t *capability),
			void (*site)(struct gmod_text *t, const struct gmod_stack *stack));

/*
 * What hooks have told so far is written within `deadline` ns, and, where the process ends, the last line. From any
 * thread, also in a signal handler; without a journal it returns at once.
 */
void gmod_journal_await(uint64_t deadline, bool ends);

#endif
