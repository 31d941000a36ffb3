/* The registry, one step at a time: one owner a record, no record lost, and a release that waits for whoever looks. */
#include "tests/unit/records.h"

static uint64_t word_of(const struct gmod_record *r)
{
	return atomic_load(&r->word);
}

static void publish(struct gmod_record *r, uint64_t user, uint64_t size)
{
	struct gmod_bounds b = {user, size, user - 4096, user, user + size, user + size + 4096};

	gmod_record_set_bounds(r, &b);
	gmod_record_publish(r);
}

/* ---- one thread ---- */

TEST(an_empty_registry_is_empty)
{
	struct gmod_registry_stats s = stats();

	assert_int_equal(positions(), 0);
	assert_int_equal(gmod_registry_used(), 0);
	assert_int_equal(s.live + s.live_bytes + s.live_shared + s.live_slack, 0);
}

TEST(a_record_lives_and_goes)
{
	struct gmod_record *r = gmod_record_claim();
	struct gmod_bounds b;
	uint64_t word, generation;

	assert_non_null(r);
	assert_int_equal(positions(), GMOD_BANK);
	assert_int_equal(gmod_registry_used(), r->position + 1);
	assert_ptr_equal(gmod_record_at(r->position), r);
	generation = word_of(r) >> 2;
	assert_int_equal(word_of(r) & 3, GMOD_ARMING);
	assert_int_equal(gmod_record_live(r), 0);
	assert_int_equal(gmod_record_snapshot(r, &b), 0);
	assert_int_equal(stats().live, 0);

	publish(r, 0x10000, 100);
	word = gmod_record_live(r);
	assert_int_equal(word, generation << 2 | GMOD_LIVE);
	assert_int_equal(gmod_record_snapshot(r, &b), word);
	assert_true(b.user == 0x10000 && b.size == 100 && b.head_from == 0xf000 && b.head_to == 0x10000 &&
		    b.tail_from == 0x10064 && b.tail_to == 0x11064);
	assert_int_equal(stats().live, 1);
	assert_int_equal(stats().live_bytes, 100);

	assert_true(gmod_record_begin_release(r, word));
	assert_int_equal(word_of(r), generation << 2 | GMOD_RELEASING);
	assert_int_equal(gmod_record_live(r), 0);
	assert_int_equal(gmod_record_snapshot(r, &b), 0);
	assert_false(gmod_record_begin_release(r, word));
	assert_int_equal(stats().live, 1);

	/* The real free failed. */
	gmod_record_reinstate(r);
	assert_int_equal(gmod_record_live(r), word);
	assert_int_equal(stats().live, 1);

	assert_true(gmod_record_begin_release(r, word));
	gmod_record_retire(r);
	assert_int_equal(word_of(r), (generation + 1) << 2 | GMOD_FREE);
	assert_false(gmod_record_begin_release(r, word));
	assert_int_equal(stats().live, 0);
	assert_int_equal(stats().live_bytes, 0);
}

TEST(only_a_live_word_can_be_released)
{
	struct gmod_record *r = gmod_record_claim();
	uint64_t word;

	assert_false(gmod_record_begin_release(r, word_of(r)));
	publish(r, 0x20000, 1);
	word = gmod_record_live(r);
	assert_false(gmod_record_begin_release(r, word ^ GMOD_LIVE ^ GMOD_RELEASING));
	assert_false(gmod_record_begin_release(r, word ^ GMOD_LIVE ^ GMOD_ARMING));
	assert_false(gmod_record_begin_release(r, word + 4));
	assert_false(gmod_record_begin_release(r, word - 4));
	assert_false(gmod_record_begin_release(r, 0));
	assert_int_equal(gmod_record_live(r), word);
	assert_true(gmod_record_begin_release(r, word));
	gmod_record_retire(r);
}

