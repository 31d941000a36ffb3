/* What device heaps are made with: the options, what the program has changed of them, and what it may not. */
#include "device/settings.h"

#include "lib/base/options.h"
#include "lib/base/facts.h"
#include "tests/unit/support.h"

#define MIB ((size_t)1 << 20)

/* The process's own, which its start fills. */
static struct gmod_options *options(void)
{
	return (struct gmod_options *)(uintptr_t)gmod_options();
}

static enum gmod_status change(uint64_t heap_bytes, unsigned guards, int mode)
{
	struct gmod_device_config c = {sizeof(c), heap_bytes, guards, (enum gmod_guard_mode)mode};

	return gmod_settings_change(&c);
}

/* What is changed is so for the rest of a process: each test has one of its own. */
static int by_the_options(void)
{
	NEED(gmod_settings_heap_mode() == GMOD_HEAP_SLAB);
	NEED(gmod_settings_heap_bytes() == 1024 * MIB);
	NEED(gmod_settings_guards() == 32);
	NEED(!gmod_settings_guard_is_resident());
	options()->device_heap_mb = 100;
	options()->device_guards = 7;
	options()->device_guard = GMOD_OPTION_GUARD_PERSISTENT;
	NEED(gmod_settings_heap_bytes() == 100 * MIB);
	NEED(gmod_settings_guards() == 7);
	NEED(gmod_settings_guard_is_resident());
	return 0;
}

static int by_the_program(void)
{
	NEED(change(3 * MIB, 5, GMOD_GUARD_PERSISTENT) == GMOD_OK);
	NEED(gmod_settings_heap_bytes() == 3 * MIB);
	NEED(gmod_settings_guards() == 5);
	NEED(gmod_settings_guard_is_resident());
	options()->device_guard = GMOD_OPTION_GUARD_PERSISTENT;
	NEED(change(0, 0, GMOD_GUARD_PERIODIC) == GMOD_OK);
	NEED(!gmod_settings_guard_is_resident());
	return 0;
}

static int zero_changes_nothing(void)
{
	NEED(change(3 * MIB, 5, GMOD_GUARD_PERSISTENT) == GMOD_OK);
	NEED(change(0, 0, 0) == GMOD_OK);
	NEED(change(4 * MIB, 0, 0) == GMOD_OK);
	NEED(gmod_settings_heap_bytes() == 4 * MIB);
	NEED(gmod_settings_guards() == 5);
	NEED(gmod_settings_guard_is_resident());
	return 0;
}

static int the_ends_of_the_ranges(void)
{
	NEED(change(MIB, 1, GMOD_GUARD_PERIODIC) == GMOD_OK);
	NEED(gmod_settings_heap_bytes() == MIB && gmod_settings_guards() == 1);
	NEED(change(GMOD_DEVICE_HEAP_MAX, GMOD_ARRAYS_MAX, GMOD_GUARD_PERSISTENT) == GMOD_OK);
	NEED(gmod_settings_heap_bytes() == GMOD_DEVICE_HEAP_MAX && gmod_settings_guards() == GMOD_ARRAYS_MAX);
	return 0;
}

/* One bad member is enough for the good ones beside it not to count. */
static int beyond_the_ranges(void)
{
	NEED(change(MIB - 1, 5, GMOD_GUARD_PERSISTENT) == GMOD_INVALID);
	NEED(change(1, 5, GMOD_GUARD_PERSISTENT) == GMOD_INVALID);
	NEED(change(GMOD_DEVICE_HEAP_MAX + 1, 5, GMOD_GUARD_PERSISTENT) == GMOD_INVALID);
	NEED(change(UINT64_MAX, 5, GMOD_GUARD_PERSISTENT) == GMOD_INVALID);
	NEED(change(3 * MIB, GMOD_ARRAYS_MAX + 1, GMOD_GUARD_PERSISTENT) == GMOD_INVALID);
	NEED(change(3 * MIB, UINT32_MAX, GMOD_GUARD_PERSISTENT) == GMOD_INVALID);
	NEED(change(3 * MIB, 5, GMOD_GUARD_PERSISTENT + 1) == GMOD_INVALID);
	NEED(change(3 * MIB, 5, -1) == GMOD_INVALID);
	NEED(gmod_settings_heap_bytes() == 1024 * MIB);
	NEED(gmod_settings_guards() == 32);
	NEED(!gmod_settings_guard_is_resident());
	return 0;
}

static int once_there_is_a_heap(void)
{
	NEED(change(3 * MIB, 5, GMOD_GUARD_PERIODIC) == GMOD_OK);
	gmod_settings_are_used();
	NEED(change(4 * MIB, 0, 0) == GMOD_TOO_LATE);
	NEED(change(0, 6, 0) == GMOD_TOO_LATE);
	NEED(change(3 * MIB, 5, GMOD_GUARD_PERSISTENT) == GMOD_TOO_LATE);
	NEED(change(1, 0, 0) == GMOD_INVALID);
	NEED(gmod_settings_heap_bytes() == 3 * MIB && gmod_settings_guards() == 5);
	NEED(!gmod_settings_guard_is_resident());
	NEED(change(0, 0, GMOD_GUARD_PERSISTENT) == GMOD_OK);
	NEED(gmod_settings_guard_is_resident());
	return 0;
}

static int on_the_native_heap(void)
{
	options()->device_heap = GMOD_OPTION_HEAP_NATIVE;
	NEED(gmod_settings_heap_mode() == GMOD_HEAP_NATIVE);
	NEED(gmod_settings_heap_bytes() == 256 * MIB);
	NEED(change(8 * MIB, 0, 0) == GMOD_OK);
	NEED(gmod_settings_heap_bytes() == 2 * MIB);
	return 0;
}

TEST(the_options_count_at_first)
{
	in_child(by_the_options, 0);
}

TEST(what_the_program_says_counts_more)
{
	in_child(by_the_program, 0);
}

TEST(zero_leaves_a_setting_as_it_is)
{
	in_child(zero_changes_nothing, 0);
}

TEST(the_ranges_include_their_ends)
{
	in_child(the_ends_of_the_ranges, 0);
}

TEST(nothing_changes_beyond_the_ranges)
{
	in_child(beyond_the_ranges, 0);
}

TEST(only_the_mode_changes_once_there_is_a_heap)
{
	in_child(once_there_is_a_heap, 0);
}

TEST(the_native_heap_needs_a_quarter)
{
	in_child(on_the_native_heap, 0);
}

FIXTURE(fill_options)
{
	gmod_options_defaults(options());
	return 0;
}

int main(void)
{
	return run_listed_tests(fill_options, NULL);
}
