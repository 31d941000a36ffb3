/* What is known of launches whose records are gone: of which kernels they were, how many, and which are complete. */
#include <string.h>

#include "lib/base/clock.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/kernels.h"
#include "monitor/launches/launch.h"
#include "monitor/launches/names.h"
#include "monitor/launches/proof.h"
#include "monitor/launches/suspects.h"
#include "tests/unit/support.h"

enum { CONTEXT = 0x1000, STREAM = 0x2000, OTHER_STREAM = 0x3000, CULPRIT = 0x4000, KERNELS = 0x10000 };

static void launch_on(uint64_t stream, uint64_t function)
{
	struct gmod_thread *t = gmod_thread_self();

	gmod_launch_end(t, gmod_launch_begin(t, CONTEXT, stream, function, false), true);
}

/* Others of so many kernels, until no record of what was before is left. */
static void launch_others(int launches, int kernels)
{
	for (int i = 0; i < launches; i++)
		launch_on(STREAM, KERNELS + (uint64_t)(i % kernels));
}

static void finish_all(void)
{
	gmod_prove_context(CONTEXT, gmod_ticks());
	gmod_proof_remember();
}

struct found {
	uint64_t count, first, latest;
	unsigned kernels;
	uint64_t function, no_place;
};

/* The thread's launches of that kernel that were not known to be complete at that time. */
static struct found find_of(const struct gmod_thread *t, uint64_t function, uint64_t at)
{
	struct found f = {.function = function};
	struct gmod_seen_launches seen;

	for (uint32_t i = 0; gmod_kernels_next(t, at, &i, &seen);) {
		f.kernels++;
		f.no_place += seen.has_no_place ? seen.count : 0;
		if (seen.function != f.function || seen.has_no_place)
			continue;
		f.count += seen.count;
		f.first = seen.first;
		f.latest = seen.latest;
	}
	return f;
}

static struct found find_at(uint64_t function, uint64_t at)
{
	return find_of(gmod_thread_self(), function, at);
}

TEST(a_kernel_behind_many_launches_is_known)
{
	uint64_t before, after;
	struct found f;

	finish_all();
	before = gmod_ticks();
	launch_on(STREAM, CULPRIT);
	after = gmod_ticks();
	launch_others(20000, 60);
	f = find_at(CULPRIT, before);
	assert_int_equal(f.count, 1);
	CHECK(f.first > before && f.latest < after && f.first == f.latest, "%llu", (unsigned long long)f.first);
	assert_int_equal(f.kernels, 61);
}

TEST(a_proof_between_the_store_and_the_look_displaces_nobody)
{
	uint64_t intact;

	finish_all();
	intact = gmod_ticks();
	launch_on(STREAM, CULPRIT);
	finish_all();
	launch_others(20000, 60);
	finish_all();
	assert_int_equal(find_at(CULPRIT, intact).count, 1);
	/* A buffer that was seen intact after that cannot be its. */
	assert_int_equal(find_at(CULPRIT, gmod_ticks()).count, 0);
}

TEST(each_look_asks_for_what_was_not_complete_by_then)
{
	uint64_t first, second;

	finish_all();
	first = gmod_ticks();
	launch_on(STREAM, CULPRIT + 1);
	finish_all();
	second = gmod_ticks();
	launch_on(STREAM, CULPRIT + 1);
	finish_all();
	launch_on(STREAM, CULPRIT + 1);
	assert_int_equal(find_at(CULPRIT + 1, first).count, 3);
	/* What was done earlier is counted with what was done later, where that is asked for. */
	assert_in_range(find_at(CULPRIT + 1, second).count, 2, 3);
	assert_int_equal(find_at(CULPRIT + 1, gmod_ticks()).count, 1);
	finish_all();
}

TEST(what_is_complete_is_given_up_also_by_a_kernel_that_never_rests)
{
	uint64_t intact;
	struct found f;

	finish_all();
	for (int i = 0; i < 1000; i++) {
		launch_on(STREAM, CULPRIT);
		gmod_prove_stream(STREAM, gmod_ticks());
		launch_on(STREAM, CULPRIT);
		gmod_proof_remember();
	}
	intact = gmod_ticks();
	launch_on(STREAM, CULPRIT);
	f = find_at(CULPRIT, intact);
	assert_in_range(f.count, 1, 4);
	finish_all();
}

