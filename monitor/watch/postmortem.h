/*
 * After a sticky error the context is lost, and every later call in it returns the error. GMOD then looks at what the
 * CPU can still see, and says what was running and what was live.
 */
#ifndef GMOD_MONITOR_WATCH_POSTMORTEM_H
#define GMOD_MONITOR_WATCH_POSTMORTEM_H

#include "lib/driver/driver.h"

/* In the thread whose call returned the error, before the buffers of that context are let go. */
__attribute__((cold)) void gmod_post_mortem(CUresult error, const char *entry_point);

/*
 * The same with the driver's exception dump, which stays as long as the process: the finding names instruction, thread
 * and the buffer that was missed, as far as the dump says. false: it says nothing. Once, in a thread of ours.
 */
bool gmod_gpu_fault(const void *dump, size_t size);

#endif
