/* From an address to its buffer: interiors, edges, neighbours, and look-ups while buffers come and go. */
#include "monitor/registry/index.h"

#include <sys/resource.h>

#include "tests/unit/support.h"

#define GRANULE ((uint64_t)2 << 20)

enum { page = 4096 };

struct buffer {
	struct gmod_record *record;
	uint64_t word, from, to;
};

/* Addresses mean nothing here: no memory is behind them. The user's bytes lie a page inside. */
static struct gmod_bounds bounds_of(uint64_t from, uint64_t to)
{
	return (struct gmod_bounds){from + page, to - from - 2 * page, from, from + page, to - page, to};
}

static struct buffer enter(uint64_t from, uint64_t to)
{
	struct buffer b = {gmod_record_claim(), 0, from, to};
	struct gmod_bounds bounds = bounds_of(from, to);

	CHECK(gmod_index_insert(from, to, b.record->position), "[%#lx, %#lx)", from, to);
	gmod_record_set_bounds(b.record, &bounds);
	gmod_record_publish(b.record);
	b.word = gmod_record_live(b.record);
	return b;
}

static void leave(const struct buffer *b)
{
	CHECK(gmod_record_begin_release(b->record, b->word), "[%#lx, %#lx)", b->from, b->to);
	gmod_index_remove(b->from, b->to, b->record->position);
	gmod_record_retire(b->record);
}

static void check_found(const struct buffer *b, uint64_t address)
{
	struct gmod_found f = gmod_index_find(address);

	CHECK(f.record == b->record && f.word == b->word, "%#lx in [%#lx, %#lx)", address, b->from, b->to);
	CHECK(f.bounds.head_from == b->from && f.bounds.tail_to == b->to && f.bounds.user == b->from + page,
	      "%#lx in [%#lx, %#lx)", address, b->from, b->to);
}

static void check_none(uint64_t address)
{
	CHECK(!gmod_index_find(address).record, "%#lx", address);
}

/* Both ends, every granule's edges, and places in between. */
static void check_all_of(const struct buffer *b, uint64_t *seed)
{
	check_found(b, b->from);
	check_found(b, b->from + 1);
	check_found(b, b->to - 1);
	for (uint64_t edge = (b->from / GRANULE + 1) * GRANULE; edge < b->to; edge += GRANULE) {
		check_found(b, edge - 1);
		check_found(b, edge);
	}
	for (int i = 0; i < 8; i++)
		check_found(b, b->from + random_below(seed, b->to - b->from));
}

/* Many buffers, side by side in places, come and go at random; the index says what a plain list says. */
static void check_random(void)
{
	enum { BUFFERS = 3000, TURNS = 40000 };
	static struct buffer buffers[BUFFERS];
	uint64_t seed = 5, base = 0x7f4000000000, found = 0;

	for (int turn = 0; turn < TURNS; turn++) {
		unsigned i = (unsigned)random_below(&seed, BUFFERS);
		struct buffer *b = &buffers[i];
		/* Every buffer has room of its own: small and large ones alternate, with no gap if they fill it. */
		uint64_t large = 5 * GRANULE / 2, small = 16 * page, room = i % 8 ? small : large;
		uint64_t at = base + i / 8 * (large + 7 * small) + (i % 8 ? large + (i % 8 - 1) * small : 0);

		if (!b->record) {
			uint64_t pages = 3 + random_below(&seed, room / page - 2);
			uint64_t from = at + random_below(&seed, room / page - pages + 1) * page;

			*b = enter(from, from + pages * page);
		} else if (turn % 3 == 0) {
			leave(b);
			check_none(b->from);
			check_none(b->to - 1);
			b->record = NULL;
		} else {
			uint64_t address = at + random_below(&seed, room);
			bool inside = address >= b->from && address < b->to;

			CHECK((gmod_index_find(address).record == b->record) == inside, "%#lx in [%#lx, %#lx)", address,
			      b->from, b->to);
			check_all_of(b, &seed);
			found++;
		}
	}
	for (int i = 0; i < BUFFERS; i++)
		if (buffers[i].record)
			leave(&buffers[i]);
	CHECK(found > TURNS / 4, "%lu", found);
}

TEST(nothing_is_found_in_an_empty_index)
{
	uint64_t seed = 1;

	check_none(0);
	check_none(UINT64_MAX);
	check_none((uint64_t)1 << 47);
	check_none((uint64_t)1 << 48);
	for (int i = 0; i < 10000; i++)
		check_none(random64(&seed));
}

