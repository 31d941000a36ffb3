/* The host API in a process that GMOD does not watch, and what its statuses are called. */
#include "include/gmod.h"

#include "tests/unit/support.h"

enum { LAST = GMOD_SKIPPED };

TEST(every_status_has_a_text_of_its_own)
{
	for (int i = 0; i <= LAST; i++) {
		const char *text = gmod_status_text((enum gmod_status)i);

		assert_non_null(text);
		CHECK(*text && !strchr(text, '\n'), "status %d", i);
		for (int other = 0; other < i; other++)
			CHECK(strcmp(text, gmod_status_text((enum gmod_status)other)) != 0, "%d and %d", other, i);
	}
}

TEST(what_is_no_status_has_one_text)
{
	static const int others[] = {LAST + 1, 1000, INT32_MAX, -1, INT32_MIN};
	const char *text = gmod_status_text((enum gmod_status)others[0]);

	for (size_t i = 0; i < SIZE_OF(others); i++)
		assert_string_equal(gmod_status_text((enum gmod_status)others[i]), text);
	for (int i = 0; i <= LAST; i++)
		assert_string_not_equal(gmod_status_text((enum gmod_status)i), text);
}

TEST(questions_are_answered_with_inactive)
{
	struct gmod_device_stats stats;

	assert_int_equal(gmod_check(), GMOD_INACTIVE);
	assert_int_equal(gmod_device_start(), GMOD_INACTIVE);
	assert_int_equal(gmod_device_stop(), GMOD_INACTIVE);
	assert_int_equal(gmod_device_check(), GMOD_INACTIVE);
	memset(&stats, 0xa5, sizeof(stats));
	stats.struct_size = sizeof(stats);
	assert_int_equal(gmod_device_get_stats(&stats), GMOD_INACTIVE);
	assert_int_equal(stats.struct_size, sizeof(stats));
	for (size_t i = sizeof(size_t); i < sizeof(stats); i++)
		CHECK(!((const char *)&stats)[i], "byte %zu", i);
	assert_int_equal(gmod_findings_seen(), 0);
}

/* Of a program whose header had fewer members. */
TEST(no_more_is_filled_than_there_is_room_for)
{
	size_t room = offsetof(struct gmod_stats, live_buffers);
	struct gmod_stats stats;

	memset(&stats, 0xa5, sizeof(stats));
	stats.struct_size = room;
	gmod_get_stats(&stats);
	assert_int_equal(stats.struct_size, room);
	assert_int_equal(stats.buffers_guarded, 0);
	for (size_t i = room; i < sizeof(stats); i++)
		CHECK(((const unsigned char *)&stats)[i] == 0xa5, "byte %zu", i);
}

TEST(nothing_to_fill_or_to_read_is_invalid)
{
	assert_int_equal(gmod_device_get_stats(NULL), GMOD_INVALID);
	assert_int_equal(gmod_device_configure(NULL), GMOD_INVALID);
}

/* Of a program whose header has more members. */
TEST(what_only_a_newer_program_knows_stays_as_it_is)
{
	struct {
		struct gmod_stats stats;
		unsigned char more[64];
	} s;

	memset(&s, 0xa5, sizeof(s));
	s.stats.struct_size = sizeof(s);
	gmod_get_stats(&s.stats);
	assert_int_equal(s.stats.struct_size, sizeof(s));
	assert_int_equal(s.stats.hooks_armed, 0);
	for (size_t i = 0; i < sizeof(s.more); i++)
		CHECK(s.more[i] == 0xa5, "byte %zu", i);
}
