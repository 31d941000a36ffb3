/*
 * After a sticky error the context is lost, and every later call returns the error. GMOD then looks at what the CPU
 * can still see, says once what was running and what was live, and makes no further driver call of its own.
 */
#ifndef GMOD_MONITOR_WATCH_POSTMORTEM_H
#define GMOD_MONITOR_WATCH_POSTMORTEM_H

#include "lib/driver/driver.h"

/* A driver call of the program returned a sticky error. Does its work once, in the calling thread. */
__attribute__((cold)) void gmod_post_mortem(CUresult error, const char *entry_point);

#endif