TEST(small_buffers_are_told_apart)
{
	uint64_t at = 0x7f5000000000 + GRANULE - 5 * GMOD_DEVICE_ALIGNMENT, unit = GMOD_DEVICE_ALIGNMENT;
	struct gmod_buffer_facts facts;
	struct buffer b[10];

	for (unsigned i = 0; i < 10; i++)
		b[i] = enter(at + i * unit, at + (i + 1) * unit);
	for (unsigned i = 0; i < 10; i++) {
		NEED(gmod_index_find(b[i].from).record == b[i].record);
		NEED(gmod_index_find(b[i].to - 1).record == b[i].record);
	}
	NEED(!gmod_index_find(at - 1).record && !gmod_index_find(at + 10 * unit).record);
	NEED(!gmod_index_facts_at(at - 1, &facts) && !gmod_index_facts_at(b[3].from + 1, &facts));
	for (unsigned i = 0; i < 10; i++)
		leave(&b[i]);
	NEED(!gmod_index_find(at).record);
}

TEST(a_buffer_is_found_by_any_address_of_its_pages)
{
	static const uint64_t sizes[] = {
	    25 * GMOD_DEVICE_ALIGNMENT, GRANULE / 16, GRANULE / 16 + 512, GRANULE / 2, GRANULE - 512, GRANULE};
	uint64_t seed = 2;

	for (uint64_t offset = 0; offset < 1024; offset += 73)
		for (unsigned i = 0; i < SIZE_OF(sizes); i++) {
			uint64_t from = 0x7f1000000000 + offset * page;
			struct buffer b = enter(from, from + sizes[i] * page);

			check_all_of(&b, &seed);
			check_none(b.from - 1);
			check_none(b.to);
			leave(&b);
			check_none(b.from);
			check_none(b.to - 1);
			check_none(b.from + (b.to - b.from) / 2);
		}
}

/* A whole granule, empty until then, needs no leaf; with a neighbour it does; one that has a leaf keeps it. */
TEST(granules_are_shared_with_neighbours)
{
	uint64_t at = 0x7f2000000000, seed = 3;
	struct buffer whole, before, behind, again;

	whole = enter(at, at + GRANULE);
	before = enter(at - GRANULE / 2, at);
	behind = enter(at + GRANULE, at + GRANULE + 4 * page);
	check_all_of(&whole, &seed);
	check_all_of(&before, &seed);
	check_all_of(&behind, &seed);
	leave(&whole);
	check_found(&before, at - 1);
	check_found(&behind, at + GRANULE);
	check_none(at);
	/* Half of it and half of the next, then the whole granule again, through the leaf it now has. */
	whole = enter(at + 3 * page, at + GRANULE);
	again = enter(at, at + 3 * page);
	check_all_of(&whole, &seed);
	check_all_of(&again, &seed);
	leave(&whole);
	leave(&again);
	whole = enter(at, at + GRANULE);
	check_all_of(&whole, &seed);
	leave(&whole);
	check_none(at);
	check_none(at + GRANULE - 1);
	leave(&before);
	leave(&behind);
}

/* A buffer's slots may outlast it until the next one is there: on all levels the living one is found. */
TEST(the_next_buffer_is_found_beside_the_last)
{
	static const uint64_t sizes[] = {GMOD_DEVICE_ALIGNMENT,
					 7 * GMOD_DEVICE_ALIGNMENT,
					 GRANULE / 256,
					 GRANULE / 16 + 512,
					 GRANULE / 2,
					 GRANULE - 512,
					 GRANULE};
	uint64_t at = 0x7f3000000000;

	for (size_t i = 0; i < SIZE_OF(sizes); i++)
		for (size_t k = 0; k < SIZE_OF(sizes); k++) {
			struct buffer last = enter(at, at + sizes[i]), next;

			NEED(gmod_record_begin_release(last.record, last.word));
			next = enter(at, at + sizes[k]);
			check_found(&next, at);
			check_found(&next, at + sizes[k] - 1);
			gmod_index_remove(at, at + sizes[i], last.record->position);
			gmod_record_retire(last.record);
			check_found(&next, at);
			check_found(&next, at + sizes[k] - 1);
			leave(&next);
			check_none(at);
			check_none(at + sizes[k] - 1);
		}
}

