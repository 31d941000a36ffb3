/*
 * What a fault that is under way means for the program's calls (faults=exact, lib/faults/keeper.h).
 *
 * With dumps the driver's wait says SUCCESS once even where the kernel has faulted, and the sticky error comes 17 to 42
 * ms behind the dump's last byte. A store's wait may say so 40 to 150 ms before the dump's first byte. What destroys or
 * resets a context in between hangs, what ends the process loses the dump, and what unloads the module loses its
 * lines. A fill of one word in a stream of ours tells: it is done once the dump is whole, 10 of 10 times, and where
 * there is no fault it takes 13 us. All of it measured on an H200, driver 580 (tests/gpu/faults/README.md).
 */
#ifndef GMOD_LIB_CONTEXT_FAULT_H
#define GMOD_LIB_CONTEXT_FAULT_H

#include "lib/context/teardown.h"
#include "lib/faults/keeper.h"

/*
 * Before something that a fault under way would not survive: if anything has been launched since the last time, ask
 * that context for one, or with NULL all of them, half a second at most, and wait until it has been told. Nothing with
 * faults=off. Any thread.
 */
void gmod_fault_probe(CUcontext only);

extern const struct gmod_context_listener gmod_faults_of_context;

/*
 * A dump has begun, and a call of the program's says that work has gone well: what it is to say instead, once the error
 * is there, after 2 s at most. Never waits in a capture. The error is the driver's; where none comes, SUCCESS stays.
 */
__attribute__((cold)) CUresult gmod_fault_late(void);

/* There was a fault of which no call has told the program. */
bool gmod_fault_is_unseen(void);

#endif
