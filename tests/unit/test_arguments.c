/* What launches had as arguments: what is kept of them, for how long, and which of them point at a buffer. */
#include <pthread.h>
#include <string.h>

#include "lib/base/deadline.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/graphs.h"
#include "monitor/launches/history.h"
#include "monitor/launches/launch.h"
#include "monitor/launches/names.h"
#include "monitor/launches/proof.h"
#include "monitor/launches/suspects.h"
#include "tests/unit/support.h"

enum { CONTEXT = 0x1000, STREAM = 0x2000, MODULE = 0x3000, FUNCTION = 0x4000, BASE = 0x70000000, SIZE = 1000 };

static const struct gmod_target target = {BASE, SIZE, BASE + SIZE};

union signature {
	struct gmod_signature s;
	char room[sizeof(struct gmod_signature) + 8 * sizeof(struct gmod_parameter)];
};

/* Of parameters of so many bytes, each aligned to what it is, up to 8. */
static void make_signature(union signature *made, int count, const uint16_t *size)
{
	unsigned end = 0;

	memset(made, 0, sizeof(*made));
	for (int i = 0; i < count; i++) {
		unsigned align = size[i] < 8 ? size[i] : 8;

		end = (end + align - 1) / align * align;
		if (size[i] >= 8)
			made->s.at[made->s.count++] = (struct gmod_parameter){(uint16_t)i, (uint16_t)end, size[i]};
		end += size[i];
	}
	made->s.bytes = (end + 7) / 8 * 8;
}

static void know(uint64_t function, int count, const uint16_t *size)
{
	union signature made;

	make_signature(&made, count, size);
	gmod_signature_expect(function, false, MODULE);
	gmod_signature_learn(function, &made.s);
}

/* Returns its number. */
static uint64_t launch_with(uint64_t function, void *const *params, const void *buffer, size_t size)
{
	struct gmod_thread *t = gmod_thread_self();
	uint64_t n = atomic_load(&t->launches);

	if (buffer || !gmod_arguments_take(t, function, params)) {
		struct gmod_signature_now now = {.changes = atomic_load(&gmod_signature_changes)};

		now.signature = gmod_signature_of(function);
		gmod_arguments_note(t, function, &now, params, buffer, size);
	}
	gmod_launch_end(t, gmod_launch_begin(t, CONTEXT, STREAM, function, false), true);
	return n;
}

static uint64_t launch(uint64_t function, void *const *params)
{
	return launch_with(function, params, NULL, 0);
}

#define PARAMS(...) ((void *[]){__VA_ARGS__})

static void check(uint64_t number, enum gmod_pointing pointing, uint32_t argument, uint32_t byte, uint64_t distance)
{
	struct gmod_pointer p = gmod_arguments_find(gmod_thread_self(), number, &target);

	CHECK(p.pointing == pointing && p.distance == distance, "%d, %llu bytes in front", (int)p.pointing,
	      (unsigned long long)p.distance);
	if (pointing <= GMOD_POINTS_NEAR)
		CHECK(p.argument == argument && p.byte == byte, "argument %u, byte %u", p.argument, p.byte);
}

/* Twice each: the first launch of a function finds its signature, the next ones have it at hand. */
static void check_word(uint64_t word, enum gmod_pointing pointing, uint64_t distance)
{
	static const uint16_t sizes[] = {4, 8, 1};
	uint32_t n = 7;
	char c = 1;

	know(FUNCTION, 3, sizes);
	for (int i = 0; i < 2; i++)
		check(launch(FUNCTION, PARAMS(&n, &word, &c)), pointing, 1, 0, distance);
}

TEST(where_an_argument_points_to)
{
	check_word(BASE, GMOD_POINTS_AT, SIZE);
	check_word(BASE + 8, GMOD_POINTS_AT, SIZE - 8);
	check_word(BASE + SIZE - 1, GMOD_POINTS_AT, 1);
	check_word(BASE + SIZE, GMOD_POINTS_NEAR, 0);
	check_word(BASE - 1, GMOD_POINTS_NEAR, SIZE + 1);
	check_word(BASE + SIZE - GMOD_NEAR, GMOD_POINTS_NEAR, GMOD_NEAR);
	check_word(BASE + SIZE - GMOD_NEAR - 1, GMOD_POINTS_AWAY, UINT64_MAX);
	check_word(BASE + SIZE + 1, GMOD_POINTS_AWAY, UINT64_MAX);
	check_word(0, GMOD_POINTS_AWAY, UINT64_MAX);
	check_word(UINT64_MAX, GMOD_POINTS_AWAY, UINT64_MAX);
}

