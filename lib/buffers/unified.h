/*
 * The unified backend: managed memory whose body prefers the device and whose canary pages prefer the host, where the
 * device writes to them across the bus and the CPU reads them by plain loads.
 *
 * None of these calls waits for the GPU, and none can fail the program: where a placement is refused the memory still
 * works, only slower, and the run is counted as degraded. With placement=0 none is asked for: pages then follow whoever
 * touches them, as the driver decides. All run in the caller's current context.
 */
#ifndef GMOD_LIB_UNIFIED_H
#define GMOD_LIB_UNIFIED_H

#include "lib/context/context.h"
#include "monitor/registry/layout.h"

/* Does the device share managed memory with the CPU? Else none of its buffers is guarded. */
bool gmod_unified_is_possible(int device);

/* Before the canaries are written: their pages stay on the host. */
void gmod_unified_place_zones(struct gmod_context *c, const struct gmod_place *p);

/*
 * After: the body, with the canary bytes of its slack, moves to the device. Returns the bytes that were not placed
 * there and so are not in the driver's own accounts.
 */
uint64_t gmod_unified_place_body(struct gmod_context *c, const struct gmod_place *p);

#endif
