#include "monitor/registry/layout.h"

static bool round_up(size_t value, size_t alignment, size_t *out)
{
	if (__builtin_add_overflow(value, alignment - 1, out))
		return false;
	*out -= *out % alignment;
	return true;
}

/*
 * The body takes whole granules and the user's bytes end as close to its end as the alignment allows. Base, and with
 * it the body, starts at a multiple of `boundary`; the head zone is the page before the body, and what lies before the
 * head zone is address space only, never touched.
 */
static bool lay_out_around(size_t size, size_t page, size_t granule, size_t boundary, struct gmod_layout *out)
{
	struct gmod_layout l = {.base_alignment = boundary};
	size_t padded, body_size;

	if (!size || !round_up(size, GMOD_DEVICE_ALIGNMENT, &padded) || !round_up(padded, granule, &body_size))
		return false;
	l.zone_head = boundary - page;
	l.body = boundary;
	l.user = l.body + body_size - padded;
	if (__builtin_add_overflow(l.body, body_size, &l.zone_tail) ||
	    __builtin_add_overflow(l.zone_tail, page, &l.end) || __builtin_add_overflow(l.end, boundary, &l.total))
		return false;
	*out = l;
	return true;
}

/* The body of a large buffer starts at a multiple of 2 MiB, as natively, so that the driver can map it with large
 * pages.
 */
bool gmod_layout_device(size_t size, size_t page, struct gmod_layout *out)
{
	return lay_out_around(size, page, page, size >= GMOD_LARGE ? GMOD_LARGE : page, out);
}

/* Address space comes in the same granules as device memory does, and begins at one. */
bool gmod_layout_mapped(size_t size, size_t page, struct gmod_layout *out)
{
	struct gmod_layout l;

	if (!lay_out_around(size, page, GMOD_LARGE, GMOD_LARGE, &l))
		return false;
	l.total -= page;
	*out = l;
	return true;
}

/* cuMemHostAlloc returns whole pages, page-aligned (measured), and so does this. */
bool gmod_layout_pinned(size_t size, size_t page, struct gmod_layout *out)
{
	struct gmod_layout l = {.base_alignment = page, .body = page, .user = page};
	size_t behind;

	if (!size || __builtin_add_overflow(l.user, size, &l.zone_tail) ||
	    __builtin_add_overflow(l.zone_tail, GMOD_PINNED_REDZONE, &behind) || !round_up(behind, page, &l.end))
		return false;
	l.total = l.end;
	*out = l;
	return true;
}

/*
 * An allocation as long as the driver rounds it up to, and what it takes of the device: its share of a block of
 * GMOD_LARGE, which holds as many of the size as fit into it, or whole blocks (measured on an H200).
 */
static bool round_natively(size_t size, size_t *rounded, size_t *share)
{
	if (!round_up(size, size < GMOD_LARGE ? GMOD_DEVICE_ALIGNMENT : GMOD_LARGE, rounded))
		return false;
	*share = *rounded < GMOD_LARGE ? GMOD_LARGE / (GMOD_LARGE / *rounded) : *rounded;
	return true;
}

size_t gmod_layout_redzone(size_t size, size_t head, size_t tail, size_t *extra)
{
	size_t longer, native, total, share, native_share;

	if (size < GMOD_LARGE && size % GMOD_EXPORT_UNIT == 0)
		tail = GMOD_EXPORT_PAGE;
	if (!size || __builtin_add_overflow(size, head + tail, &longer) ||
	    !round_natively(size, &native, &native_share) || !round_natively(longer, &total, &share))
		return 0;
	*extra = share - native_share;
	return total;
}

void gmod_layout_redzone_at(size_t size, size_t total, uint64_t raw, uint64_t user, struct gmod_place *out)
{
	uint64_t slack = raw + total - (user + size), end;

	end = user + size + (slack < GMOD_TAIL_SLACK ? slack : GMOD_TAIL_SLACK);
	end -= end % GMOD_DEVICE_ALIGNMENT;
	*out = (struct gmod_place){raw, raw, raw, user, user + size, end, end};
}

void gmod_layout_place(const struct gmod_layout *layout, size_t size, uint64_t raw, struct gmod_place *out)
{
	uint64_t base = raw + layout->base_alignment - 1;

	base -= base % layout->base_alignment;
	*out = (struct gmod_place){
	    .raw = raw,
	    .zone_head = base + layout->zone_head,
	    .body = base + layout->body,
	    .user = base + layout->user,
	    .user_end = base + layout->user + size,
	    .zone_tail = base + layout->zone_tail,
	    .end = base + layout->end,
	};
}

size_t gmod_layout_mapped_at(size_t size, size_t page, uint64_t raw, struct gmod_place *out)
{
	struct gmod_layout l;

	if (!gmod_layout_mapped(size, page, &l))
		return 0;
	gmod_layout_place(&l, size, raw, out);
	return l.total;
}

size_t gmod_layout_fenced_at(size_t size, size_t alignment, bool at_start, uint64_t raw, struct gmod_place *out)
{
	size_t padded, block;

	if (!round_up(size, alignment, &padded) || !round_up(padded, GMOD_LARGE, &block))
		return 0;
	if (at_start)
		gmod_layout_redzone_at(size, block, raw, raw, out);
	else
		*out = (struct gmod_place){.raw = raw,
					   .zone_head = raw,
					   .body = raw,
					   .user = raw + block - padded,
					   .user_end = raw + block - padded + size,
					   .zone_tail = raw + block,
					   .end = raw + block};
	return block;
}

bool gmod_layout_extent(size_t width, size_t rows, size_t pitch, size_t slices, size_t slice_pitch, size_t *out)
{
	size_t down, back, sum;

	*out = 0;
	if (!width || !rows || !slices)
		return true;
	if (__builtin_mul_overflow(rows - 1, pitch, &down) || __builtin_mul_overflow(slices - 1, slice_pitch, &back) ||
	    __builtin_add_overflow(down, back, &sum))
		return false;
	return !__builtin_add_overflow(sum, width, out);
}