/* An underflow: the buffer's own pointer lies behind what was changed. */
TEST(a_pointer_behind_what_was_changed_has_no_distance)
{
	static const uint16_t sizes[] = {8, 8};
	const struct gmod_target before = {BASE, SIZE, BASE - 4};
	uint64_t in = BASE, front = BASE - 100;
	struct gmod_pointer p;
	uint64_t n;

	know(FUNCTION, 2, sizes);
	n = launch(FUNCTION, PARAMS(&front, &in));
	p = gmod_arguments_find(gmod_thread_self(), n, &before);
	CHECK(p.pointing == GMOD_POINTS_AT && p.argument == 1 && p.distance == UINT64_MAX, "argument %u", p.argument);
	in = 0;
	n = launch(FUNCTION, PARAMS(&front, &in));
	p = gmod_arguments_find(gmod_thread_self(), n, &before);
	CHECK(p.pointing == GMOD_POINTS_NEAR && p.argument == 0 && p.distance == 96, "argument %u", p.argument);
}

TEST(of_several_pointers_the_best_one_counts)
{
	static const uint16_t sizes[] = {8, 8, 8};
	uint64_t far = BASE - 2000, into = BASE, close = BASE + 500;

	know(FUNCTION, 3, sizes);
	check(launch(FUNCTION, PARAMS(&far, &into, &close)), GMOD_POINTS_AT, 2, 0, SIZE - 500);
	close = BASE - 8;
	check(launch(FUNCTION, PARAMS(&far, &far, &close)), GMOD_POINTS_NEAR, 2, 0, SIZE + 8);
}

/* In a struct, also behind an odd offset; where an int and what is behind it look like one it is none. */
TEST(pointers_lie_in_structures)
{
	struct {
		uint64_t word[75];
	} in = {{0}};
	static const uint16_t sizes[] = {4, sizeof(in), 4, 4};
	uint32_t first = 1, low = (uint32_t)BASE, high = 0;
	uint64_t n;

	know(FUNCTION, 4, sizes);
	in.word[37] = BASE;
	n = launch(FUNCTION, PARAMS(&first, &in, &low, &high));
	check(n, GMOD_POINTS_AT, 1, 37 * 8, SIZE);
	in.word[37] = 0;
	check(launch(FUNCTION, PARAMS(&first, &in, &low, &high)), GMOD_POINTS_AWAY, 0, 0, UINT64_MAX);
	check(n, GMOD_POINTS_AT, 1, 37 * 8, SIZE);
}