TEST(the_whole_address_space_is_covered)
{
	uint64_t end = (uint64_t)1 << 48, seed = 4;
	struct buffer low = enter(0, 8 * page), high = enter(end - 9 * page, end - page);

	check_all_of(&low, &seed);
	check_all_of(&high, &seed);
	/* What lies beyond is refused, and leaves nothing behind. */
	assert_false(gmod_index_insert(end - 4 * page, end + page, 0));
	assert_false(gmod_index_insert(end + page, end + 4 * page, 0));
	assert_false(gmod_index_insert(UINT64_MAX - 4 * page + 1 - page, UINT64_MAX - page + 1, 0));
	check_none(end);
	check_none(end + page);
	leave(&low);
	leave(&high);
}

TEST(only_live_buffers_are_found)
{
	uint64_t from = 0x7f3000000000, to = from + 16 * page;
	struct gmod_record *r = gmod_record_claim();
	struct gmod_bounds bounds = bounds_of(from, to);
	uint64_t word;

	assert_true(gmod_index_insert(from, to, r->position));
	gmod_record_set_bounds(r, &bounds);
	check_none(from); /* ARMING */
	gmod_record_publish(r);
	word = gmod_record_live(r);
	check_found(&(struct buffer){r, word, from, to}, from);
	assert_true(gmod_record_begin_release(r, word));
	check_none(from); /* RELEASING */
	gmod_record_reinstate(r);
	check_found(&(struct buffer){r, word, from, to}, from);
	/* A record that is another buffer's by now does not answer for addresses it once had. */
	assert_true(gmod_record_begin_release(r, word));
	gmod_record_retire(r);
	assert_ptr_equal(gmod_record_claim(), r);
	bounds = bounds_of(from + GRANULE, to + GRANULE);
	gmod_record_set_bounds(r, &bounds);
	gmod_record_publish(r);
	check_none(from);
	gmod_index_remove(from, to, r->position);
	assert_true(gmod_record_begin_release(r, gmod_record_live(r)));
	gmod_record_retire(r);
}

/* By its start alone, from when it is taken until it has left; one that a departing context has taken may come back. */
TEST(a_buffer_that_is_being_freed_is_told)
{
	struct buffer b = enter(100 * GRANULE, 100 * GRANULE + 4 * page);
	struct gmod_found found = {0};
	uint64_t user = b.from + page;

	assert_false(gmod_index_find_releasing(user, &found));
	assert_true(gmod_record_begin_release(b.record, b.word));
	assert_true(gmod_index_find_releasing(user, &found));
	assert_true(found.record == b.record && found.word >> 2 == b.word >> 2);
	assert_false(gmod_index_find_releasing(user + 1, &found));
	assert_false(gmod_index_find_releasing(b.from, &found));
	gmod_index_depart();
	assert_false(gmod_index_find_releasing(user, &found));
	gmod_index_departed();
	assert_true(gmod_index_find_releasing(user, &found));
	gmod_index_remove(b.from, b.to, b.record->position);
	assert_false(gmod_index_find_releasing(user, &found));
	gmod_record_retire(b.record);
}

TEST(random_buffers_are_found)
{
	check_random();
}

/* ---- memory ---- */

static void check_without_memory(void)
{
	struct rlimit none = {0, RLIM_INFINITY}, before;
	uint64_t at = 0x6f0000000000;
	struct buffer b;

	/* The first granule has a table and a leaf; what comes behind it has none and gets none. */
	b = enter(at + GRANULE - 8 * page, at + GRANULE - 4 * page);
	NEED(!getrlimit(RLIMIT_AS, &before));
	NEED(!setrlimit(RLIMIT_AS, &none));
	NEED(!gmod_index_insert(at + GRANULE - 4 * page, at + GRANULE + 4 * page, 0));
	NEED(!gmod_index_insert(at - 0x10000000000, at - 0x10000000000 + 4 * page, 0));
	NEED(!setrlimit(RLIMIT_AS, &before));
	check_none(at + GRANULE - 4 * page);
	check_none(at + GRANULE);
	check_found(&b, b.from);
	leave(&b);
	b = enter(at + GRANULE - 4 * page, at + GRANULE + 4 * page);
	check_found(&b, at + GRANULE);
}

TEST(without_memory_nothing_is_entered)
{
#if SANITIZED
	skip(); /* they need address space themselves */
#endif
	in_child(check_without_memory, 0);
}

/* ---- many threads ---- */