/* Whoever still holds the word of a buffer that is gone gets nothing, although the record is another buffer's now. */
TEST(a_word_names_one_buffer_for_ever)
{
	struct gmod_record *r = gmod_record_claim(), *again;
	uint64_t old, new;

	publish(r, 0x30000, 10);
	old = gmod_record_live(r);
	assert_true(gmod_record_begin_release(r, old));
	gmod_record_retire(r);
	again = gmod_record_claim();
	assert_ptr_equal(again, r); /* the last one freed is the next one used */
	publish(r, 0x30000, 10);
	new = gmod_record_live(r);
	assert_int_not_equal(old, new);
	assert_false(gmod_record_begin_release(r, old));
	assert_true(gmod_record_begin_release(r, new));
	gmod_record_retire(r);
}

TEST(an_abandoned_record_never_lived)
{
	struct gmod_record *r = gmod_record_claim();
	uint64_t word = word_of(r);

	gmod_record_abandon(r);
	assert_int_equal(word_of(r) & 3, GMOD_FREE);
	assert_int_not_equal(word_of(r) >> 2, word >> 2);
	assert_int_equal(stats().live, 0);
	assert_ptr_equal(gmod_record_claim(), r);
	gmod_record_abandon(r);
}

TEST(a_claimed_record_remembers_nothing)
{
	struct gmod_record *r = gmod_record_claim();
	struct gmod_details *d = gmod_record_details(r);
	uint32_t position = r->position;

	memset(d, 0xa5, sizeof(*d));
	publish(r, 0x40000, 10);
	assert_true(gmod_record_begin_release(r, gmod_record_live(r)));
	gmod_record_retire(r);
	assert_ptr_equal(gmod_record_claim(), r);
	assert_int_equal(r->position, position);
	assert_true(r->bounds.user == 0 && r->bounds.tail_to == 0 && r->bounds.head_to == 0);
	assert_ptr_equal(gmod_record_details(r), d);
	assert_true(d->raw == 0 && d->serial == 0 && !d->context && !d->backend && !d->own && !d->leaving);
	assert_true(d->reported == 0 && d->slack[0].ns == 0 && d->slack[1].ticks == 0 && d->stack.depth == 0);
	gmod_record_abandon(r);
}

TEST(live_buffers_are_counted_by_kind)
{
	static const enum gmod_memory kinds[] = {GMOD_MEM_DEVICE, GMOD_MEM_MANAGED, GMOD_MEM_HOST};
	/* no slack; slack before; slack behind */
	static const struct gmod_bounds bounds[] = {{8192, 100, 4096, 8192, 8292, 12288},
						    {8704, 100, 4096, 8192, 8804, 12288},
						    {8192, 100, 4096, 8192, 8400, 12288}};
	struct gmod_record *r[9];

	for (int i = 0; i < 9; i++) {
		r[i] = gmod_record_claim();
		gmod_record_details(r[i])->memory = kinds[i / 3];
		gmod_record_set_bounds(r[i], &bounds[i % 3]);
		gmod_record_publish(r[i]);
	}
	assert_int_equal(stats().live, 9);
	assert_int_equal(stats().live_bytes, 900);
	assert_int_equal(stats().live_shared, 6);
	assert_int_equal(stats().live_slack, 6);
	for (int i = 0; i < 9; i++) {
		assert_true(gmod_record_begin_release(r[i], gmod_record_live(r[i])));
		gmod_record_retire(r[i]);
	}
	assert_int_equal(stats().live + stats().live_bytes + stats().live_shared + stats().live_slack, 0);
}

TEST(banks_come_when_records_run_out)
{
	check_no_record_is_lost();
	check_no_record_is_lost();
	for (uint32_t i = 0; i < gmod_registry_used(); i++) {
		const struct gmod_record *r = gmod_record_at(i);

		CHECK(r->position == i, "position %u", i);
		CHECK((uintptr_t)r % 64 == 0, "position %u", i);
	}
	/* Records of a chunk are dense, so that a sweep is linear. */
	assert_ptr_equal(gmod_record_at(1) - 1, gmod_record_at(0));
	assert_ptr_equal(gmod_record_at(GMOD_BANK - 1) - (GMOD_BANK - 1), gmod_record_at(0));
}

