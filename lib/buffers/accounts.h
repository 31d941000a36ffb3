/*
 * What is known of a device's free memory beyond the driver's own figure, kept for each context: whether a buffer would
 * fit natively, and what cuMemGetInfo has to say.
 *
 * Each puts on and takes off its own: an allocation may be under way when its context ends.
 */
#ifndef GMOD_LIB_BUFFERS_ACCOUNTS_H
#define GMOD_LIB_BUFFERS_ACCOUNTS_H

#include "lib/buffers/backend.h"

/*
 * Where the driver says less is free than a managed buffer could get, it decides by itself whether one of these fits:
 * `spare` is how much of that there must be for it to be accepted. None is needed for what is not managed.
 */
#define GMOD_MANAGED_SPARE ((size_t)128 << 20)

/*
 * Would the native allocator have `size` bytes of device memory? Managed memory would be granted beyond that and then
 * evict. Counts the size as in flight for the request, whatever the answer, until gmod_accounts_settle().
 */
enum gmod_answer gmod_accounts_answer(struct gmod_request *q, size_t size, size_t spare);
void gmod_accounts_settle(struct gmod_request *q);

/* Bytes of a live buffer that are not on the device, and so not in the driver's own accounts. */
void gmod_accounts_unplaced(const struct gmod_context *c, uint64_t bytes);
/* A managed device buffer of that size is no more, of which `unplaced` bytes were not on the device. */
void gmod_accounts_freed(const struct gmod_context *c, uint64_t size, uint64_t unplaced);

/* Bytes to take off what cuMemGetInfo calls free. */
uint64_t gmod_accounts_pending(const struct gmod_context *c);

/* The context has gone: the next one with its entry has freed nothing and drawn nothing over. */
void gmod_accounts_gone(struct gmod_context *c);

#endif
