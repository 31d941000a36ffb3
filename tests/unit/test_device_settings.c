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

static enum gmod_status change(uint64_t heap_bytes, unsigned guards)
{
	struct gmod_device_config c = {sizeof(c), heap_bytes, guards};

	return gmod_settings_change(&c);
}

static void check_settings(uint64_t heap_bytes, unsigned guards)
{
	NEED(gmod_settings_heap_bytes(8 * MIB) == heap_bytes);
	NEED(gmod_settings_guards() == guards);
}

/* What is changed is so for the rest of a process: each test has one of its own. */
TEST_IN_CHILD(the_options_count_at_first)
{
	check_settings(256 * MIB, 32);
	options()->device_heap_mb = 100;
	options()->device_guards = 7;
	check_settings(100 * MIB, 7);
}

TEST_IN_CHILD(what_the_program_says_counts_more)
{
	options()->device_heap_mb = 100;
	options()->device_guards = 7;
	NEED(change(3 * MIB, 5) == GMOD_OK);
	check_settings(3 * MIB, 5);
}

TEST_IN_CHILD(zero_leaves_a_setting_as_it_is)
{
	NEED(change(3 * MIB, 5) == GMOD_OK);
	NEED(change(0, 0) == GMOD_OK);
	NEED(change(4 * MIB, 0) == GMOD_OK);
	check_settings(4 * MIB, 5);
}

/* Of a program that was built with another header: what it has no member for is left as it is. */
TEST_IN_CHILD(a_config_counts_as_far_as_its_header_goes)
{
	struct {
		struct gmod_device_config config;
		unsigned char more[64];
	} s;

	memset(&s, 0xa5, sizeof(s));
	s.config.struct_size = offsetof(struct gmod_device_config, guards);
	s.config.heap_bytes = 3 * MIB;
	NEED(gmod_device_configure(&s.config) == GMOD_OK);
	check_settings(3 * MIB, 32);
	s.config = (struct gmod_device_config){sizeof(s), 4 * MIB, 5};
	NEED(gmod_device_configure(&s.config) == GMOD_OK);
	check_settings(4 * MIB, 5);
}

TEST_IN_CHILD(the_ranges_include_their_ends)
{
	NEED(change(MIB, 1) == GMOD_OK);
	check_settings(MIB, 1);
	NEED(change(GMOD_DEVICE_HEAP_MAX, GMOD_GUARDS_MAX) == GMOD_OK);
	check_settings(GMOD_DEVICE_HEAP_MAX, GMOD_GUARDS_MAX);
}

/* One bad member is enough for the good ones beside it not to count. */
TEST_IN_CHILD(nothing_changes_beyond_the_ranges)
{
	NEED(change(MIB - 1, 5) == GMOD_INVALID);
	NEED(change(1, 5) == GMOD_INVALID);
	NEED(change(GMOD_DEVICE_HEAP_MAX + 1, 5) == GMOD_INVALID);
	NEED(change(UINT64_MAX, 5) == GMOD_INVALID);
	NEED(change(3 * MIB, GMOD_GUARDS_MAX + 1) == GMOD_INVALID);
	NEED(change(3 * MIB, UINT32_MAX) == GMOD_INVALID);
	check_settings(256 * MIB, 32);
}

TEST_IN_CHILD(nothing_changes_once_there_is_a_heap)
{
	NEED(change(3 * MIB, 5) == GMOD_OK);
	gmod_settings_are_used();
	NEED(change(4 * MIB, 0) == GMOD_TOO_LATE);
	NEED(change(0, 6) == GMOD_TOO_LATE);
	NEED(change(3 * MIB, 5) == GMOD_TOO_LATE);
	NEED(change(0, 0) == GMOD_OK);
	NEED(change(1, 0) == GMOD_INVALID);
	check_settings(3 * MIB, 5);
}

/* Twice CUDA's limit, where that is more than the option; but not than what the program has said of this heap. */
TEST_IN_CHILD(the_limit_of_cudas_heap_counts)
{
	NEED(gmod_settings_heap_bytes(128 * MIB) == 256 * MIB);
	NEED(gmod_settings_heap_bytes(128 * MIB + 1) == 256 * MIB + 2);
	NEED(gmod_settings_heap_bytes(SIZE_MAX) == GMOD_DEVICE_HEAP_MAX);
	NEED(change(3 * MIB, 0) == GMOD_OK);
	NEED(gmod_settings_heap_bytes(4096 * MIB) == 3 * MIB);
}

FIXTURE(fill_options)
{
	gmod_options_defaults(options());
	return 0;
}

static CMFixtureFunction group_setup = fill_options;
