/* The host API in a process that GMOD does not watch, and what its statuses are called. */
#include "include/gmod.h"

#include "tests/unit/support.h"

enum { LAST = GMOD_FAILED };

static void every_status_has_a_text_of_its_own(void **unused)
{
	(void)unused;
	for (int i = 0; i <= LAST; i++) {
		const char *text = gmod_status_text((enum gmod_status)i);

		assert_non_null(text);
		CHECK(*text && !strchr(text, '\n'), "status %d", i);
		for (int other = 0; other < i; other++)
			CHECK(strcmp(text, gmod_status_text((enum gmod_status)other)) != 0, "%d and %d", other, i);
	}
}

static void what_is_no_status_has_one_text(void **unused)
{
	static const int others[] = {LAST + 1, 1000, INT32_MAX, -1, INT32_MIN};
	const char *text = gmod_status_text((enum gmod_status)others[0]);

	(void)unused;
	for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
		assert_string_equal(gmod_status_text((enum gmod_status)others[i]), text);
	for (int i = 0; i <= LAST; i++)
		assert_string_not_equal(gmod_status_text((enum gmod_status)i), text);
}

static void questions_are_answered_with_inactive(void **unused)
{
	struct gmod_device_stats stats;

	(void)unused;
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

static void nothing_to_fill_or_to_read_is_invalid(void **unused)
{
	(void)unused;
	assert_int_equal(gmod_device_get_stats(NULL), GMOD_INVALID);
	assert_int_equal(gmod_device_configure(NULL), GMOD_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(every_status_has_a_text_of_its_own),
	    cmocka_unit_test(what_is_no_status_has_one_text),
	    cmocka_unit_test(questions_are_answered_with_inactive),
	    cmocka_unit_test(nothing_to_fill_or_to_read_is_invalid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
