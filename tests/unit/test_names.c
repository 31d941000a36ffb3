/* What kernels are called: at the time of the launch, for as long as there is memory, whoever learns at once. */
#include "monitor/launches/graphs.h"
#include "monitor/launches/names.h"

#include <sys/resource.h>

#include "monitor/launches/launch.h"
#include "tests/unit/support.h"

static uint64_t last_handle = 0x555500000000;

static bool is_known(uint64_t handle)
{
	return gmod_name_of(handle, GMOD_IN_CALL) != NULL;
}

static uint64_t new_handle(void)
{
	return last_handle += 0x30;
}

static void check_name(uint64_t handle, uint64_t ticks, const char *expected)
{
	const char *name = gmod_name_of(handle, ticks);

	CHECK(name && !strcmp(name, expected), "%#lx: %s, not %s", handle, name ? name : "nothing", expected);
}

static unsigned copy_kernels(uint64_t graph, uint64_t ticks, const char **names, unsigned max)
{
	unsigned count;
	const char *const *found = gmod_graph_kernels(graph, ticks, &count);

	for (unsigned i = 0; i < count && i < max; i++)
		names[i] = found[i];
	return count < max ? count : max;
}

/* A new handle, of a kernel of that name. */
static uint64_t kernel_of(const char *name, int number, uint64_t module)
{
	char full[32];

	snprintf(full, sizeof(full), "%s%d", name, number);
	gmod_name_learn(new_handle(), full, module);
	return last_handle;
}

static uint64_t kernel(const char *name, int number)
{
	return kernel_of(name, number, 0);
}

static void learn_without_memory(void)
{
	struct rlimit none = {0, RLIM_INFINITY}, before;

	NEED(!getrlimit(RLIMIT_AS, &before) && !setrlimit(RLIMIT_AS, &none));
	gmod_name_learn(0x1000, "early", 0);
	gmod_graph_learn(0x2000, (const uint64_t[]){0x1000}, 1);
	NEED(!is_known(0x1000) && !gmod_name_of(0x1000, GMOD_IN_CALL));
	NEED(!setrlimit(RLIMIT_AS, &before));
	gmod_name_learn(0x1000, "early", 0);
	check_name(0x1000, GMOD_IN_CALL, "early");
}

/* The first test: nothing is reserved yet. */
TEST(without_memory_nothing_is_learned)
{
#if SANITIZED
	skip(); /* they need address space themselves */
#endif
	in_child(learn_without_memory, 0);
}

TEST(a_handle_never_seen_has_no_name)
{
	assert_false(is_known(new_handle()));
	assert_null(gmod_name_of(last_handle, gmod_ticks()));
	assert_false(is_known(last_handle));
}

TEST(a_name_is_copied_and_kept)
{
	uint64_t handle = new_handle(), other = new_handle();
	char name[] = "_Z7vec_addPfi";

	gmod_name_learn(handle, name, 0);
	memset(name, 'x', sizeof(name) - 1);
	assert_true(is_known(handle));
	assert_true(is_known(handle));
	assert_false(is_known(other));
	check_name(handle, gmod_ticks(), "_Z7vec_addPfi");
	check_name(handle, GMOD_IN_CALL, "_Z7vec_addPfi");
	/* What it stood for before it was learned nobody knows. */
	assert_null(gmod_name_of(handle, 1));
	gmod_name_learn(other, "", 0);
	check_name(other, gmod_ticks(), "");
}

TEST(a_handle_used_again_has_the_name_of_its_time)
{
	uint64_t handle = new_handle(), first, second, third;

	gmod_name_learn(handle, "first", 0);
	first = gmod_ticks();
	gmod_name_learn(handle, "second", 0);
	second = gmod_ticks();
	gmod_name_learn(handle, "first", 0);
	third = gmod_ticks();
	check_name(handle, first, "first");
	check_name(handle, second, "second");
	check_name(handle, third, "first");
	assert_null(gmod_name_of(handle, first - 1000000000));
}

