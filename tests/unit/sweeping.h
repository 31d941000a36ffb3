/*
 * What the tests of sweeps share: buffers of each kind, sweeps and frees as the library makes them, and a last look
 * for secrets at what a program has logged. For test programs of one file.
 */
#pragma once

#include "lib/base/facts.h"
#include "monitor/watch/sweep.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/verify.h"
#include "tests/unit/buffer.h"

static struct report many[4096] __attribute__((unused));

static inline void sweep(void)
{
	if (!gmod_sweep_lock(1000000000))
		abort();
	gmod_sweep();
	gmod_sweep_unlock();
	gmod_damage_settle(false);
}

static inline void sweep_thoroughly(void)
{
	if (!gmod_sweep_lock(1000000000))
		abort();
	gmod_sweep_thorough(GMOD_PIN_SWEEP);
	gmod_sweep_unlock();
	gmod_damage_settle(false);
}

/* So that a test sees who looks at it. */
static inline void set_page(uint64_t at, int access)
{
	size_t page = gmod_page_size();

	mprotect((void *)(uintptr_t)(at - at % page), page, access);
}

/* As lib/buffers/buffer.c frees. */
static inline void free_buffer(struct buffer *b, enum gmod_verify what)
{
	struct gmod_moment swept = gmod_sweep_latest();

	CHECK(release_buffer(b), "%#lx", b->place.user);
	gmod_verify_released(b->record, what, NULL, swept);
	drop_buffer(b);
}

static inline void free_quietly(struct buffer *b)
{
	free_buffer(b, GMOD_VERIFY_ALL);
	take_none();
}

/* No slack, so that all of it is on the host. */
static inline struct buffer plain_buffer(void)
{
	return new_buffer(2 * gmod_page_size(), GMOD_MEM_DEVICE);
}

static inline struct buffer buffer_of_kind(int kind)
{
	if (kind == 0)
		return plain_buffer();
	return kind == 1 ? new_buffer(1001, GMOD_MEM_HOST) : new_buffer(512 * 9, GMOD_MEM_MANAGED);
}

/* The buffer's first changed byte, as a report counts. */
static inline void check_report(const struct report *r, const struct buffer *b, uint64_t first, long changed,
				long extent)
{
	bool tail = first >= b->place.user_end;
	long offset = (long)(first - (tail ? b->place.user_end : b->place.user));

	CHECK(r->tail == tail && r->offset == offset && r->changed == changed && r->extent == extent,
	      "%s %+ld, %ld changed, extent %ld; expected %+ld, %ld, %ld", r->tail ? "overflow" : "underflow",
	      r->offset, r->changed, r->extent, offset, changed, extent);
	CHECK(r->size == (long)(b->place.user_end - b->place.user), "%ld", r->size);
}

/* The one report that there is, of that kind. */
static inline struct report take_checked(bool final, const struct buffer *b, uint64_t first, long changed, long extent)
{
	struct report r = take_one(final);

	check_report(&r, b, first, changed, extent);
	return r;
}

static inline void launch(uint64_t stream, uint64_t function)
{
	struct gmod_thread *t = gmod_thread_self();

	gmod_launch_end(t, gmod_launch_begin(t, TEST_CONTEXT, stream, function, false), true);
}

FIXTURE(start)
{
	return start_gmod(":scan_interval_us=200:max_cpu=100");
}

/* ---- secrets ---- */

static inline bool log_has(const char *log, size_t size, const void *needle, size_t length)
{
	return memmem(log, size, needle, length) != NULL;
}

/* The eight bytes as they are, and as hexadecimal digits in either order. */
static inline bool log_has_word(const char *log, size_t size, uint64_t word)
{
	char forward[20], backward[20];
	const uint8_t *bytes = (const uint8_t *)&word;

	snprintf(forward, sizeof(forward), "%016lx", word);
	for (int i = 0; i < 8; i++)
		snprintf(backward + (size_t)2 * i, 3, "%02x", bytes[i]);
	return log_has(log, size, &word, 8) || log_has(log, size, forward, 16) || log_has(log, size, backward, 16);
}

/* A program's last test calls this: the process's key is in no report, nor a key made from it, nor a canary that was
 * not hit. */
static inline void check_reports_hold_no_key(void)
{
	const uint64_t *key = gmod_hot.key;
	FILE *f = fopen(log_file, "re");
	static char log[32 << 20];
	size_t size;

	assert_non_null(f);
	size = fread(log, 1, sizeof(log), f);
	fclose(f);
	assert_true(size > 20000 && size < sizeof(log));
	assert_true(log_has(log, size, "heap-buffer-overflow", 20));
	assert_false(log_has_word(log, size, key[0]));
	assert_false(log_has_word(log, size, key[1]));
	for (uint32_t i = 0; i < gmod_registry_used(); i++)
		for (int side = 0; side < 2; side++) {
			const struct gmod_canary *c = &gmod_record_details(gmod_record_at(i))->canary[side];

			if (c->key[0])
				CHECK(!log_has_word(log, size, c->key[0]) && !log_has_word(log, size, c->key[1]), "%u",
				      i);
			if (i > 64)
				return;
		}
}

static CMFixtureFunction group_setup = start, group_teardown = end_gmod;
