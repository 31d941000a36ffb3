/* What the tests of monitor/watch/damage.h share: sightings of damage to guarded buffers. For test programs of one
 * file. */
#pragma once

#include "lib/base/facts.h"
#include "monitor/watch/damage.h"
#include "tests/unit/buffer.h"

static struct report many[2048] __attribute__((unused));

/* `count` changed bytes from `offset` on: from the end of the buffer, or, if it is negative, from its start. */
static inline struct gmod_sighting sighting(const struct buffer *b, long offset, uint64_t count)
{
	static const uint8_t bytes[GMOD_OBSERVED_MAX] = {0xaa, 0xbb, 0xcc};
	uint64_t from = offset < 0 ? b->place.user : b->place.user_end;
	struct gmod_sighting s = {
	    .record = b->record,
	    .details = gmod_record_details(b->record),
	    .word = b->word,
	    .side = offset < 0 ? GMOD_HEAD : GMOD_TAIL,
	    .diff = {from + (uint64_t)offset, from + (uint64_t)offset + count - 1, count},
	    .observed = bytes,
	    .observed_count = count < sizeof(bytes) ? (uint32_t)count : sizeof(bytes),
	    .seen = gmod_now(),
	};

	s.intact = s.seen;
	s.intact.ns -= 1000000;
	return s;
}

static inline void see(const struct buffer *b, long offset, uint64_t count)
{
	struct gmod_sighting s = sighting(b, offset, count);

	gmod_damage_sighting(&s);
}

/* As if it had been seen so long ago. */
static inline void see_before(const struct buffer *b, long offset, uint64_t count, uint64_t ns)
{
	struct gmod_sighting s = sighting(b, offset, count);

	s.seen.ns -= ns;
	gmod_damage_sighting(&s);
}

static inline void see_last(const struct buffer *b, long offset, uint64_t count)
{
	struct gmod_sighting s = sighting(b, offset, count);

	s.last = true;
	gmod_damage_sighting(&s);
}

static inline void check_report(const struct report *r, long offset, long changed, long extent)
{
	CHECK(r->tail == (offset >= 0) && r->offset == offset && r->changed == changed && r->extent == extent,
	      "%s %+ld, %ld changed, extent %ld", r->tail ? "overflow" : "underflow", r->offset, r->changed, r->extent);
}

/* The one report that there is, of that kind. */
static inline struct report take_checked(bool final, long offset, long changed, long extent)
{
	struct report r = take_one(final);

	check_report(&r, offset, changed, extent);
	return r;
}

/* The usual buffer: it ends where its pages end, so all there is to see of it is on the host. */
static inline struct buffer plain_buffer(void)
{
	return new_buffer(3 * gmod_page_size(), GMOD_MEM_DEVICE);
}

static inline void free_buffer(struct buffer *b)
{
	CHECK(release_buffer(b), "%#lx", b->place.user);
	gmod_damage_released(b->record, (b->word & ~(uint64_t)3) | GMOD_RELEASING);
	drop_buffer(b);
}

/* What is still there of the buffers of a test, and nothing more is said of them. */
static inline void free_quietly(struct buffer *buffers, int count)
{
	for (int i = 0; i < count; i++)
		if (buffers[i].memory)
			free_buffer(&buffers[i]);
	take_none();
}

FIXTURE(start_watching)
{
	return start_gmod("");
}