enum { CELLS = 256, CHANGERS = 4, LOOKERS = 4, EPOCHS = 64, CHANGES = SANITIZED ? 1000 : 15000 };

/* Which part of the address space is in use; each is fresh at first, with no tables and leaves. */
static _Atomic unsigned epoch_now;
static atomic_bool stop;
static _Atomic uint64_t errors, hits;

/* Cells lie side by side, those of one thread apart: neighbours in a granule are of different threads. */
static uint64_t cell_size(unsigned i)
{
	return i % 16 == 15 ? 5 * GRANULE / 2 : 24 * page;
}

static uint64_t cell_at(unsigned epoch, unsigned i)
{
	return 0x7f6000000000 + epoch * 0x10000000ull + i / 16 * (5 * GRANULE / 2 + 15 * 24 * page) +
	       i % 16 * 24 * page;
}

static bool is_of_cell(const struct gmod_found *f, uint64_t at, uint64_t size, uint64_t address)
{
	const struct gmod_bounds *b = &f->bounds;

	return b->head_from >= at && b->tail_to <= at + size && address >= b->head_from && address < b->tail_to &&
	       b->user == b->head_from + page && b->head_to == b->user && b->tail_from == b->user + b->size &&
	       b->tail_to == b->tail_from + page;
}

static void expect(bool good)
{
	if (!good)
		atomic_fetch_add_explicit(&errors, 1, memory_order_relaxed);
}

static void change_cell(struct buffer *b, unsigned epoch, unsigned cell, uint64_t *seed)
{
	uint64_t pages = cell_size(cell) / page, count = 3 + random_below(seed, pages - 2);
	uint64_t from = cell_at(epoch, cell) + random_below(seed, pages - count + 1) * page;

	if (b->record) {
		/* While it lives it is found, whatever the neighbours do. */
		expect(gmod_index_find(b->from).word == b->word && gmod_index_find(b->from).record == b->record);
		expect(gmod_index_find(b->to - 1).record == b->record);
		leave(b);
		expect(!gmod_index_find(b->from).record && !gmod_index_find(b->to - 1).record);
	}
	*b = enter(from, from + count * page);
	expect(gmod_index_find(from + random_below(seed, count * page)).record == b->record);
}

static void *change(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 100;
	unsigned me = (unsigned)(uintptr_t)arg;
	struct buffer mine[CELLS / CHANGERS] = {0};

	for (unsigned i = 0; i < EPOCHS * CHANGES; i++) {
		unsigned k = (unsigned)random_below(&seed, CELLS / CHANGERS);

		if (i % CHANGES == 0)
			atomic_store_explicit(&epoch_now, i / CHANGES, memory_order_relaxed);
		change_cell(&mine[k], i / CHANGES, k * CHANGERS + me, &seed);
	}
	for (unsigned k = 0; k < CELLS / CHANGERS; k++)
		if (mine[k].record)
			leave(&mine[k]);
	return NULL;
}

static void *look_up(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 200, found = 0;

	while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
		unsigned cell = (unsigned)random_below(&seed, CELLS);
		uint64_t at = cell_at(atomic_load_explicit(&epoch_now, memory_order_relaxed), cell);
		uint64_t address = at + random_below(&seed, cell_size(cell));
		struct gmod_found f = gmod_index_find(address);

		if (f.record)
			expect(is_of_cell(&f, at, cell_size(cell), address));
		found += f.record != NULL;
	}
	atomic_fetch_add(&hits, found);
	return NULL;
}

TEST(look_ups_race_with_changes)
{
	pthread_t looker[LOOKERS];
	struct gmod_registry_stats s;

	for (uintptr_t i = 0; i < LOOKERS; i++)
		looker[i] = begin_thread(look_up, (void *)i);
	in_threads(CHANGERS, change);
	atomic_store(&stop, true);
	for (int i = 0; i < LOOKERS; i++)
		end_thread(looker[i]);
	assert_int_equal(errors, 0);
	assert_true(hits > 1000);
	gmod_registry_stats(&s);
	assert_int_equal(s.live, 0);
	for (unsigned i = 0; i < EPOCHS * CELLS; i++)
		for (uint64_t off = 0; off < cell_size(i % CELLS); off += page)
			check_none(cell_at(i / CELLS, i % CELLS) + off);
}

FIXTURE(make_index)
{
	return 0;
}

static CMFixtureFunction group_setup = make_index;