TEST(what_is_cut_may_point_anywhere)
{
	static const uint16_t sizes[] = {8};
	union signature cut;
	uint64_t word = 0;

	make_signature(&cut, 1, sizes);
	cut.s.is_cut = true;
	gmod_signature_expect(FUNCTION, false, MODULE);
	gmod_signature_learn(FUNCTION, &cut.s);
	check(launch(FUNCTION, PARAMS(&word)), GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
	word = BASE;
	check(launch(FUNCTION, PARAMS(&word)), GMOD_POINTS_AT, 0, 0, SIZE);
}

TEST(arguments_in_one_buffer)
{
	static const uint16_t sizes[] = {4, 8, 2};
	uint64_t buffer[3] = {1, BASE, 2};

	know(FUNCTION, 3, sizes);
	check(launch_with(FUNCTION, NULL, buffer, 16), GMOD_POINTS_AT, 1, 0, SIZE);
	check(launch_with(FUNCTION, NULL, buffer, 24), GMOD_POINTS_AT, 1, 0, SIZE);
	check(launch_with(FUNCTION, NULL, buffer, 15), GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
	check(launch(FUNCTION, NULL), GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
	know(FUNCTION + 1, 0, NULL);
	check(launch(FUNCTION + 1, NULL), GMOD_POINTS_AWAY, 0, 0, UINT64_MAX);
}

/* A handle that nobody has been given, or that has gone: its array is not read. */
TEST(parameters_of_an_unknown_handle_are_not_read)
{
	static const uint16_t sizes[] = {8};
	uint64_t word = BASE;
	void *const unreadable = (void *)1;

	check(launch(0x9999, &unreadable), GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
	know(FUNCTION, 1, sizes);
	check(launch(FUNCTION, PARAMS(&word)), GMOD_POINTS_AT, 0, 0, SIZE);
	gmod_signatures_end(MODULE + 1, gmod_ticks());
	check(launch(FUNCTION, PARAMS(&word)), GMOD_POINTS_AT, 0, 0, SIZE);
	gmod_signatures_end(MODULE, gmod_ticks());
	check(launch(FUNCTION, &unreadable), GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
	know(FUNCTION, 1, sizes);
	check(launch(FUNCTION, PARAMS(&word)), GMOD_POINTS_AT, 0, 0, SIZE);
	gmod_signatures_end(GMOD_ANY_OWNER, gmod_ticks());
	check(launch(FUNCTION, &unreadable), GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
}

/* A handle that is used again for a kernel of other parameters. */
TEST(a_handle_has_its_latest_signature)
{
	static const uint16_t one[] = {8}, two[] = {4, 8};
	uint64_t word = BASE;
	uint32_t n = 0;

	know(FUNCTION, 1, one);
	check(launch(FUNCTION, PARAMS(&word)), GMOD_POINTS_AT, 0, 0, SIZE);
	gmod_signatures_end(MODULE, gmod_ticks());
	know(FUNCTION, 2, two);
	check(launch(FUNCTION, PARAMS(&n, &word)), GMOD_POINTS_AT, 1, 0, SIZE);
	gmod_signature_expect(FUNCTION, false, MODULE + 1);
	assert_int_equal(gmod_signature_of(FUNCTION)->count, GMOD_SIGNATURE_UNASKED);
	gmod_signature_learn(FUNCTION, NULL);
	assert_null(gmod_signature_of(FUNCTION));
}

TEST(a_function_goes_with_its_kernel)
{
	const uint64_t kernel = 0x5000, function = 0x5100, stranger = 0x5200;

	gmod_signature_expect(kernel, true, MODULE);
	gmod_signature_expect_as(function, kernel);
	gmod_signature_expect_as(stranger, 0x5300);
	assert_true(gmod_signature_of(kernel)->is_kernel);
	assert_false(gmod_signature_of(function)->is_kernel);
	assert_null(gmod_signature_of(stranger));
	gmod_signatures_end(MODULE, gmod_ticks());
	assert_null(gmod_signature_of(function));
}

/* As long as they have a record and room: whichever goes first. */
TEST(arguments_of_old_launches_are_not_known)
{
	static const uint16_t small[] = {8}, large[] = {4096};
	static uint64_t words[512];
	uint64_t word = BASE, n;

	know(FUNCTION, 1, small);
	know(FUNCTION + 1, 1, large);
	n = launch(FUNCTION, PARAMS(&word));
	for (int i = 0; i < GMOD_RING - 2; i++)
		launch(FUNCTION, PARAMS(&word));
	check(n, GMOD_POINTS_AT, 0, 0, SIZE);
	launch(FUNCTION, PARAMS(&word));
	check(n, GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
	words[511] = BASE;
	n = launch(FUNCTION + 1, PARAMS(words));
	for (int i = 0; i < GMOD_ARGUMENT_BYTES / 4096 - 2; i++)
		launch(FUNCTION + 1, PARAMS(words));
	check(n, GMOD_POINTS_AT, 0, 4088, SIZE);
	launch(FUNCTION + 1, PARAMS(words));
	launch(FUNCTION + 1, PARAMS(words));
	check(n, GMOD_POINTS_UNKNOWN, 0, 0, GMOD_NO_IDEA);
}

/* Wherever in the room they lie. */
TEST(arguments_of_the_latest_launch_are_known)
{
	static const uint16_t sizes[] = {656, 8};
	static uint64_t words[82];
	uint64_t word = BASE;

	know(FUNCTION, 2, sizes);
	for (int i = 0; i < 1000; i++)
		check(launch(FUNCTION, PARAMS(words, &word)), GMOD_POINTS_AT, 1, 0, SIZE);
}

/* ---- while it launches ---- */

static atomic_bool ends;

/* Launch n passes twice a pointer to a buffer of its own. */
static void *launch_on_and_on(void *arg)
{
	static const uint16_t sizes[] = {8, 640, 8};
	struct gmod_thread *t = gmod_thread_self();
	static uint64_t between[80];

	know(FUNCTION, 3, sizes);
	atomic_store_explicit((_Atomic(struct gmod_thread *) *)arg, t, memory_order_release);
	while (!atomic_load_explicit(&ends, memory_order_relaxed)) {
		uint64_t mine = BASE + atomic_load(&t->launches) * SIZE;

		launch(FUNCTION, PARAMS(&mine, between, &mine));
	}
	return NULL;
}

/* Whoever looks meanwhile finds the launch's own, or nothing. */
TEST(a_launch_is_never_taken_for_another)
{
	_Atomic(struct gmod_thread *) its = NULL;
	uint64_t deadline = gmod_monotonic_ns() + GMOD_SECONDS(1), found = 0, unknown = 0;
	struct gmod_thread *t;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, launch_on_and_on, (void *)&its), 0);
	while (!(t = atomic_load_explicit(&its, memory_order_acquire)))
		sched_yield();
	for (uint64_t i = 0; gmod_monotonic_ns() < deadline || (found < 100 && i < 100000000); i++) {
		uint64_t end = atomic_load_explicit(&t->launches, memory_order_acquire);
		uint64_t n = end > i % GMOD_RING ? end - 1 - i % GMOD_RING : 0;
		struct gmod_target mine = {BASE + n * SIZE, SIZE, BASE + n * SIZE};
		struct gmod_pointer p = end ? gmod_arguments_find(t, n, &mine) : (struct gmod_pointer){0};

		if (!end)
			continue;
		found += p.pointing == GMOD_POINTS_AT;
		unknown += p.pointing == GMOD_POINTS_UNKNOWN;
		if (p.pointing != GMOD_POINTS_AT && p.pointing != GMOD_POINTS_UNKNOWN)
			atomic_store(&ends, true);
		CHECK(p.pointing == GMOD_POINTS_AT || p.pointing == GMOD_POINTS_UNKNOWN, "launch %llu of %llu: %d",
		      (unsigned long long)n, (unsigned long long)end, (int)p.pointing);
	}
	atomic_store(&ends, true);
	pthread_join(thread, NULL);
	CHECK(found >= 100 && unknown > 0, "%llu found, %llu unknown", (unsigned long long)found,
	      (unsigned long long)unknown);
}

/* ---- graphs ---- */

static void check_graph(uint64_t graph, uint64_t ticks, const char *name, enum gmod_pointing pointing,
			uint32_t argument)
{
	struct gmod_pointer p = gmod_graph_find(gmod_graph_words_at(graph, ticks), name, &target);

	CHECK(p.pointing == pointing, "%d", (int)p.pointing);
	if (pointing <= GMOD_POINTS_NEAR)
		CHECK(p.argument == argument && p.byte == 16, "argument %u at %u", p.argument, p.byte);
}

/* As of the time of the launch: the handle is used again, and graphs are changed. */
TEST(a_graph_has_the_arguments_that_it_had_then)
{
	enum { GRAPH = 0x8000 };
	static const char one[] = "one", other[] = "other", third[] = "third";
	const struct gmod_graph_word words[] = {
	    {BASE - 4, one, 1, 16}, {BASE + 4, one, 2, 16}, {BASE - 8, other, 3, 16}, {0x1234567890, third, 4, 16}};
	uint64_t first, second, third_time;

	check_graph(GRAPH, GMOD_LATEST, one, GMOD_POINTS_UNKNOWN, 0);
	gmod_graph_words_learn(GRAPH, words, 4);
	first = gmod_ticks();
	check_graph(GRAPH, first, one, GMOD_POINTS_AT, 2);
	check_graph(GRAPH, first, other, GMOD_POINTS_NEAR, 3);
	check_graph(GRAPH, first, third, GMOD_POINTS_AWAY, 0);
	check_graph(GRAPH, first, "none", GMOD_POINTS_AWAY, 0);
	check_graph(GRAPH, first, NULL, GMOD_POINTS_UNKNOWN, 0);
	gmod_graph_updated(GRAPH);
	second = gmod_ticks();
	check_graph(GRAPH, second, one, GMOD_POINTS_UNKNOWN, 0);
	gmod_graph_words_learn(GRAPH, words, 1);
	third_time = gmod_ticks();
	check_graph(GRAPH, third_time, one, GMOD_POINTS_NEAR, 1);
	check_graph(GRAPH, first, one, GMOD_POINTS_AT, 2);
	check_graph(GRAPH, second, one, GMOD_POINTS_UNKNOWN, 0);
	gmod_graph_end(GRAPH);
	check_graph(GRAPH, gmod_ticks(), one, GMOD_POINTS_UNKNOWN, 0);
	check_graph(GRAPH, third_time, one, GMOD_POINTS_NEAR, 1);
}

TEST(words_that_may_be_addresses)
{
	assert_true(gmod_may_be_address(0x7f0000000000) && gmod_may_be_address(UINT64_C(1) << 32));
	assert_false(gmod_may_be_address(0xffffffff) || gmod_may_be_address(UINT64_C(1) << 48) ||
		     gmod_may_be_address(0x3ff0000000000000));
}

/* ---- suspects ---- */

TEST(suspects_are_sorted_by_what_their_arguments_say)
{
	static const uint16_t sizes[] = {8};
	static const uint64_t word[] = {BASE - 500, BASE + 8, BASE + 100, 0, 0x1234, BASE - 100};
	static const unsigned order[] = {2, 1, 5, 0, 3, 4};
	static struct gmod_suspect room[GMOD_SUSPECTS_MAX];
	struct gmod_finding f = {.class = GMOD_HEAP_BUFFER_OVERFLOW,
				 .buffer = {.base = BASE, .size = SIZE},
				 .offset = 0,
				 .suspect = room,
				 .suspect_room = GMOD_SUSPECTS_MAX};
	uint64_t before;

	gmod_prove_context(CONTEXT, gmod_ticks());
	gmod_proof_remember();
	before = gmod_ticks();
	for (unsigned i = 0; i < 6; i++) {
		char name[16];

		snprintf(name, sizeof(name), "kernel %u", i);
		gmod_name_learn(FUNCTION + 16 * i, name, MODULE);
		if (i != 3)
			know(FUNCTION + 16 * i, 1, sizes);
		launch(FUNCTION + 16 * i, PARAMS((void *)&word[i]));
	}
	gmod_suspects_find(&f, &(struct gmod_window){.intact = before}, NULL);
	assert_int_equal(f.suspect_count, 6);
	for (unsigned i = 0; i < 6; i++)
		CHECK(f.suspect[i].name[7] == '0' + (char)order[i], "place %u: %s", i, f.suspect[i].name);
	assert_int_equal(f.suspect[0].pointer.distance, SIZE - 100);
	assert_int_equal(f.suspect[2].pointer.distance, SIZE + 100);
	/* A kernel counts by the launch that says most, behind one of fewer launches. */
	launch(FUNCTION + 16 * 4, PARAMS((void *)&word[2]));
	gmod_suspects_find(&f, &(struct gmod_window){.intact = before}, NULL);
	assert_string_equal(f.suspect[1].name, "kernel 4");
	assert_int_equal(f.suspect[1].launches, 2);
	launch(FUNCTION + 16 * 4, PARAMS((void *)&word[4]));
	gmod_suspects_find(&f, &(struct gmod_window){.intact = before}, NULL);
	assert_string_equal(f.suspect[1].name, "kernel 4");
	assert_int_equal(f.suspect[1].launches, 3);
	assert_int_equal(f.suspect[1].pointer.pointing, GMOD_POINTS_AT);
	/* Nor do they tell anything of what mallocN has given to a kernel. */
	f.buffer.memory = GMOD_MEM_KERNEL;
	gmod_suspects_find(&f, &(struct gmod_window){.intact = before}, NULL);
	for (unsigned i = 0; i < f.suspect_count; i++)
		assert_int_equal(f.suspect[i].pointer.pointing, GMOD_POINTS_UNKNOWN);
	gmod_prove_context(CONTEXT, gmod_ticks());
}

/* A graph that is changed between two of its launches: each launch has what the graph had then. */
TEST(launches_of_a_graph_have_the_words_of_their_time)
{
	enum { GRAPH = 0x9000, KERNEL = 0x9100 };
	static struct gmod_suspect room[GMOD_SUSPECTS_MAX];
	struct gmod_finding f = {.class = GMOD_HEAP_BUFFER_OVERFLOW,
				 .buffer = {.base = BASE, .size = SIZE},
				 .suspect = room,
				 .suspect_room = GMOD_SUSPECTS_MAX};
	struct gmod_thread *t = gmod_thread_self();
	const uint64_t word[] = {0x1234567890, BASE, 0x1234567890};
	uint64_t before;

	gmod_prove_context(CONTEXT, gmod_ticks());
	gmod_proof_remember();
	before = gmod_ticks();
	gmod_name_learn(KERNEL, "in a graph", MODULE);
	gmod_graph_learn(GRAPH, (const uint64_t[]){KERNEL}, 1);
	for (unsigned i = 0; i < 3; i++) {
		const struct gmod_graph_word w = {word[i], gmod_name_of(KERNEL, GMOD_LATEST), i, 0};

		gmod_graph_words_learn(GRAPH, &w, 1);
		for (unsigned k = 0; k < 2; k++)
			gmod_launch_end(t, gmod_launch_begin(t, CONTEXT, STREAM, GRAPH, true), true);
	}
	gmod_suspects_find(&f, &(struct gmod_window){.intact = before}, NULL);
	assert_int_equal(f.suspect_count, 1);
	assert_int_equal(f.suspect[0].launches, 6);
	CHECK(f.suspect[0].pointer.pointing == GMOD_POINTS_AT && f.suspect[0].pointer.argument == 1, "argument %u",
	      f.suspect[0].pointer.argument);
	gmod_prove_context(CONTEXT, gmod_ticks());
}