/* Where its kernel's name was: it may be used again for one that nobody told of. */
TEST(a_handle_has_no_name_when_its_module_is_gone)
{
	uint64_t module = new_handle(), other = new_handle(), kernel = new_handle(), function = new_handle();
	uint64_t another = new_handle(), before, began;

	gmod_name_learn(kernel, "gone", module);
	gmod_name_learn_as(function, kernel);
	gmod_name_learn(another, "there", other);
	/* A graph that has it does not say of which module. */
	gmod_name_learn(function, "gone", 0);
	before = gmod_ticks();
	began = gmod_ticks();
	/* While the driver unloads it another is loaded that gets a handle of its. */
	gmod_name_learn(kernel, "new", other);
	gmod_names_end(module, began);
	assert_null(gmod_name_of(function, gmod_ticks()));
	assert_null(gmod_name_of(function, GMOD_IN_CALL));
	check_name(kernel, gmod_ticks(), "new");
	check_name(another, gmod_ticks(), "there");
	/* What was launched before still has it. */
	check_name(kernel, before, "gone");
	check_name(function, before, "gone");
	gmod_name_learn(function, "again", module);
	check_name(function, gmod_ticks(), "again");
	check_name(function, before, "gone");
}

TEST(a_name_passes_from_one_module_to_another)
{
	uint64_t first = new_handle(), second = new_handle(), handle = new_handle();

	gmod_name_learn(handle, "same", first);
	gmod_name_learn(handle, "same", second);
	gmod_names_end(first, gmod_ticks());
	check_name(handle, gmod_ticks(), "same");
	gmod_names_end(second, gmod_ticks());
	assert_false(is_known(handle));
}

TEST(learning_again_costs_nothing)
{
	uint64_t handle = new_handle();
	const char *before;

	gmod_name_learn(handle, "again", 0);
	before = gmod_name_of(handle, GMOD_IN_CALL);
	for (int i = 0; i < 100000; i++)
		gmod_name_learn(handle, "again", 0);
	assert_ptr_equal(gmod_name_of(handle, GMOD_IN_CALL), before);
}

TEST(long_names_are_cut)
{
	uint64_t handle = new_handle();
	static char name[10000];
	const char *found;

	memset(name, 'k', sizeof(name) - 1);
	gmod_name_learn(handle, name, 0);
	found = gmod_name_of(handle, GMOD_IN_CALL);
	assert_non_null(found);
	assert_int_equal(strlen(found), 4096);
	assert_memory_equal(found, name, 4096);
	/* The same again is the same. */
	gmod_name_learn(handle, name, 0);
	assert_ptr_equal(gmod_name_of(handle, GMOD_IN_CALL), found);
	name[4096] = 'x';
	gmod_name_learn(handle, name, 0);
	assert_ptr_equal(gmod_name_of(handle, GMOD_IN_CALL), found);
	name[4095] = 'x';
	gmod_name_learn(handle, name, 0);
	assert_ptr_not_equal(gmod_name_of(handle, GMOD_IN_CALL), found);
}

/* Modules load and unload for days, and their kernels get handles that none had before. */
TEST(modules_that_come_and_go_leave_nothing_behind)
{
	enum { KERNELS = 400, MODULES = SANITIZED ? 100 : 4000 };
	uint64_t old = kernel("stays_", 0), module, last = 0, graph;
	const char *names[4];

	for (int i = 0; i < MODULES; i++) {
		module = new_handle();
		for (int k = 0; k < KERNELS; k++)
			last = kernel_of("loaded_", k, module);
		graph = new_handle();
		gmod_graph_learn(graph, &last, 1);
		CHECK(copy_kernels(graph, GMOD_IN_CALL, names, 4) == 1, "module %d", i);
		gmod_graph_end(graph);
		gmod_names_end(module, gmod_ticks());
		NEED(!is_known(last) && copy_kernels(graph, GMOD_IN_CALL, names, 4) == 0);
	}
	check_name(old, gmod_ticks(), "stays_0");
	last = kernel("after_", 1);
	check_name(last, gmod_ticks(), "after_1");
}

TEST(many_handles_have_their_own_names)
{
	enum { MANY = 60000 };
	uint64_t first = last_handle + 0x30;
	char name[32];

	for (int i = 0; i < MANY; i++)
		kernel("kernel_", i);
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "kernel_%d", i);
		CHECK(is_known(first + (uint64_t)i * 0x30), "handle %d", i);
		check_name(first + (uint64_t)i * 0x30, GMOD_IN_CALL, name);
		CHECK(!is_known(first + (uint64_t)i * 0x30 + 8), "handle %d", i);
	}
}

