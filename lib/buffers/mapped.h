/*
 * Large device buffers: the driver's own device memory, mapped between two canary pages of host memory.
 *
 *     │<──────────────── one reservation of addresses, in multiples of 2 MiB ────────────────>│
 *     │ (nothing)   │ head page │ body: N x 2 MiB of device memory │ tail page │   (nothing) │
 *                       host                                           host
 *
 * The body is what cuMemCreate gives: not managed, never evicted, filled and copied at native speed, and counted in
 * cuMemGetInfo as natively. The driver keeps a reservation as inaccessible pages of this process; the two beside the
 * body are made accessible and registered as pinned host memory, at the same address for the device, which writes to
 * them across the bus while the CPU reads them by plain loads. All of it was tried on an H200, driver 580: kernels
 * store on both sides of either border, a copy or fill across a border is refused, cuMemHostRegister waits for
 * nothing (80 us beside a kernel) and is refused in a capture as cuMemAlloc is, cuMemHostUnregister waits as cuMemFree
 * does. A buffer costs no device memory beyond what a native one takes, two pages of the host, and 110 to 170 us to
 * allocate where native memory takes 40 to 110.
 *
 * Neither mapping nor memory belongs to a context, as natively they would: they are given back when it goes.
 *
 * Functions return what the driver said; none of them invents an error for the program.
 */
#ifndef GMOD_LIB_MAPPED_H
#define GMOD_LIB_MAPPED_H

#include "lib/context/context.h"
#include "monitor/registry/layout.h"
#include "monitor/watch/verify.h"

/* The buffers this process may have mapped at once: each splits the kernel's list of mappings in five places, and
 * Linux allows 65530 in all (vm.max_map_count). */
enum { GMOD_MAPPED_MAX = 4096 };

/* Does the device have what it takes? And is that so for buffers of the context, and wanted? */
bool gmod_mapped_is_possible(int device);
bool gmod_mapped_works(const struct gmod_context *c);

/* No: GMOD_MAPPED_MAX are there. Large buffers are then managed ones. */
bool gmod_mapped_has_room(void);

/* Device memory at reserved addresses, multiples of 2 MiB both, that contexts of the device may use. */
CUresult gmod_mapped_body(int device, uint64_t body, size_t size);

/* A block of that layout, device memory and host pages in place; *raw is where the reservation begins. */
CUresult gmod_mapped_alloc(const struct gmod_context *c, const struct gmod_layout *layout, uint64_t *raw);

struct gmod_mapped_block {
	uint64_t raw, total; /* the reservation */
	uint64_t zone_head, body, zone_tail;
};

/*
 * Give a block back. _free waits for the device as cuMemFree does; an error that a native free would give leaves the
 * block as it was. _drop is for a block whose context is gone.
 */
CUresult gmod_mapped_free(const struct gmod_context *c, const struct gmod_mapped_block *b);
void gmod_mapped_drop(const struct gmod_mapped_block *b);

/*
 * Canaries into the slack. Waits for them half a millisecond at most, 5 ms for a small buffer; a kernel that the
 * program launches before they are there may stray into the slack unseen. false: not all of them could be sent.
 */
bool gmod_mapped_arm_slack(const struct gmod_context *c, const struct gmod_record *r);

/* Slack bytes as they are once the device is done with the buffer: the caller owns the record and has waited. */
bool gmod_mapped_read_slack(const struct gmod_record *r, struct gmod_slack *out);

/* Contexts of device `reader` may use memory of device `owner` from now on: what is mapped, and what will be. */
void gmod_mapped_let_in(int reader, int owner);
/* The same for one block that has just been published. The caller's buffer is not yet known to the program. */
void gmod_mapped_let_peers_in(const struct gmod_record *r);

#endif