static bool is_out_of_core_files(const void *address)
{
	char flags[256];

	vm_flags(address, flags, sizeof(flags));
	return strstr(flags, " dd") != NULL;
}

/* Lines are canary bytes, details hold each buffer's canary key. */
TEST(what_tells_canaries_is_kept_out_of_core_files)
{
	struct gmod_record *r = gmod_record_claim();

	assert_true(is_out_of_core_files(gmod_record_lines(r)));
	assert_true(is_out_of_core_files(gmod_record_details(r)));
	assert_false(is_out_of_core_files(&(char){0}));
	gmod_record_abandon(r);
}

/* ---- the pin ---- */

struct release {
	bool (*begin)(struct gmod_record *r, uint64_t word);
	struct gmod_record *record;
	uint64_t word;
	atomic_bool done;
};

static void *release(void *arg)
{
	struct release *x = arg;

	if (x->begin(x->record, x->word)) {
		atomic_store(&x->done, true);
		gmod_record_retire(x->record);
	}
	return NULL;
}

static void check_a_release_waits(enum gmod_pin who, bool (*begin)(struct gmod_record *r, uint64_t word))
{
	enum { MOST = 2 * GMOD_GATHERED };
	uint32_t batch = who == GMOD_PIN_GATHER ? GMOD_GATHERED : GMOD_BATCH;
	struct gmod_record *r[MOST];
	struct release mine = {.begin = begin}, other = {.begin = begin};
	pthread_t a;

	for (int i = 0; i < MOST; i++) {
		r[i] = gmod_record_claim();
		gmod_record_details(r[i])->context = r; /* without, no launch is looked at for it */
		publish(r[i], 0x100000 * (uint64_t)(i + 1), 64);
	}
	/* Any position of the batch pins it; records of two batches are at hand. */
	mine.record = r[0];
	for (int i = 0; i < MOST && !other.record; i++)
		if (r[i]->position / batch != r[0]->position / batch)
			other.record = r[i];
	assert_non_null(other.record);
	mine.word = gmod_record_live(mine.record);
	other.word = gmod_record_live(other.record);
	gmod_pin(who, mine.record->position / batch * batch + batch - 1);
	a = begin_thread(release, &mine);
	in_a_thread(release, &other);
	assert_true(atomic_load(&other.done));
	while (word_of(mine.record) == mine.word)
		sched_yield();
	assert_int_equal(word_of(mine.record) & 3, GMOD_RELEASING);
	usleep(20000);
	assert_false(atomic_load(&mine.done));
	/* Another's pin, taken and given back, is none of its business. */
	gmod_pin((who + 1) % GMOD_PIN_COUNT, other.record->position);
	gmod_unpin((who + 1) % GMOD_PIN_COUNT);
	usleep(5000);
	assert_false(atomic_load(&mine.done));
	gmod_unpin(who);
	end_thread(a);
	assert_true(atomic_load(&mine.done));
	for (int i = 0; i < MOST; i++)
		if (gmod_record_live(r[i]) && gmod_record_begin_release(r[i], gmod_record_live(r[i])))
			gmod_record_retire(r[i]);
	assert_int_equal(stats().live, 0);
}

TEST(a_release_waits_for_the_pin_of_its_batch)
{
	for (int who = 0; who < GMOD_PIN_COUNT; who++)
		check_a_release_waits((enum gmod_pin)who, gmod_record_begin_release);
}

/* Before a context goes nobody asks the driver about its buffers any more. */
TEST(a_departure_waits_for_those_that_look_by_loads)
{
	check_a_release_waits(GMOD_PIN_SWEEP, gmod_record_begin_leaving);
	check_a_release_waits(GMOD_PIN_EXIT, gmod_record_begin_leaving);
}
