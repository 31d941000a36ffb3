/* What is guarded over time, and where it was allocated at its peak: the event `memory`. */
#include "monitor/watch/memory.h"
#include "tests/unit/buffer.h"

/* Samples so many ms apart, each of as many bytes as its number. */
static void add_samples(struct gmod_memory_curve *c, unsigned from, unsigned to, uint64_t ms)
{
	for (unsigned i = from; i < to; i++) {
		struct gmod_memory_sample s = {GMOD_MILLISECONDS(1000 + i * ms), i, 2 * (uint64_t)i};

		gmod_memory_curve_add(c, &s, false);
	}
}

TEST(samples_keep_their_distance)
{
	static struct gmod_memory_curve c;

	add_samples(&c, 0, 100, 1);
	assert_int_equal(c.count, 10);
	assert_int_equal(c.sample[9].bytes, 90);
	assert_int_equal(c.sample[9].buffers, 180);
}

TEST(a_full_curve_keeps_every_second_one)
{
	static struct gmod_memory_curve c;

	add_samples(&c, 0, GMOD_MEMORY_SAMPLES, 10);
	assert_int_equal(c.count, GMOD_MEMORY_SAMPLES);
	add_samples(&c, GMOD_MEMORY_SAMPLES, GMOD_MEMORY_SAMPLES + 4, 10);
	assert_int_equal(c.count, GMOD_MEMORY_SAMPLES / 2 + 2);
	for (unsigned i = 0; i < c.count; i++)
		assert_int_equal(c.sample[i].bytes, 2 * i);
	/* Hours: never more than there is room for, and the first stays. */
	add_samples(&c, 300, 1000000, 10);
	assert_in_range(c.count, GMOD_MEMORY_SAMPLES / 2, GMOD_MEMORY_SAMPLES);
	assert_int_equal(c.sample[0].bytes, 0);
}

TEST(the_last_sample_is_taken_whenever_it_comes)
{
	static struct gmod_memory_curve c;
	struct gmod_memory_sample s = {GMOD_SECONDS(1), 1, 1};

	gmod_memory_curve_add(&c, &s, false);
	s.ns++;
	gmod_memory_curve_add(&c, &s, true);
	assert_int_equal(c.count, 2);
}

static struct buffer buffer_at(size_t size, uintptr_t caller)
{
	struct buffer b = new_buffer(size, GMOD_MEM_DEVICE);

	gmod_record_details(b.record)->stack = (struct gmod_stack){.depth = 1, .pc = {caller}};
	return b;
}

static void require_in_log(const char *words)
{
	static char text[1 << 16];
	FILE *f = fopen(log_file, "re");
	size_t n;

	assert_non_null(f);
	n = fread(text, 1, sizeof(text) - 1, f);
	text[n] = '\0';
	fclose(f);
	if (!strstr(text, words))
		fail_msg("no %s in %s", words, text);
}

TEST(the_peak_is_told_by_site)
{
	struct buffer b[40];

	for (unsigned i = 0; i < SIZE_OF(b); i++)
		b[i] = buffer_at(i < 3 ? 100000 : 1000 + i, i < 3 ? 0x777 : 0x1000 + i);
	gmod_memory_tick();
	for (unsigned i = 0; i < SIZE_OF(b); i++) {
		assert_true(release_buffer(&b[i]));
		drop_buffer(&b[i]);
	}
	b[0] = buffer_at(5000, 0x888);
	gmod_memory_tick();
	gmod_memory_say();
	gmod_memory_say();
	/* 37 of 1003 bytes and more, of which 31 are said. */
	require_in_log("\"bytes\":337777,\"buffers\":40,\"sites\":[{\"bytes\":300000,\"buffers\":3,\"site\":\"-\"");
	require_in_log("\"frames\":[{\"module\":null,\"path\":null,\"build_id\":null,\"offset\":\"0x776\"");
	require_in_log("{\"bytes\":1039,\"buffers\":1,");
	require_in_log("],\"elsewhere_bytes\":6033}}\n");
	require_in_log("\"bytes\":5000,\"buffers\":1}],\"peak\":");
}

FIXTURE(start_watching)
{
	return start_gmod(":verbosity=1");
}

static CMFixtureFunction group_setup = start_watching, group_teardown = end_gmod;
