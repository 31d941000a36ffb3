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

enum gmod_fit { GMOD_FITS, GMOD_FITS_NATIVELY, GMOD_DOES_NOT_FIT };

/*
 * Where the driver says less is free than a managed buffer could get, it decides by itself whether one of these fits:
 * `spare` is how much of that there must be for the answer to be GMOD_FITS. None is needed for what is not managed.
 */
#define GMOD_MANAGED_SPARE ((size_t)128 << 20)

/*
 * Would the native allocator have `size` bytes of device memory? Managed memory would be granted beyond that and then
 * evict. Counts the size as in flight until gmod_unified_unreserve(), whatever the answer.
 */
enum gmod_fit gmod_unified_reserve(struct gmod_context *c, size_t size, size_t spare);
void gmod_unified_unreserve(struct gmod_context *c, size_t size);

/* Before the canaries are written: their pages stay on the host. */
void gmod_unified_place_zones(struct gmod_context *c, const struct gmod_place *p);

/*
 * After: the body, with the canary bytes of its slack, moves to the device. Returns the bytes that were not placed
 * there and so are not in the driver's own accounts.
 */
uint64_t gmod_unified_place_body(struct gmod_context *c, const struct gmod_place *p);

/* Bytes to take off what cuMemGetInfo calls free. */
uint64_t gmod_unified_pending(const struct gmod_context *c);

#endif