/* Handles that share a place in the table, and are used again, keep their names apart at every time. */
TEST(names_of_a_time_are_the_handles_own)
{
	enum { MANY = 20000 };
	uint64_t first = last_handle + 0x30, between = 0;
	char name[32];

	last_handle += (uint64_t)MANY * 0x30;
	for (int turn = 0; turn < 2; turn++) {
		for (int i = 0; i < MANY; i++) {
			snprintf(name, sizeof(name), "turn_%d_%d", turn, i);
			gmod_name_learn(first + (uint64_t)i * 0x30, name, 0);
		}
		between = turn ? between : gmod_ticks();
	}
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "turn_0_%d", i);
		check_name(first + (uint64_t)i * 0x30, between, name);
		name[5] = '1';
		check_name(first + (uint64_t)i * 0x30, gmod_ticks(), name);
	}
}

/* ---- graphs ---- */

/* The names of a graph's latest kernels are these two; "" stands for one that is not known. */
static void check_kernels(uint64_t graph, const char *first, const char *second)
{
	const char *names[16];
	unsigned count = copy_kernels(graph, GMOD_IN_CALL, names, SIZE_OF(names));

	CHECK(count == 2, "%u", count);
	CHECK(!strcmp(names[0] ? names[0] : "", first), "%s, not %s", names[0], first);
	CHECK(!strcmp(names[1] ? names[1] : "", second), "%s, not %s", names[1], second);
}

TEST(a_graph_has_the_names_of_its_kernels)
{
	uint64_t a = new_handle(), b = new_handle(), unknown = new_handle(), graph = new_handle();
	const uint64_t functions[] = {a, b, a, a, b};
	const char *names[16];

	assert_int_equal(copy_kernels(graph, GMOD_IN_CALL, names, 16), 0);
	gmod_name_learn(a, "alpha", 0);
	gmod_name_learn(b, "beta", 0);
	gmod_graph_learn(graph, functions, 5);
	check_kernels(graph, "alpha", "beta");
	/* Its names are kept when the functions become others, and the handle may become another graph. */
	gmod_name_learn(a, "gamma", 0);
	assert_int_equal(copy_kernels(graph, GMOD_IN_CALL, names, 16), 2);
	assert_string_equal(names[0], "alpha");
	gmod_graph_learn(graph, (const uint64_t[]){unknown, a, unknown}, 3);
	check_kernels(graph, "", "gamma");
	gmod_graph_learn(graph, NULL, 0);
	assert_int_equal(copy_kernels(graph, GMOD_IN_CALL, names, 16), 0);
}

TEST(a_graphs_handle_used_again_has_the_kernels_of_its_time)
{
	uint64_t function[6], graph = new_handle(), ticks[6];
	const char *names[4];

	for (int i = 0; i < 6; i++) {
		function[i] = kernel("time_", i);
		gmod_graph_learn(graph, &function[i], 1);
		/* The same once more is no change. */
		gmod_graph_learn(graph, &function[i], 1);
		ticks[i] = gmod_ticks();
	}
	for (int i = 0; i < 6; i++) {
		unsigned count = copy_kernels(graph, ticks[i], names, 4);

		/* Of the latest four it is known, of others it may be. */
		assert_true(count == 1 || i < 2);
		if (count)
			assert_ptr_equal(names[0], gmod_name_of(function[i], GMOD_IN_CALL));
	}
}

TEST(an_updated_graph_keeps_what_it_had)
{
	uint64_t a = new_handle(), graph = new_handle(), late = new_handle(), made;
	const char *names[16];

	gmod_name_learn(a, "first", 0);
	gmod_graph_learn(graph, &a, 1);
	made = gmod_ticks();
	gmod_graph_updated(graph);
	check_kernels(graph, "", "first");
	gmod_graph_updated(graph);
	check_kernels(graph, "", "first");
	assert_int_equal(copy_kernels(graph, made, names, 16), 1);
	assert_string_equal(names[0], "first");
	/* One that was not seen made. */
	gmod_graph_updated(late);
	assert_int_equal(copy_kernels(late, GMOD_IN_CALL, names, 16), 1);
	assert_null(names[0]);
	/* Another graph of the same handle. */
	gmod_graph_learn(graph, &a, 1);
	assert_int_equal(copy_kernels(graph, GMOD_IN_CALL, names, 16), 1);
}

