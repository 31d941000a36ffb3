/*
 * After a finding with several suspects: looks around their next launches, until one of them is seen to do it again
 * (option confirm).
 *
 *     a finding is told ──► its first suspects, whom chance makes due now and then                    accused
 *     one that is due is launched, and a buffer of that allocation site lives in its context:
 *         the buffer was changed: its canary is written anew        it was not: the bytes are copied
 *         the launch itself
 *         the bytes are copied to pinned memory                                                       a trial
 *     the copy has come, and differs: the launch has done it, or what may have run beside it          CAUGHT
 *
 * All of it goes into the launch's own stream, right before and right behind it, so no call waits and no order comes
 * about that the program did not ask for. The canary is written anew because a kernel mostly stores the same bytes
 * again. That erases nothing that is still to be told: a side that was reported is not reported again. Of a buffer that
 * was not, the bytes are copied before the launch, and where they differ by then the launch says nothing. Modelled in
 * tests/models/confirm.pml.
 *
 * Buffers of cuMemAlloc with a redzone in device memory take part: their free waits in the driver for the work of their
 * context, looks among it. Memory in stream order does not, nor do launches into captures and per-thread streams, nor
 * any where all streams share one way to the device (CUDA_DEVICE_MAX_CONNECTIONS). In the legacy stream there is no
 * look where another thread launches at that moment. The streams that join it are no reason: in a PyTorch process there
 * is always one.
 */
#ifndef GMOD_LIB_BUFFERS_CONFIRM_H
#define GMOD_LIB_BUFFERS_CONFIRM_H

#include "lib/context/current.h"
#include "monitor/launches/thread.h"
#include "monitor/registry/registry.h"

/* For gmod_damage_listen(): that finding has been told; of the buffer of that word, if it is LIVE still. */
void gmod_confirm_told(const struct gmod_finding *f, struct gmod_record *r, uint64_t word);

/* A buffer is LIVE now; the record is the caller's still. */
__attribute__((cold)) void gmod_confirm_met(struct gmod_record *r);

/* A launch of the thread goes into that stream of the context. 0: no trial; else for gmod_confirm_end(), behind it. */
__attribute__((cold)) unsigned gmod_confirm_begin(const struct gmod_order *in, uint64_t function, bool is_graph);
__attribute__((cold)) void gmod_confirm_end(unsigned trial, const struct gmod_thread *t, bool accepted);

/* The monitor's round; and once more, for who looks at everything. */
void gmod_confirm_tick(void);
uint64_t gmod_confirm_leisure(void);
void gmod_confirm_look(void);

#endif
