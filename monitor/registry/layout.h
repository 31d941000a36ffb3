/*
 * Where the bytes of one guarded buffer lie. Pure arithmetic: no driver, no memory, no state.
 *
 *     raw                zone_head        body                         zone_tail
 *      │   (unused)       │ head zone │ head slack │ user │ tail slack │ tail zone │
 *                         └── page ───┴──────────── whole pages ───────┴── page ───┘
 *
 * Invariants, asserted by tests/unit/test_layout.c over many sizes:
 *   zone_head < body <= user, user + size <= zone_tail, and all of it lies in [raw, raw + total)
 *   the zones share no page with the user's bytes, so they can live on the host while the body lives on the device
 *   user is aligned as the driver aligns natively
 *   zone_tail - (user + size) < GMOD_DEVICE_ALIGNMENT: the device-side slack an overflow crosses unseen is as short as
 *   the promised alignment allows
 * A mapped buffer (lib/buffers/backend_mapped.c) has the same shape; its body takes whole multiples of 2 MiB, so its
 * head slack can be long, and only GMOD_HEAD_SLACK bytes of it, next to the user's, carry canaries. For pinned host
 * memory everything is visible to the CPU: there is no slack, the tail zone starts at the byte behind the user's last.
 */
#ifndef GMOD_MONITOR_REGISTRY_LAYOUT_H
#define GMOD_MONITOR_REGISTRY_LAYOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Native cuMemAlloc spaces small buffers by 512 bytes and starts those of 2 MiB and more at multiples of 2 MiB; 512
 * is also CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT, which the runtime promises for linear textures (measured on an
 * H200, driver 580).
 */
#define GMOD_DEVICE_ALIGNMENT ((size_t)512)
#define GMOD_LARGE ((size_t)2 << 20)

/* Bytes of redzone behind a pinned host buffer: what is left of its last page, and never less than this. */
#define GMOD_PINNED_REDZONE ((size_t)256)

/* Bytes of canary in the head slack of a mapped buffer, and behind a buffer in the driver's own allocation, at most. */
#define GMOD_HEAD_SLACK ((size_t)4096)
#define GMOD_TAIL_SLACK ((size_t)4096)
/* Of these, what every gather looks at: all that a buffer below GMOD_LARGE has. */
#define GMOD_NEAR_SLACK (GMOD_REDZONE + GMOD_DEVICE_ALIGNMENT)

/* Bytes behind a buffer in the driver's own allocation, at least. */
#define GMOD_REDZONE ((size_t)64)

/*
 * Buffers of multiples of this are exported as dma-bufs, to network adapters, by whole pages: what is in front of one
 * is as long as whole pages, too, where all are such buffers.
 */
#define GMOD_EXPORT_UNIT ((size_t)64 << 10)
#define GMOD_EXPORT_PAGE ((size_t)4 << 10)

struct gmod_layout {
	size_t total; /* bytes to ask the driver for */
	/* Distances from the first multiple of base_alignment at or after raw: */
	size_t zone_head, body, user, zone_tail, end;
	size_t base_alignment; /* boundary those distances count from */
};

/*
 * Addresses, once the driver has said where raw is. zone_head and end are multiples of GMOD_DEVICE_ALIGNMENT, because
 * the index enters whole units only: a free would not find a buffer that has none.
 */
struct gmod_place {
	uint64_t raw, zone_head, body, user, user_end, zone_tail, end;
};

/*
 * The user's bytes, and the zones the CPU may read: [head_from, head_to) and [tail_from, tail_to). Between the
 * zones and the user's bytes lies slack.
 */
struct gmod_bounds {
	uint64_t user, size;
	uint64_t head_from, head_to;
	uint64_t tail_from, tail_to;
};

enum gmod_side { GMOD_HEAD, GMOD_TAIL };

/* Addresses: the first one, and the one behind the last. */
struct gmod_range {
	uint64_t from, to;
};