/* As in a program that gives its nodes new arguments before each launch. */
TEST(a_graph_updated_over_and_over_takes_no_room)
{
	enum { NODES = GMOD_GRAPH_NAMES + 8, UPDATES = SANITIZED ? 20000 : 1000000 };
	uint64_t functions[NODES], graph = new_handle(), late = new_handle(), first;
	const char *names[GMOD_GRAPH_NAMES], *now[GMOD_GRAPH_NAMES];

	for (int i = 0; i < NODES; i++)
		functions[i] = kernel("updated_", i);
	for (unsigned count = 4; count <= NODES; count += NODES - 4) {
		unsigned kept = count == 4 ? 5 : GMOD_GRAPH_NAMES - 1;

		gmod_graph_learn(graph, functions, count);
		gmod_graph_updated(graph);
		first = gmod_ticks();
		assert_int_equal(copy_kernels(graph, first, names, GMOD_GRAPH_NAMES), kept);
		for (int i = 0; i < UPDATES; i++)
			gmod_graph_updated(graph);
		assert_int_equal(copy_kernels(graph, first, now, GMOD_GRAPH_NAMES), kept);
		assert_memory_equal(names, now, kept * sizeof(names[0]));
	}
	gmod_name_learn(late, "after them", 0);
	assert_string_equal(gmod_name_of(late, gmod_ticks()), "after them");
}

/* Modules made at run time often call theirs the same. */
TEST(kernels_of_one_name_are_named_once)
{
	uint64_t functions[40], graph = new_handle();

	for (int i = 0; i < 40; i++) {
		functions[i] = new_handle();
		gmod_name_learn(functions[i], i < 39 ? "kernel" : "culprit", 0);
	}
	gmod_graph_learn(graph, functions, 40);
	check_kernels(graph, "kernel", "culprit");
}

/* A program may make a graph for each of its steps: names must not run out of room for that. */
TEST(a_graph_made_over_and_over_takes_no_room)
{
	uint64_t a = new_handle(), b = new_handle(), late = new_handle(), graph = new_handle();
	const char *names[4];

	gmod_name_learn(a, "again", 0);
	gmod_name_learn(b, "and again", 0);
	for (int i = 0; i < 1000000; i++)
		gmod_graph_learn(graph, (const uint64_t[]){a, b}, 1 + i % 2);
	assert_int_equal(copy_kernels(graph, GMOD_IN_CALL, names, 4), 2);
	gmod_name_learn(late, "late", 0);
	assert_string_equal(gmod_name_of(late, gmod_ticks()), "late");
}

TEST(a_graph_of_many_kernels_keeps_the_first)
{
	enum { LAST = GMOD_GRAPH_NAMES - 1 };
	uint64_t functions[LAST + 9], graph = new_handle();
	const char *names[LAST + 9];
	unsigned count;

	for (int i = 0; i < LAST + 9; i++)
		functions[i] = kernel("node_", i);
	gmod_graph_learn(graph, functions, LAST + 9);
	count = copy_kernels(graph, GMOD_IN_CALL, names, LAST + 9);
	assert_int_equal(count, LAST + 1);
	for (unsigned i = 0; i < LAST; i++)
		assert_ptr_equal(names[i], gmod_name_of(functions[i], GMOD_IN_CALL));
	/* One stands for the others. */
	assert_null(names[LAST]);
}

/* ---- threads ---- */

enum { THREADS = 8, SHARED = 500, ROUNDS = SANITIZED ? 20 : 100 };
static uint64_t shared_handles[SHARED], shared_graphs[SHARED];
static _Atomic uint64_t wrong;

/*
 * All learn the same handles, under names that tell which handle they belong to, and a graph of each; what is found
 * must be one of them, or nothing while another thread gives the handle another name.
 */
