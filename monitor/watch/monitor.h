/*
 * The monitor thread: sweeps while the GPU is in use, sleeps when nothing can change.
 *
 *   new activity since the last sweep began    sweep every scan_interval_us, or less often to keep to max_cpu
 *   none, but work not proven complete         back off: a sixteenth of the quiet time, at most 500 ms
 *   none, and host-writable buffers live       one sweep a second
 *   nothing of it                              sleep until woken (monitor/launches/activity.h)
 *
 * With scan_interval_us=0 the first two are without pause.
 */
#ifndef GMOD_MONITOR_WATCH_MONITOR_H
#define GMOD_MONITOR_WATCH_MONITOR_H

#include <stdbool.h>
#include <stdint.h>

/* What others do in the monitor's thread. One at most has a patience. */
struct gmod_round {
	/* Between sweeps. */
	void (*tick)(void);
	/* How long the monitor may sleep now, in ns, before the next tick; UINT64_MAX: until something happens. */
	uint64_t (*leisure)(void);
	/* ns between two ticks at most, however long the pause between sweeps is; NULL: a tick waits for its end. */
	uint64_t (*patience)(void);
};

/*
 * For good, before the thread starts: the rounds in the order of their ticks, up to one without a tick, and what looks
 * at everything, for gmod_monitor_ask() and, for the last time, for gmod_monitor_finish().
 */
void gmod_monitor_set_rounds(const struct gmod_round *all, void (*look)(bool last));

/*
 * Remember the CPUs that the process has when GMOD is loaded. A program that binds its threads does so later, and a
 * monitor that inherited one CPU from the thread that started it would take its turns from that thread. What binds the
 * initial thread before any preloaded library runs (libgomp with OMP_PROC_BIND, taskset) is not seen: the monitor stays
 * there.
 */
void gmod_monitor_remember_cpus(void);

/* Start the thread if it is not there yet; called when a buffer has been armed. */
void gmod_monitor_ensure(void);

/*
 * GMOD is suspended (gmod_hot.suspended): wait until no sweep and no round goes on, for `deadline` ns at most. None
 * begins before it is continued, but looks that are asked for, and the last one.
 */
bool gmod_monitor_await_pause(uint64_t deadline);

/* A patience is shorter than it was, or GMOD goes on: the pause between two sweeps that is under way ends. */
void gmod_monitor_hurry(void);

/* No further sweep or driver call of its usual rounds will begin. */
void gmod_monitor_stop(void);
bool gmod_monitor_stopping(void);

/*
 * Stop the monitor, have it look for the last time, and wait for that: it can call the driver and take locks where the
 * caller, perhaps a signal handler that has interrupted a holder, can not. false: it did not come to the end, because
 * there is no such thread or because it has been stuck for 2 s without any gmod_monitor_progress(). Nobody waits for a
 * thread that was given up a second time.
 */
bool gmod_monitor_finish(void);

/*
 * Have the monitor look between two sweeps, and wait for the end of a look that began after the call, for `deadline` ns
 * at most. From a signal handler, too.
 */
void gmod_monitor_ask(uint64_t deadline);

/* Is there a thread that has not been given up? */
bool gmod_monitor_lives(void);

#endif