TEST(streams_are_apart)
{
	uint64_t at;

	finish_all();
	launch_on(STREAM, CULPRIT);
	launch_on(OTHER_STREAM, CULPRIT);
	gmod_prove_stream(STREAM, gmod_ticks());
	gmod_proof_remember();
	at = gmod_ticks();
	assert_int_equal(find_at(CULPRIT, at).count, 1);
	finish_all();
	assert_int_equal(find_at(CULPRIT, gmod_ticks()).count, 0);
}

TEST(kernels_that_find_no_place_are_counted_and_places_come_back)
{
	struct gmod_suspect suspects[GMOD_SUSPECTS_MAX];
	struct gmod_finding finding = {.suspect = suspects, .suspect_room = GMOD_SUSPECTS_MAX};
	uint64_t start, forgotten;
	struct found f;

	finish_all();
	start = gmod_ticks();
	launch_others(3 * GMOD_KERNELS, 3 * GMOD_KERNELS);
	gmod_suspects_find(&finding, &(struct gmod_window){.intact = start}, NULL);
	assert_true(finding.launches_lost > GMOD_KERNELS);
	f = find_at(CULPRIT, start);
	assert_true(f.no_place > GMOD_KERNELS && f.kernels > GMOD_KERNELS / 2);
	finish_all();
	assert_int_equal(find_at(CULPRIT, gmod_ticks()).kernels, 0);
	/* Complete ones give way, and it is said until when some may be missing. */
	launch_on(STREAM, CULPRIT);
	f = find_at(CULPRIT, start);
	assert_int_equal(f.count, 1);
	forgotten = gmod_kernels_forgotten(gmod_thread_self(), start);
	assert_true(forgotten > start && forgotten < gmod_ticks());
	assert_int_equal(gmod_kernels_forgotten(gmod_thread_self(), gmod_ticks()), 0);
	finish_all();
}

/* ---- beside each other ---- */

static _Atomic uint64_t launched_at; /* the watched kernel's latest launch returned before */
static atomic_bool stop;
static struct gmod_thread *_Atomic launching;

static void *launch_on_and_on(void *unused)
{
	uint64_t seed = 1;

	atomic_store(&launching, gmod_thread_self());
	for (int i = 0; !atomic_load(&stop); i++) {
		launch_on(STREAM, KERNELS + random_below(&seed, 40));
		if (i % 50 == 0) {
			uint64_t before = gmod_ticks();

			launch_on(STREAM, CULPRIT);
			atomic_store(&launched_at, before);
		}
		if (i % 7000 == 0)
			gmod_prove_stream(STREAM, atomic_load(&launched_at));
	}
	return unused;
}

/* Whenever one looks: a launch that nothing proves is found. */
TEST(a_reader_beside_launches_misses_none)
{
	pthread_t launcher;
	unsigned long asked = 0, missed = 0;

	finish_all();
	atomic_store(&launched_at, 0);
	launcher = begin_thread(launch_on_and_on, NULL);
	for (int wanted = turns(200000); asked < (unsigned long)wanted;) {
		uint64_t before = atomic_load(&launched_at);

		if (!before)
			continue;
		if (asked % 64 == 0)
			gmod_proof_remember();
		missed += find_of(atomic_load(&launching), CULPRIT, before).latest < before;
		asked++;
	}
	atomic_store(&stop, true);
	end_thread(launcher);
	CHECK(missed == 0, "%lu of %lu", missed, asked);
	finish_all();
}

/* ---- marks ---- */

enum { MARKED = 0x5000 };

static union {
	struct gmod_signature s;
	char room[sizeof(struct gmod_signature) + sizeof(struct gmod_parameter)];
} of_one_pointer = {.s = {.count = 1, .bytes = 8}};

/* Of a function whose arguments are known. */
static void launch_with(uint64_t address)
{
	struct gmod_thread *t = gmod_thread_self();
	const struct gmod_signature_now now = {&of_one_pointer.s, atomic_load(&gmod_signature_changes)};

	of_one_pointer.s.at[0] = (struct gmod_parameter){0, 0, 8};
	gmod_arguments_note(t, MARKED, &now, (void *[]){&address}, NULL, 0);
	launch_on(STREAM, MARKED);
}

static bool has_mark(uint64_t at, uint64_t address)
{
	struct gmod_seen_launches seen;
	unsigned mark = gmod_mark_of(address);
	bool found = false;

	for (uint32_t i = 0; !found && gmod_kernels_next(gmod_thread_self(), at, &i, &seen);)
		found = seen.function == MARKED && !seen.has_no_place;
	assert_true(found);
	return seen.marks[mark / 64] >> mark % 64 & 1;
}

