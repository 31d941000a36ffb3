/*
 * Which launches are proven complete, from the program's own successful waits and queries. GMOD never asks the
 * program's streams itself: querying a stream that is being captured would break the capture.
 *
 * For each stream there is one number: every launch on it stamped before `proven` ticks is complete. It only grows,
 * except that destroying the stream, where not all of its launches are proven, makes them unprovable through a new
 * stream of the same handle. What proves what:
 *
 *   stream wait or query succeeded, begun at T      that stream, to T
 *   event wait or query succeeded                   the stream it was recorded on, to when the record call began
 *   the same, through cuStreamWaitEvent             also what the waited-for event covered (edges)
 *   synchronous device-to-host copy, begun at T     the default stream it ran on, to T
 *   context wait, cuMemFree                         every stream of the context, to T
 *
 * Streams are named by their keys (monitor/launches/stream_key.h). Tables are of fixed size; streams that have nothing
 * left to prove give their places to others. When all have, a proof is dropped, which costs sweeps, never a finding.
 */
#ifndef GMOD_MONITOR_LAUNCHES_PROOF_H
#define GMOD_MONITOR_LAUNCHES_PROOF_H

#include <stdbool.h>
#include <stdint.h>

#include "monitor/launches/stream_key.h"
#include "monitor/launches/thread.h"

void gmod_prove_stream(uint64_t stream, uint64_t ticks);
void gmod_prove_context(uint64_t context, uint64_t ticks);

/*
 * An event is being recorded: from here until gmod_event_recorded() it stands for nothing. began: ticks before the
 * driver was called.
 */
void gmod_event_forget(uint64_t event);
void gmod_event_recorded(uint64_t event, uint64_t stream, uint64_t began);

/* From here on other processes may record the event, too: to the end of it it stands for nothing. */
void gmod_event_shared(uint64_t event);
void gmod_event_destroyed(uint64_t event);

/* What an event stands for: launches on `stream` stamped before `ticks`; stream 0: nothing known. */
struct gmod_event_proof {
	uint64_t event, stream, ticks;
};

/*
 * Two threads that record the same event at the same time leave open which record it is, to the program as well: it may
 * stand for either.
 *
 * What the event stood for: ask before the driver is asked, and prove with it once the driver said yes. If it was
 * recorded anew in between, the driver may have spoken of the new record, and nothing is proven.
 */
struct gmod_event_proof gmod_event_covers(uint64_t event);
void gmod_prove_event(const struct gmod_event_proof *covered);

/* Work launched on `stream` after `ticks` follows what the event covers. */
void gmod_stream_waits(uint64_t stream, const struct gmod_event_proof *covered, uint64_t ticks);
void gmod_stream_destroyed(uint64_t stream);

/* Has the program had `stream` wait for all that the other had been given before `ticks`? */
bool gmod_stream_follows(uint64_t stream, uint64_t other, uint64_t ticks);

/* Is a launch stamped `ticks` on that stream complete? stream 0: only what is proven for the whole context counts. */
bool gmod_proven(uint64_t context, uint64_t stream, uint64_t ticks);

/* May the GPU still be at work: is a launch of any thread not proven complete, or still inside its driver call? */
bool gmod_work_outstanding(void);

/* gmod_activity_total() as far as who looks from now on sees all that it did; UINT64_MAX: work is outstanding. */
uint64_t gmod_activity_done(void);

/* May the thread's latest launch on the stream at place i of last[] still run, or one of its crowd? */
bool gmod_last_outstanding(const struct gmod_thread *t, unsigned i);

/*
 * For deciding who could have written between two looks at a canary, and so that proofs may be forgotten:
 * gmod_proof_remember() looks at all launches that are recorded and notes which ones are proven by now. A look after
 * that may go by it: what was not noted by `at` was not complete then.
 */
void gmod_proof_remember(void);
/* The same in the program's thread, before a new canary, and only if something has been proven since. */
void gmod_proof_remember_new(void);
bool gmod_launch_complete(const struct gmod_thread *t, uint64_t number, uint64_t at);

#endif