/* The words next to the user's bytes, compared at every sweep: the canary, or what was last observed there. */
enum { GMOD_LINE = 64 };
struct gmod_lines {
	uint8_t head[GMOD_LINE], tail[GMOD_LINE];
};

/* Bytes beside the user's that lie with the body, where the CPU does not look. */
static inline bool gmod_has_slack(const struct gmod_bounds *b)
{
	return b->head_to != b->user || b->tail_from != b->user + b->size;
}

/* A side's slack that has canaries, from the head zone or GMOD_HEAD_SLACK before the user's bytes to the tail zone. */
static inline struct gmod_range gmod_whole_slack(const struct gmod_bounds *b, enum gmod_side side)
{
	if (side == GMOD_HEAD)
		return (struct gmod_range){
		    b->user - b->head_to > GMOD_HEAD_SLACK ? b->user - GMOD_HEAD_SLACK : b->head_to, b->user};
	return (struct gmod_range){b->user + b->size, b->tail_from};
}

/* The part of a side's slack that all gathers look at, next to the user's bytes; empty where there is no slack. */
static inline struct gmod_range gmod_near_slack(const struct gmod_bounds *b, enum gmod_side side)
{
	uint64_t end = b->user + b->size;

	if (side == GMOD_HEAD)
		return (struct gmod_range){b->user - b->head_to > GMOD_LINE ? b->user - GMOD_LINE : b->head_to,
					   b->user};
	return (struct gmod_range){end, b->tail_from - end > GMOD_NEAR_SLACK ? end + GMOD_NEAR_SLACK : b->tail_from};
}

/* Has it zones that the CPU reads? */
static inline bool gmod_has_zones(const struct gmod_bounds *b)
{
	return b->tail_from != b->tail_to;
}

/* The bytes of gmod_whole_slack(). */
struct gmod_slack {
	uint8_t head[GMOD_HEAD_SLACK], tail[GMOD_TAIL_SLACK];
};

/* false: size is 0 or so large that the sum overflows; out is untouched. page is the CPU's page size. */
bool gmod_layout_device(size_t size, size_t page, struct gmod_layout *out);
bool gmod_layout_mapped(size_t size, size_t page, struct gmod_layout *out);
bool gmod_layout_pinned(size_t size, size_t page, struct gmod_layout *out);

/* A mapped buffer's layout placed at raw; the length of its reservation, 0: none. */
size_t gmod_layout_mapped_at(size_t size, size_t page, uint64_t raw, struct gmod_place *out);

/*
 * A buffer in an allocation of the driver's own, `head` bytes behind its start and `tail` before its end at least, or a
 * page: no zones, and a tail slack that goes to the end of what the driver rounds up to, GMOD_TAIL_SLACK at most. What
 * the program may have less because of it, in bytes, goes to *extra. The bytes to ask for; 0: none.
 */
size_t gmod_layout_redzone(size_t size, size_t head, size_t tail, size_t *extra);
void gmod_layout_redzone_at(size_t size, size_t total, uint64_t raw, uint64_t user, struct gmod_place *out);

/*
 * A block of whole units of GMOD_LARGE at raw, behind which nothing is mapped (lib/buffers/backend_fence.c): the user's
 * bytes end where it does, as far as the alignment allows, or start where it does; no zones. The block's length; 0:
 * none.
 */
size_t gmod_layout_fenced_at(size_t size, size_t alignment, bool at_start, uint64_t raw, struct gmod_place *out);

/* Place the layout of a `size`-byte buffer at raw. */
void gmod_layout_place(const struct gmod_layout *layout, size_t size, uint64_t raw, struct gmod_place *out);

/* Bytes from the first row's start to the last row's end; false on overflow. Rows and slices may be 0. */
bool gmod_layout_extent(size_t width, size_t rows, size_t pitch, size_t slices, size_t slice_pitch, size_t *out);

#endif
