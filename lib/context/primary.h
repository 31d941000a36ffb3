/*
 * Devices' primary contexts: which they are, who holds them, and whose turn it is to end one. Of devices from
 * GMOD_DEVICES on nothing is known.
 *
 * Frameworks and libraries retain and release primary contexts from several threads, at the end of a process as well
 * (PyTorch, CuPy and the runtime itself do): nobody is disturbed by a release that is not the last.
 */
#ifndef GMOD_LIB_CONTEXT_PRIMARY_H
#define GMOD_LIB_CONTEXT_PRIMARY_H

#include "lib/base/asked.h"
#include "lib/driver/driver.h"

/* The program has retained a device's primary context, which is this one. */
void gmod_primary_retained(int device, CUcontext handle);
/* NULL: not known. */
CUcontext gmod_primary_of(int device);
bool gmod_primary_is(CUcontext handle);

/*
 * Do retains that GMOD has seen hold it? And do they still when one of them is released, which is about to happen: or
 * is that the last? What they say is true as long as nobody else is about to, that is, while the caller has the turn.
 */
bool gmod_primary_is_retained(int device);
bool gmod_primary_last_release(int device);

/*
 * Calls that make a primary context or may end it take turns: what has become of it is asked after the call, and must
 * not be another's doing. One that waits for longer than 5 s goes on without (false), and so does one without a device.
 * A thread that has the turn may take it again.
 */
bool gmod_primary_turn_begin(int device);
void gmod_primary_turn_end(int device, bool taken);

#endif
