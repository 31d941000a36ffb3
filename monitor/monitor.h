/*
 * The monitor thread: sweeps while the GPU is in use, sleeps when nothing can change.
 *
 *   new activity since the last sweep began    sweep every scan_interval_us, or less often to keep to max_cpu
 *   none, but work not proven complete         back off: a sixteenth of the quiet time, at most 500 ms
 *   none, and host-writable buffers live       one sweep a second
 *   nothing of it                              sleep until woken (monitor/activity.h)
 *
 * With scan_interval_us=0 the first two are without pause.
 */
#ifndef GMOD_MONITOR_MONITOR_H
#define GMOD_MONITOR_MONITOR_H

#include <stdbool.h>

/* Start the thread if it is not there yet; called when a buffer has been armed. */
void gmod_monitor_ensure(void);

/* No further sweep or driver call will begin. Does not wait for one under way: the sweep lock does that. */
void gmod_monitor_stop(void);
bool gmod_monitor_stopping(void);

#endif
