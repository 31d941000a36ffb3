/*
 * The registry: one owner a record, no record lost, and no load of memory that is being given back.
 *
 * In the large test, memory that a record refers to is poisoned or unmapped as soon as begin_release() has returned,
 * and armed for another record; a sweeper pins and reads it all the while. A handshake that lets one load through
 * reads a wrong word, or faults.
 */
#include "monitor/registry.h"

#include <pthread.h>
#include <sched.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/unit/support.h"

enum { ZONE_WORDS = 16 };

static struct gmod_registry_stats stats(void)
{
	struct gmod_registry_stats s;

	gmod_registry_stats(&s);
	return s;
}

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

static void an_empty_registry_is_empty(void **unused)
{
	struct gmod_registry_stats s = stats();

	(void)unused;
	assert_int_equal(gmod_registry_positions(), 0);
	assert_int_equal(s.live + s.live_bytes + s.live_shared + s.live_slack + s.chunks, 0);
}

static void a_record_lives_and_goes(void **unused)
{
	struct gmod_record *r = gmod_record_claim();
	struct gmod_bounds b;
	uint64_t word, generation;

	(void)unused;
	assert_non_null(r);
	assert_int_equal(stats().chunks, 1);
	assert_int_equal(gmod_registry_positions(), GMOD_CHUNK);
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

static void only_a_live_word_can_be_released(void **unused)
{
	struct gmod_record *r = gmod_record_claim();
	uint64_t word;

	(void)unused;
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
static void a_word_names_one_buffer_for_ever(void **unused)
{
	struct gmod_record *r = gmod_record_claim(), *again;
	uint64_t old, new;

	(void)unused;
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

static void an_abandoned_record_never_lived(void **unused)
{
	struct gmod_record *r = gmod_record_claim();
	uint64_t word = word_of(r);

	(void)unused;
	gmod_record_abandon(r);
	assert_int_equal(word_of(r) & 3, GMOD_FREE);
	assert_int_not_equal(word_of(r) >> 2, word >> 2);
	assert_int_equal(stats().live, 0);
	assert_ptr_equal(gmod_record_claim(), r);
	gmod_record_abandon(r);
}

static void a_claimed_record_remembers_nothing(void **unused)
{
	struct gmod_record *r = gmod_record_claim();
	struct gmod_details *d = gmod_record_details(r);
	uint32_t position = r->position;

	(void)unused;
	memset(d, 0xa5, sizeof(*d));
	publish(r, 0x40000, 10);
	assert_true(gmod_record_begin_release(r, gmod_record_live(r)));
	gmod_record_retire(r);
	assert_ptr_equal(gmod_record_claim(), r);
	assert_int_equal(r->position, position);
	assert_true(r->bounds.user == 0 && r->bounds.tail_to == 0 && r->bounds.head_to == 0);
	assert_ptr_equal(gmod_record_details(r), d);
	assert_true(d->raw == 0 && d->serial == 0 && !d->context && !d->backend && d->unplaced == 0 && !d->leaving);
	assert_true(d->reported == 0 && d->slack_ns[0] == 0 && d->slack_ticks[1] == 0 && d->stack.depth == 0);
	gmod_record_abandon(r);
}

static void live_buffers_are_counted_by_kind(void **unused)
{
	static const enum gmod_memory kinds[] = {GMOD_MEM_DEVICE, GMOD_MEM_MANAGED, GMOD_MEM_HOST};
	/* no slack; slack before; slack behind */
	static const struct gmod_bounds bounds[] = {{8192, 100, 4096, 8192, 8292, 12288},
						    {8704, 100, 4096, 8192, 8804, 12288},
						    {8192, 100, 4096, 8192, 8400, 12288}};
	struct gmod_record *r[9];

	(void)unused;
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

/* Claims everything there is: each position comes once, and no chunk is added before all are taken. */
static void check_no_record_is_lost(void)
{
	uint32_t positions = gmod_registry_positions();
	struct gmod_record **all = calloc(positions + 1, sizeof(*all));
	bool *seen = calloc(positions, sizeof(*seen));

	for (uint32_t i = 0; i < positions; i++) {
		all[i] = gmod_record_claim();
		CHECK(all[i]->position < positions && !seen[all[i]->position], "claim %u: position %u of %u", i,
		      all[i]->position, positions);
		seen[all[i]->position] = true;
	}
	assert_int_equal(gmod_registry_positions(), positions);
	all[positions] = gmod_record_claim();
	assert_int_equal(gmod_registry_positions(), positions + GMOD_CHUNK);
	for (uint32_t i = 0; i <= positions; i++)
		gmod_record_abandon(all[i]);
	free(all);
	free(seen);
}

static void chunks_come_when_records_run_out(void **unused)
{
	(void)unused;
	check_no_record_is_lost();
	check_no_record_is_lost();
	for (uint32_t i = 0; i < gmod_registry_positions(); i++) {
		const struct gmod_record *r = gmod_record_at(i);

		CHECK(r->position == i, "position %u", i);
		CHECK((uintptr_t)r % 64 == 0, "position %u", i);
	}
	/* Records of a chunk are dense, so that a sweep is linear. */
	assert_ptr_equal(gmod_record_at(1) - 1, gmod_record_at(0));
	assert_ptr_equal(gmod_record_at(GMOD_CHUNK - 1) - (GMOD_CHUNK - 1), gmod_record_at(0));
}

static bool is_out_of_core_files(const void *address)
{
	uint64_t wanted = (uint64_t)(uintptr_t)address;
	FILE *f = fopen("/proc/self/smaps", "re");
	bool inside = false, out = false;
	char line[4096];

	assert_non_null(f);
	while (fgets(line, sizeof(line), f)) {
		unsigned long from = 0, to = 0;

		if (strchr("0123456789abcdef", line[0]) &&
		    sscanf(line, "%lx-%lx ", &from, &to) == 2) // NOLINT: the kernel's own text
			inside = wanted >= from && wanted < to;
		else if (inside && !strncmp(line, "VmFlags:", 8))
			out = strstr(line, " dd") != NULL;
	}
	fclose(f);
	return out;
}

/* Lines are canary bytes, details hold each buffer's canary key. */
static void what_tells_canaries_is_kept_out_of_core_files(void **unused)
{
	struct gmod_record *r = gmod_record_claim();

	(void)unused;
	assert_true(is_out_of_core_files(gmod_record_lines(r)));
	assert_true(is_out_of_core_files(gmod_record_details(r)));
	assert_false(is_out_of_core_files(&(char){0}));
	gmod_record_abandon(r);
}

/* ---- the pin ---- */

struct release {
	struct gmod_record *record;
	uint64_t word;
	atomic_bool done;
};

static void *release(void *arg)
{
	struct release *x = arg;

	if (gmod_record_begin_release(x->record, x->word)) {
		atomic_store(&x->done, true);
		gmod_record_retire(x->record);
	}
	return NULL;
}

static void wait_ms(long ms)
{
	struct timespec t = {ms / 1000, ms % 1000 * 1000000};

	nanosleep(&t, NULL);
}

static void check_a_release_waits(enum gmod_pin who)
{
	struct gmod_record *r[2 * GMOD_BATCH];
	struct release mine = {0}, other = {0};
	pthread_t a, b;

	for (int i = 0; i < 2 * GMOD_BATCH; i++) {
		r[i] = gmod_record_claim();
		publish(r[i], 0x100000 * (uint64_t)(i + 1), 64);
	}
	/* Any position of the batch pins it; records of two batches are at hand. */
	mine.record = r[0];
	for (int i = 0; i < 2 * GMOD_BATCH && !other.record; i++)
		if (r[i]->position / GMOD_BATCH != r[0]->position / GMOD_BATCH)
			other.record = r[i];
	assert_non_null(other.record);
	mine.word = gmod_record_live(mine.record);
	other.word = gmod_record_live(other.record);
	gmod_pin(who, mine.record->position / GMOD_BATCH * GMOD_BATCH + GMOD_BATCH - 1);
	assert_int_equal(pthread_create(&a, NULL, release, &mine), 0);
	assert_int_equal(pthread_create(&b, NULL, release, &other), 0);
	pthread_join(b, NULL);
	assert_true(atomic_load(&other.done));
	while (word_of(mine.record) == mine.word)
		sched_yield();
	assert_int_equal(word_of(mine.record) & 3, GMOD_RELEASING);
	wait_ms(20);
	assert_false(atomic_load(&mine.done));
	/* Another's pin, taken and given back, is none of its business. */
	gmod_pin((who + 1) % GMOD_PIN_COUNT, other.record->position);
	gmod_unpin((who + 1) % GMOD_PIN_COUNT);
	wait_ms(5);
	assert_false(atomic_load(&mine.done));
	gmod_unpin(who);
	pthread_join(a, NULL);
	assert_true(atomic_load(&mine.done));
	for (int i = 0; i < 2 * GMOD_BATCH; i++)
		if (gmod_record_live(r[i]) && gmod_record_begin_release(r[i], gmod_record_live(r[i])))
			gmod_record_retire(r[i]);
	assert_int_equal(stats().live, 0);
}

static void a_release_waits_for_the_pin_of_its_batch(void **unused)
{
	(void)unused;
	for (int who = 0; who < GMOD_PIN_COUNT; who++)
		check_a_release_waits((enum gmod_pin)who);
}

/* ---- many threads ---- */

enum { THREADS = 16, SLOTS = 192, MAPPED_ONE_IN = 32, TWICE_ONE_IN = 8, REFUSED_ONE_IN = 64 };
static const uint64_t operations = 1000000;

/* A buffer on its way from thread to thread; held by one slot, or by two for a free that comes twice. */
struct item {
	struct gmod_record *record;
	uint64_t word;
	uint64_t *zone;
	bool mapped;
	atomic_int holders;
};

static _Atomic(struct item *) slots[SLOTS];
static _Atomic uint32_t recent[64]; /* positions armed lately, for whoever wants to meet their release */
static atomic_bool stop;
static _Atomic uint64_t errors, looked_at, armed, twice, gone, too_late;

static void add(_Atomic uint64_t *counter, uint64_t by)
{
	atomic_fetch_add_explicit(counter, by, memory_order_relaxed);
}

/* As the hooks and the sweep do it, in plain memory: what orders these is the registry's affair. */
static void fill(uint64_t *zone, uint64_t value)
{
	for (int i = 0; i < ZONE_WORDS; i++)
		((volatile uint64_t *)zone)[i] = value;
}

static bool holds(const uint64_t *zone, uint64_t value)
{
	uint64_t differ = 0;

	for (int i = 0; i < ZONE_WORDS; i++)
		differ |= ((const volatile uint64_t *)zone)[i] ^ value;
	return !differ;
}

/* What a buffer's zone, lines and details hold: it is this buffer's alone. */
static uint64_t mark_of(const struct gmod_record *r, uint64_t word)
{
	return ((word >> 2) << 24 | r->position) * 0x9e3779b97f4a7c15u;
}

static struct gmod_bounds bounds_of(const uint64_t *zone)
{
	uint64_t at = (uint64_t)(uintptr_t)zone, half = ZONE_WORDS * 4;

	return (struct gmod_bounds){at, 2 * half, at, at + half, at + half, at + 2 * half};
}

static bool are_bounds(const struct gmod_bounds *b)
{
	uint64_t half = ZONE_WORDS * 4;

	return b->size == 2 * half && b->head_from == b->user && b->head_to == b->user + half &&
	       b->tail_from == b->user + half && b->tail_to == b->user + 2 * half;
}

static struct item *arm(bool mapped)
{
	struct item *x = calloc(1, sizeof(*x));
	struct gmod_bounds b;
	uint64_t mark;

	x->record = gmod_record_claim();
	x->mapped = mapped;
	x->zone = mapped ? mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
			 : malloc(ZONE_WORDS * 8);
	x->word = (atomic_load(&x->record->word) & ~(uint64_t)3) | GMOD_LIVE;
	mark = mark_of(x->record, x->word);
	b = bounds_of(x->zone);
	gmod_record_set_bounds(x->record, &b);
	fill(x->zone, mark);
	memcpy(gmod_record_lines(x->record)->tail, &mark, sizeof(mark));
	gmod_record_details(x->record)->serial = mark;
	gmod_record_publish(x->record);
	atomic_store_explicit(&recent[x->record->position % 64], x->record->position, memory_order_relaxed);
	add(&armed, 1);
	return x;
}

/* The driver's own free. */
static void give_back_zone(const struct item *x)
{
	if (x->mapped) {
		munmap(x->zone, 4096);
	} else {
		fill(x->zone, 0xdddddddddddddddd);
		free(x->zone);
	}
}

static void disarm(struct item *x, bool refused_first)
{
	bool mine = gmod_record_begin_release(x->record, x->word);

	/* A free that the driver refuses makes the buffer live again; where it is freed twice the other may be next. */
	if (mine && refused_first) {
		gmod_record_reinstate(x->record);
		mine = gmod_record_begin_release(x->record, x->word);
	}
	if (mine) {
		if (!holds(x->zone, mark_of(x->record, x->word)))
			add(&errors, 1);
		give_back_zone(x);
		gmod_record_retire(x->record);
	}
	add(mine ? &gone : &too_late, 1);
	if (atomic_fetch_sub(&x->holders, 1) == 1)
		free(x);
}

static void *churn(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;

	for (uint64_t i = 0; i < operations / THREADS; i++) {
		struct item *x = arm(i % MAPPED_ONE_IN == 0);
		int holders = i % TWICE_ONE_IN == 1 ? 2 : 1;

		atomic_store(&x->holders, holders);
		add(&twice, holders == 2);
		for (int k = 0; k < holders; k++) {
			struct item *before = atomic_exchange(&slots[random_below(&seed, SLOTS)], x);

			if (before)
				disarm(before, i % REFUSED_ONE_IN == 2);
		}
	}
	return NULL;
}

/* What sweep_batch() does, and in its own way the gather. */
static void look_at_batch(enum gmod_pin who, uint32_t first)
{
	gmod_pin(who, first);
	for (uint32_t i = first; i < first + GMOD_BATCH; i++) {
		const struct gmod_record *r = gmod_record_at(i);
		uint64_t word = gmod_record_live(r), mark = mark_of(r, word);

		if (!word)
			continue;
		/* Time for a release that does not wait to do its damage. */
		for (int pause = 0; pause < 6 && who == GMOD_PIN_GATHER; pause++)
			__builtin_ia32_pause();
		if (!holds((const uint64_t *)(uintptr_t)r->bounds.head_from, mark) ||
		    gmod_record_details(r)->serial != mark ||
		    memcmp(gmod_record_lines(r)->tail, &mark, sizeof(mark)) != 0 || !are_bounds(&r->bounds))
			add(&errors, 1);
		add(&looked_at, 1);
	}
	gmod_unpin(who);
}

static void *sweep(void *who)
{
	while (!atomic_load(&stop))
		for (uint32_t first = 0; first < gmod_registry_positions(); first += GMOD_BATCH)
			look_at_batch((enum gmod_pin)(uintptr_t)who, first);
	return NULL;
}

/* What look-ups do: no pin, no memory of the buffer's, but bounds that belong together. */
static void *look_up(void *unused)
{
	uint64_t seed = 99;

	while (!atomic_load(&stop)) {
		uint32_t position = atomic_load_explicit(&recent[random_below(&seed, 64)], memory_order_relaxed);
		struct gmod_bounds b;

		if (gmod_record_snapshot(gmod_record_at(position), &b) && !are_bounds(&b))
			add(&errors, 1);
	}
	return unused;
}

static void run_threads(void *(*body)(void *))
{
	pthread_t thread[THREADS];

	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&thread[i], NULL, body, (void *)i), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
}

static void buffers_come_and_go_under_a_sweep(void **unused)
{
	struct gmod_registry_stats before = stats();
	uint64_t count = operations / THREADS * THREADS;
	pthread_t sweeper[GMOD_PIN_COUNT], looker;

	(void)unused;
	for (uintptr_t who = 0; who < GMOD_PIN_COUNT; who++)
		assert_int_equal(pthread_create(&sweeper[who], NULL, sweep, (void *)who), 0);
	assert_int_equal(pthread_create(&looker, NULL, look_up, NULL), 0);
	run_threads(churn);
	atomic_store(&stop, true);
	for (int who = 0; who < GMOD_PIN_COUNT; who++)
		pthread_join(sweeper[who], NULL);
	pthread_join(looker, NULL);
	for (int i = 0; i < SLOTS; i++)
		if (slots[i])
			disarm(slots[i], false);
	assert_int_equal(errors, 0);
	assert_int_equal(armed, count);
	assert_int_equal(gone, count);
	assert_true(twice > 0);
	assert_int_equal(too_late, twice);
	assert_true(looked_at > count / 1000);
	/* As at the start: nothing is live, nothing has grown, every record can be had. */
	assert_int_equal(stats().live, 0);
	assert_int_equal(stats().live_bytes, 0);
	assert_int_equal(stats().chunks, before.chunks);
	check_no_record_is_lost();
}

/* ---- free records ---- */

enum { TAKEN_AT_ONCE = 3, TAKES = SANITIZED ? 20000 : 200000 };
static _Atomic uint8_t owners[4096];

/* A few records, taken and given back in another order all the time: whoever holds one holds it alone. */
static void *take_and_give_back(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;

	for (int i = 0; i < TAKES; i++) {
		struct gmod_record *r[TAKEN_AT_ONCE];

		for (int k = 0; k < TAKEN_AT_ONCE; k++) {
			r[k] = gmod_record_claim();
			if (r[k]->position < 4096 && atomic_fetch_add(&owners[r[k]->position], 1))
				add(&errors, 1);
		}
		for (uint64_t k = random_below(&seed, TAKEN_AT_ONCE), n = 0; n < TAKEN_AT_ONCE; n++, k++) {
			struct gmod_record *give = r[k % TAKEN_AT_ONCE];

			if (give->position < 4096)
				atomic_fetch_sub(&owners[give->position], 1);
			gmod_record_abandon(give);
		}
	}
	return NULL;
}

static void a_free_record_is_taken_once(void **unused)
{
	uint64_t chunks = stats().chunks;

	(void)unused;
	errors = 0;
	run_threads(take_and_give_back);
	assert_int_equal(errors, 0);
	assert_int_equal(stats().chunks, chunks);
	check_no_record_is_lost();
}

/* ---- chunks ---- */

enum { HOARD = 3000 };
static struct gmod_record *hoards[THREADS][HOARD];

static void *hoard(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (int i = 0; i < HOARD; i++)
		hoards[me][i] = gmod_record_claim();
	return NULL;
}

static void many_threads_may_run_out_at_once(void **unused)
{
	bool *seen = calloc((size_t)GMOD_CHUNK * GMOD_CHUNKS, sizeof(*seen));
	uint64_t before = stats().chunks, needed = (THREADS * HOARD + GMOD_CHUNK - 1) / GMOD_CHUNK;

	(void)unused;
	run_threads(hoard);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < HOARD; k++) {
			uint32_t at = hoards[i][k]->position;

			CHECK(at < gmod_registry_positions() && !seen[at], "thread %d, record %d: position %u", i, k,
			      at);
			CHECK(gmod_record_at(at) == hoards[i][k], "position %u", at);
			seen[at] = true;
		}
	/* At worst each thread adds a chunk of its own at the same moment. */
	assert_true(stats().chunks <= before + needed + THREADS);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < HOARD; k++)
			gmod_record_abandon(hoards[i][k]);
	free(seen);
	check_no_record_is_lost();
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(an_empty_registry_is_empty),
	    cmocka_unit_test(a_record_lives_and_goes),
	    cmocka_unit_test(only_a_live_word_can_be_released),
	    cmocka_unit_test(a_word_names_one_buffer_for_ever),
	    cmocka_unit_test(an_abandoned_record_never_lived),
	    cmocka_unit_test(a_claimed_record_remembers_nothing),
	    cmocka_unit_test(live_buffers_are_counted_by_kind),
	    cmocka_unit_test(chunks_come_when_records_run_out),
	    cmocka_unit_test(what_tells_canaries_is_kept_out_of_core_files),
	    cmocka_unit_test(a_release_waits_for_the_pin_of_its_batch),
	    cmocka_unit_test(buffers_come_and_go_under_a_sweep),
	    cmocka_unit_test(a_free_record_is_taken_once),
	    cmocka_unit_test(many_threads_may_run_out_at_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
