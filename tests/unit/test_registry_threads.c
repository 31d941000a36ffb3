/*
 * The registry under many threads: one owner a record, no record lost, and no load of memory that is being given back.
 *
 * In the large test, memory that a record refers to is poisoned or unmapped as soon as begin_release() has returned,
 * and armed for another record; a sweeper pins and reads it all the while. A handshake that lets one load through
 * reads a wrong word, or faults.
 */
#include <sys/mman.h>

#include "tests/unit/records.h"

enum { ZONE_WORDS = 16 };

/* ---- buffers ---- */

enum { THREADS = 16, SLOTS = 192, MAPPED_ONE_IN = 32, TWICE_ONE_IN = 8, REFUSED_ONE_IN = 64 };
static uint64_t operations;

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
	gmod_record_details(x->record)->context = x; /* without, no launch is looked at for it */
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
static uint32_t batch(enum gmod_pin who)
{
	return who == GMOD_PIN_GATHER ? GMOD_GATHERED : GMOD_BATCH;
}

static void look_at_batch(enum gmod_pin who, uint32_t first)
{
	gmod_pin(who, first);
	for (uint32_t i = first; i < first + batch(who); i++) {
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
		for (uint32_t first = 0; first < positions(); first += batch((enum gmod_pin)(uintptr_t)who))
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

TEST(buffers_come_and_go_under_a_sweep)
{
	uint32_t before = positions();
	uint64_t count = operations = (uint64_t)turns(SANITIZED ? 50000 : 200000) / THREADS * THREADS;
	pthread_t sweeper[GMOD_PIN_COUNT], looker = begin_thread(look_up, NULL);

	for (uintptr_t who = 0; who < GMOD_PIN_COUNT; who++)
		sweeper[who] = begin_thread(sweep, (void *)who);
	in_threads(THREADS, churn);
	atomic_store(&stop, true);
	for (int who = 0; who < GMOD_PIN_COUNT; who++)
		end_thread(sweeper[who]);
	end_thread(looker);
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
	assert_int_equal(positions(), before);
	check_no_record_is_lost();
}

/* ---- free records ---- */

enum { TAKEN_AT_ONCE = 3 };
static _Atomic uint8_t owners[4096];

/* A few records, taken and given back in another order all the time: whoever holds one holds it alone. */
static void *take_and_give_back(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;

	for (int i = 0, n = turns(SANITIZED ? 20000 : 200000); i < n; i++) {
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

TEST(a_free_record_is_taken_once)
{
	uint32_t before = positions();

	errors = 0;
	in_threads(THREADS, take_and_give_back);
	assert_int_equal(errors, 0);
	assert_int_equal(positions(), before);
	check_no_record_is_lost();
}

/* ---- banks ---- */

enum { HOARD = 3000 };
static struct gmod_record *hoards[THREADS][HOARD];

static void *hoard(void *arg)
{
	uintptr_t me = (uintptr_t)arg;

	for (int i = 0; i < HOARD; i++)
		hoards[me][i] = gmod_record_claim();
	return NULL;
}

TEST(many_threads_may_run_out_at_once)
{
	bool *seen = calloc((size_t)GMOD_BANK * GMOD_BANKS, sizeof(*seen));
	uint64_t before = positions() / GMOD_BANK, needed = (THREADS * HOARD + GMOD_BANK - 1) / GMOD_BANK;

	in_threads(THREADS, hoard);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < HOARD; k++) {
			uint32_t at = hoards[i][k]->position;

			CHECK(at < gmod_registry_used() && !seen[at], "thread %d, record %d: position %u", i, k, at);
			CHECK(gmod_record_at(at) == hoards[i][k], "position %u", at);
			seen[at] = true;
		}
	/* At worst each thread adds a chunk of its own at the same moment. */
	assert_true(positions() / GMOD_BANK <= before + needed + THREADS);
	for (int i = 0; i < THREADS; i++)
		for (int k = 0; k < HOARD; k++)
			gmod_record_abandon(hoards[i][k]);
	free(seen);
	check_no_record_is_lost();
}

/* Three, so that a sweep goes from one to the next. */
FIXTURE(make_banks)
{
	for (int i = 0; i < 3; i++)
		check_no_record_is_lost();
	return 0;
}

static CMFixtureFunction group_setup = make_banks;