static void *learn_all(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;
	char name[64], prefix[32];

	for (int i = 0; i < ROUNDS * SHARED; i++) {
		unsigned k = (unsigned)random_below(&seed, SHARED);
		const char *found;

		snprintf(prefix, sizeof(prefix), "kernel<%u,", k);
		snprintf(name, sizeof(name), "%s%u>", prefix, (unsigned)(uintptr_t)arg % 4);
		if (i % 64 == 0)
			gmod_name_learn(shared_handles[k], name, 0);
		found = gmod_name_of(shared_handles[k], i % 2 ? gmod_ticks() : GMOD_IN_CALL);
		wrong += found && strncmp(found, prefix, strlen(prefix)) != 0;
		if (i % 32 == 0)
			gmod_graph_learn(shared_graphs[k], &shared_handles[k], 1);
		if (copy_kernels(shared_graphs[k], i % 2 ? gmod_ticks() : GMOD_IN_CALL, &found, 1))
			wrong += found && strncmp(found, prefix, strlen(prefix)) != 0;
	}
	return NULL;
}

TEST(threads_may_learn_at_once)
{
	for (int i = 0; i < SHARED; i++)
		shared_handles[i] = new_handle();
	for (int i = 0; i < SHARED; i++)
		shared_graphs[i] = new_handle();
	in_threads(THREADS, learn_all);
	assert_int_equal(wrong, 0);
}

/* ---- limits ---- */

static long resident_kib(void)
{
	struct rusage u;

	getrusage(RUSAGE_SELF, &u);
	return u.ru_maxrss;
}

/* Modules load and unload for days: other kernels of theirs get the same handles each time, in other graphs. */
TEST(handles_used_again_take_no_room)
{
	enum { HANDLES = 100, KERNELS = 77, DAYS = SANITIZED ? 500 : 40000 };
	uint64_t first = last_handle + 0x30, graph = new_handle(), late;
	char name[32];

	last_handle += (uint64_t)HANDLES * 0x30;
	for (int i = 0; i < HANDLES * DAYS; i++) {
		uint64_t handle = first + (uint64_t)(i % HANDLES) * 0x30;

		snprintf(name, sizeof(name), "days_%d", i % KERNELS);
		gmod_name_learn(handle, name, 0);
		if (i % 10 == 0)
			gmod_graph_learn(graph, &handle, 1);
	}
	late = kernel("after_", 0);
	check_name(late, gmod_ticks(), "after_0");
}

/* In a child: afterwards nothing new can be learned. */
TEST_IN_CHILD(memory_for_names_is_bounded)
{
	static char name[4096];
	uint64_t first = last_handle + 0x30, known = 0, old = new_handle(), graph = new_handle(), late, then;
	const char *names[4];
	long before;

	gmod_name_learn(old, "old", 0);
	gmod_graph_learn(graph, &old, 1);
	before = resident_kib();
	memset(name, 'n', sizeof(name) - 1);
	for (int i = 0; i < 40000; i++) {
		for (unsigned k = 0; k < 4; k++)
			name[k] = (char)(0x80 | i >> 7 * k);
		gmod_name_learn(new_handle(), name, 0);
	}
	for (uint64_t h = first; h <= last_handle; h += 0x30)
		known += is_known(h);
	/* 64 MiB of names, and then no more. */
	CHECK(known > 12000 && known < 17000, "%lu names are known", known);
	CHECK(SANITIZED || resident_kib() - before < 80 * 1024, "%ld KiB more", resident_kib() - before);
	check_name(old, GMOD_IN_CALL, "old");
	late = new_handle();
	gmod_name_learn(late, name, 0);
	NEED(!is_known(late) && !gmod_name_of(late, GMOD_IN_CALL));
	/* A handle that is used again for it has no name, and had its old one. */
	then = gmod_ticks();
	gmod_name_learn(old, name, 0);
	NEED(!is_known(old));
	check_name(old, then, "old");
	for (int i = 0; i < 1000000; i++)
		gmod_graph_learn(new_handle(), &old, 1);
	for (int i = 0; i < 1000; i++)
		kernel("", i);
	/* One that gets kernels for which there is no room has none that are known. */
	gmod_graph_learn(graph, (const uint64_t[]){graph + 0x30, graph + 0x60}, 2);
	NEED(copy_kernels(graph, GMOD_IN_CALL, names, 4) == 0);
	gmod_graph_learn(late, &old, 1);
	NEED(copy_kernels(late, GMOD_IN_CALL, names, 4) == 0);
}
