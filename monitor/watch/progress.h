/* The monitor's thread: which one it is, and that it gets on. For who waits for it, and for what it calls. */
#ifndef GMOD_MONITOR_WATCH_PROGRESS_H
#define GMOD_MONITOR_WATCH_PROGRESS_H

#include <stdatomic.h>
#include <stdbool.h>

extern __thread bool gmod_is_monitor __attribute__((tls_model("initial-exec")));
extern _Atomic unsigned gmod_progress;

/* In the monitor's own thread: it is not stuck. In others: nothing. */
static inline void gmod_monitor_progress(void)
{
	if (gmod_is_monitor)
		atomic_fetch_add_explicit(&gmod_progress, 1, memory_order_relaxed);
}

#endif