/* Addresses of other marks. */
static uint64_t address_with(unsigned mark)
{
	uint64_t address = 0x7f0000000000;

	while (gmod_mark_of(address) != mark)
		address += 256;
	return address;
}

TEST(arguments_leave_marks)
{
	uint64_t first, second, third;

	finish_all();
	first = gmod_ticks();
	launch_with(address_with(1));
	launch_with(address_with(70));
	assert_true(has_mark(first, address_with(1)) && has_mark(first, address_with(70)));
	assert_false(has_mark(first, address_with(2)) || has_mark(first, address_with(71)));
	/* What is complete is asked for by who looked before; who looks later is not told of it. */
	finish_all();
	second = gmod_ticks();
	launch_with(address_with(2));
	assert_true(has_mark(first, address_with(1)) && has_mark(first, address_with(2)));
	assert_true(has_mark(second, address_with(2)));
	assert_false(has_mark(second, address_with(1)));
	finish_all();
	third = gmod_ticks();
	launch_with(address_with(3));
	assert_true(has_mark(third, address_with(3)));
	assert_false(has_mark(third, address_with(1)) || has_mark(third, address_with(2)));
	assert_true(has_mark(first, address_with(70)) && has_mark(second, address_with(2)));
	finish_all();
}

/* Of many launches any argument may have been one of them. */
TEST(marks_of_many_launches_are_all_there)
{
	uint64_t first;

	finish_all();
	launch_with(address_with(9));
	finish_all();
	first = gmod_ticks();
	for (unsigned i = 0; i < GMOD_MARKED_LAUNCHES; i++)
		launch_with(address_with(i));
	assert_false(has_mark(first, address_with(100)));
	/* The first of them are older. */
	launch_with(address_with(0));
	launch_with(address_with(0));
	assert_true(has_mark(first, address_with(100)) && has_mark(first, address_with(9)));
	finish_all();
}

/* ---- as suspects ---- */

TEST(a_culprit_behind_sixty_kernels_is_named)
{
	struct gmod_suspect suspects[GMOD_SUSPECTS_MAX];
	struct gmod_finding f = {.suspect = suspects, .suspect_room = GMOD_SUSPECTS_MAX};
	uint64_t intact;
	char name[16];

	gmod_name_learn(CULPRIT, "culprit", 0);
	for (uint64_t i = 0; i < 60; i++) {
		snprintf(name, sizeof(name), "kernel_%u", (unsigned)i);
		gmod_name_learn(KERNELS + 0x1000 + i, name, 0);
	}
	finish_all();
	intact = gmod_ticks();
	launch_on(STREAM, CULPRIT);
	for (uint64_t i = 0; i < 20000; i++)
		launch_on(STREAM, KERNELS + 0x1000 + i % 60);
	gmod_suspects_find(&f, &(struct gmod_window){.intact = intact}, NULL);
	assert_int_equal(f.suspect_count, 61);
	assert_string_equal(f.suspect[0].name, "culprit");
	assert_int_equal(f.suspects_omitted, 0);
	/* Where there is no room for them, they are counted. */
	f.suspect_room = 8;
	gmod_suspects_find(&f, &(struct gmod_window){.intact = intact}, NULL);
	assert_int_equal(f.suspect_count + f.suspects_omitted, 61);
	finish_all();
}

TEST(the_culprit_is_a_suspect_when_its_record_is_gone)
{
	struct gmod_suspect suspects[GMOD_SUSPECTS_MAX];
	struct gmod_finding f = {.suspect = suspects, .suspect_room = GMOD_SUSPECTS_MAX};
	uint64_t intact;

	gmod_name_learn(CULPRIT, "culprit", 0);
	finish_all();
	intact = gmod_ticks();
	launch_on(STREAM, CULPRIT);
	launch_others(20000, 5);
	gmod_suspects_find(&f, &(struct gmod_window){.intact = intact}, NULL);
	/* The others have no name, and are one suspect. */
	assert_int_equal(f.suspect_count, 2);
	assert_string_equal(f.suspect[0].name, "culprit");
	assert_int_equal(f.suspect[0].launches, 1);
	assert_int_equal(f.suspect[0].unfinished, 1);
	assert_true(f.suspect[0].launched_ns > 0);
	assert_int_equal(f.suspect[1].launches, 20000);
	assert_int_equal(f.launches_lost, 0);
	assert_int_equal(f.unknown_before_ns, 0);
	finish_all();
	f.suspect_count = 0;
	gmod_suspects_find(&f, &(struct gmod_window){.intact = gmod_ticks()}, NULL);
	assert_int_equal(f.suspect_count, 0);
}
