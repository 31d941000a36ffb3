/*
 * Where fenced blocks lie (lib/buffers/backend_fence.c): addresses, and what is mapped at them.
 *
 *     │ one reservation of addresses for the process, made with the first block                              │
 *     │ ... │ span of 64 MiB or a power of two more: nothing │ block: N x 2 MiB │ nothing │ span: nothing │ ... │
 *
 * The reservation is never given back, so an address in it is never anybody else's: on machines where the device sees
 * all of the host's memory an address that is not reserved could be. It takes no memory, 6 us, and a single mapping of
 * the kernel's, whatever is mapped in it (measured on an H200, driver 580, 16 TiB and 8000 blocks).
 *
 *     free addresses ──take──► MAPPED, a buffer's ──idle──► MAPPED, nobody's ──take──► MAPPED, a buffer's
 *           ▲                       │                            │
 *           └── after 4096 more ────┴────────── unmap ───────────┘
 *
 * Who unmaps has waited (tests/models/fence.pml): nothing on the device uses the block, no look at it is under way, and
 * a fault of it, which the driver may tell late, is known (lib/context/fault.h). Functions may be called from any
 * thread.
 */
#ifndef GMOD_LIB_BUFFERS_FENCE_H
#define GMOD_LIB_BUFFERS_FENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/context/current.h"

struct gmod_place;
struct gmod_stack;

struct gmod_fenced {
	uint64_t at, size; /* whole units of 2 MiB */
	int device;
};

/* May memory of so many bytes, allocated there, have a fence? site: of gmod_ordered_site(), or 0. If not, it is
 * counted. */
bool gmod_fence_wants(int device, size_t size, const struct gmod_stack *from, uint64_t site);
/* In the end: names the places of option fence_sites where nothing was allocated that can have a fence. */
void gmod_fence_say_unmet(void);
/* Where a buffer lies in a block at that address, by the options and by chance. The block's size; 0: none. */
size_t gmod_fence_place(size_t size, uint64_t at, struct gmod_place *out);

/* The run's: decides for a buffer what is left to chance. The same until the process ends. */
uint32_t gmod_fence_seed(void);

/*
 * A block of that size and device, at *at: an idle one, or a new one. give_way: has what nobody uses go, for fence_mb.
 * false: beyond that, or the driver would not.
 */
bool gmod_fence_take(struct gmod_fenced *block, bool (*give_way)(int device));

/*
 * The block is freed in a stream of a context of that device. What a native free is to the streams that this one joins,
 * a fill of one byte is here: behind their work, and before what they have next. false: it is not there.
 */
bool gmod_fence_take_place(const struct gmod_fenced *block, int device, CUstream stream);

/* The block stays mapped for the next one that asks for as much, or, where too much is idle, goes. */
void gmod_fence_idle(const struct gmod_fenced *block);
/* What is at its addresses goes, and accesses to them fault until 4096 others have gone after them. */
void gmod_fence_unmap(const struct gmod_fenced *block);

/*
 * Other devices may access the block from now on, a bit each: what lies before and behind it is filled, for a fault of
 * theirs on the way there could harm more than the process that made it.
 */
void gmod_fence_close(const struct gmod_fenced *block, uint64_t devices);

/* All idle blocks of the device go; true: there were some. */
bool gmod_fence_trim(int device);
/* Their bytes. */
uint64_t gmod_fence_idle_bytes(int device);

#endif
