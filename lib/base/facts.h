/*
 * What every floor may ask of the process: the user's options, the CPU's page size, and where to say that something of
 * ours failed.
 *
 * gmod_facts_init() runs once, before any other thread works for GMOD; what it fills is read-only afterwards.
 */
#ifndef GMOD_LIB_BASE_FACTS_H
#define GMOD_LIB_BASE_FACTS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "lib/base/options.h"

/* Read GMOD_OPTIONS, open the log that they name, and ask for the page size. */
void gmod_facts_init(void);

const struct gmod_options *gmod_options(void);
/* Bytes; 0 before gmod_facts_init(). */
size_t gmod_page_size(void);

/* A profiler or a debugger sits in the process, which would count a kernel of ours, or stop at it. Asked now. */
bool gmod_is_under_a_tool(void);

/*
 * Something of ours failed and the program went on without it: counted, and said once for each `what` at
 * verbosity 2. From any thread.
 */
void gmod_degraded(const char *what);

/* Once true: the first time that it is asked of this flag, by whatever thread. For what is said or done once. */
static inline bool gmod_first_time(atomic_bool *before)
{
	return !atomic_exchange_explicit(before, true, memory_order_relaxed);
}

/* As gmod_degraded(), where the caller has a line of its own: counted each time, and true when it is to be said. */
bool gmod_degraded_first(atomic_bool *before);

#endif
