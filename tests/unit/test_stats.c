/* gmod_get_stats() in a process that is watched: each member is what it says. */
#include "include/gmod.h"

#include "lib/base/counters.h"
#include "monitor/report/report.h"
#include "tests/unit/buffer.h"

static struct gmod_stats stats(void)
{
	struct gmod_stats s = {.struct_size = sizeof(s)};

	gmod_get_stats(&s);
	return s;
}

TEST(every_counter_has_its_member)
{
	struct gmod_stats before = stats(), now;
	struct gmod_counters *c = &gmod_counters;

	gmod_count(&c->guarded, 1001);
	gmod_count(&c->guarded_bytes, 1002);
	gmod_count(&c->fallback, 1003);
	gmod_count(&c->fallback_bytes, 1004);
	gmod_count(&c->unsupported, 1005);
	gmod_count(&c->unsupported_bytes, 1006);
	gmod_count(&c->degraded, 1007);
	gmod_count(&c->hooks_armed, 1008);
	gmod_count(&c->sweeps, 100000);
	now = stats();
	assert_int_equal(now.buffers_guarded - before.buffers_guarded, 1001);
	assert_int_equal(now.bytes_guarded - before.bytes_guarded, 1002);
	assert_int_equal(now.buffers_unguarded - before.buffers_unguarded, 1003);
	assert_int_equal(now.bytes_unguarded - before.bytes_unguarded, 1004);
	assert_int_equal(now.allocations_uncovered - before.allocations_uncovered, 1005);
	assert_int_equal(now.bytes_uncovered - before.bytes_uncovered, 1006);
	assert_int_equal(now.degraded - before.degraded, 1007);
	assert_int_equal(now.hooks_armed - before.hooks_armed, 1008);
	/* The monitor sweeps meanwhile. */
	assert_in_range(now.sweeps - before.sweeps, 100000, 200000);
}

TEST(live_buffers_and_findings_are_counted_now)
{
	struct gmod_stats before = stats(), now;
	struct buffer b = new_buffer(5000, GMOD_MEM_DEVICE);
	struct report r[4];

	now = stats();
	assert_int_equal(now.live_buffers - before.live_buffers, 1);
	assert_int_equal(now.live_bytes - before.live_bytes, 5000);
	assert_int_equal(now.findings, before.findings);
	damage(b.place.zone_tail, 1);
	assert_int_equal(gmod_check(), GMOD_OK);
	gmod_damage_settle(true);
	gmod_report_await();
	now = stats();
	assert_int_equal(now.findings - before.findings, 1);
	assert_true(take_reports(r, 4) > 0);
	assert_true(release_buffer(&b));
	drop_buffer(&b);
	now = stats();
	assert_int_equal(now.live_buffers, before.live_buffers);
	assert_int_equal(now.live_bytes, before.live_bytes);
}

FIXTURE(start_watching)
{
	return start_gmod("");
}

static CMFixtureFunction group_setup = start_watching, group_teardown = end_gmod;
