/*
 * Guarded buffers without a driver: records over ordinary memory, laid out and armed as lib/buffers/buffer.c does it,
 * and the reports about them read back from the log. For test programs of one file.
 */
#pragma once

#include <dlfcn.h>
#include <sys/mman.h>

#include "monitor/registry/layout.h"
#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/life/start.h"
#include "monitor/launches/launch.h"
#include "monitor/launches/proof.h"
#include "monitor/registry/registry.h"
#include "monitor/watch/damage.h"
#include "tests/unit/support.h"

/* ---- start ---- */

/* gmod_start() wants a loaded driver. This one has no entry points: every call of it fails. */
void *dlopen(const char *file, int mode)
{
	return dlmopen(LM_ID_BASE, file && !strcmp(file, "libcuda.so.1") ? "libc.so.6" : file, mode);
}

static char log_directory[] = "/tmp/gmod-test-buffer-XXXXXX";
static char log_file[64];

/* The directory of a log, made by the parent of a child that will not live to remove it. */
static inline int make_log(void)
{
	if (!mkdtemp(log_directory))
		return -1;
	snprintf(log_file, sizeof(log_file), "%s/log", log_directory);
	return 0;
}

/* Start GMOD with further options, reports going to a file as JSON. */
static inline int start_gmod(const char *options)
{
	char text[256];

	if (!log_file[0] && make_log())
		return -1;
	snprintf(text, sizeof(text), "log_path=%s:log_format=json:max_reports=1000000%s", log_file, options);
	setenv("GMOD_OPTIONS", text, 1);
	gmod_start();
	return gmod_on() ? 0 : -1;
}

FIXTURE(end_gmod)
{
	/* No last look at exit: what the tests left behind is theirs. */
	gmod_phase_set(GMOD_WINDING_DOWN);
	unlink(log_file);
	rmdir(log_directory);
	return 0;
}

/* ---- buffers ---- */

struct buffer {
	struct gmod_record *record;
	uint64_t word;
	struct gmod_place place;
	void *memory; /* NULL: given back */
	size_t total;
};

static inline void arm_buffer(struct buffer *b, size_t size, enum gmod_memory kind)
{
	static _Atomic uint64_t serial;
	const struct gmod_place *p = &b->place;
	struct gmod_bounds bounds = {p->user, size, p->zone_head, p->body, p->zone_tail, p->end};
	struct gmod_details *d;

	b->record = gmod_record_claim();
	d = gmod_record_details(b->record);
	d->raw = p->raw;
	d->serial = atomic_fetch_add(&serial, 1) + 1;
	d->allocated_ns = gmod_now().ns;
	d->allocated_ticks = gmod_ticks();
	d->memory = kind;
	d->backend_name = "unified";
	gmod_record_set_bounds(b->record, &bounds);
	gmod_canary_place(d->canary, gmod_hot.key, d->serial, &bounds, gmod_record_lines(b->record), NULL);
	gmod_record_publish(b->record);
	b->word = gmod_record_live(b->record);
}

static inline struct buffer new_buffer(size_t size, enum gmod_memory kind)
{
	struct buffer b = {0};
	size_t page = gmod_page_size();
	struct gmod_layout layout;

	if (kind == GMOD_MEM_HOST ? !gmod_layout_pinned(size, page, &layout) : !gmod_layout_device(size, page, &layout))
		abort();
	b.total = layout.total;
	b.memory = mmap(NULL, b.total, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (b.memory == MAP_FAILED)
		abort();
	gmod_layout_place(&layout, size, (uint64_t)(uintptr_t)b.memory, &b.place);
	arm_buffer(&b, size, kind);
	return b;
}

/* Begin the release, as a free does; then drop_buffer(). */
static inline bool release_buffer(const struct buffer *b)
{
	return gmod_record_begin_release(b->record, b->word);
}

static inline void drop_buffer(struct buffer *b)
{
	munmap(b->memory, b->total);
	b->memory = NULL;
	gmod_record_retire(b->record);
}

static inline uint8_t *byte_at(uint64_t address)
{
	return (uint8_t *)(uintptr_t)address;
}

/* Stores of a kernel: ThreadSanitizer is not told about them, as it is not told about the GPU's. */
__attribute__((no_sanitize("thread"))) static inline void damage(uint64_t address, size_t count)
{
	for (size_t i = 0; i < count; i++)
		*(volatile uint8_t *)(uintptr_t)(address + i) ^= 0x5f;
}

/* ---- work on the GPU ---- */

enum { TEST_CONTEXT = 0x5000, TEST_STREAM = 0x5100 };

static inline void begin_work(void)
{
	struct gmod_thread *t = gmod_thread_self();

	gmod_launch_end(t, gmod_launch_begin(t, TEST_CONTEXT, TEST_STREAM, 0x5200, false), true);
}

static inline void end_work(void)
{
	gmod_prove_stream(TEST_STREAM, gmod_ticks());
}

/* ---- reports ---- */

struct report {
	long id, size, offset, changed, extent;
	bool final, tail, restored;
	char observed[72], intact[40], seen[40], suspects[4096];
};

static long reports_read; /* offset in the log */

static inline long number_of(const char *line, const char *key)
{
	const char *at = strstr(line, key);

	return at ? strtol(at + strlen(key), NULL, 10) : -99999;
}

static inline void text_of(const char *line, const char *key, char *out, size_t cap)
{
	const char *at = strstr(line, key);

	out[0] = '\0';
	if (at)
		snprintf(out, cap, "%.*s", (int)strcspn(at + strlen(key), "\""), at + strlen(key));
}

static inline void parse_report(const char *line, struct report *r)
{
	const char *corruption = strstr(line, "\"corruption\":{"), *suspects;

	CHECK(strstr(line, "\"event\":\"finding\"") && corruption, "%s", line);
	r->id = number_of(line, "\"id\":");
	r->final = strstr(line, "\"status\":\"final\"") != NULL;
	r->tail = strstr(line, "\"class\":\"heap-buffer-overflow\"") != NULL;
	r->size = number_of(line, "\"size\":");
	r->offset = number_of(corruption, "\"offset\":");
	r->changed = number_of(corruption, "\"changed\":");
	r->extent = number_of(corruption, "\"extent\":");
	r->restored = strstr(corruption, "\"restored\":true") != NULL;
	text_of(corruption, "\"observed\":\"", r->observed, sizeof(r->observed));
	text_of(corruption, "\"intact\":\"", r->intact, sizeof(r->intact));
	text_of(corruption, "\"seen\":\"", r->seen, sizeof(r->seen));
	suspects = strstr(line, "\"suspects\":[");
	snprintf(r->suspects, sizeof(r->suspects), "%.4000s", suspects ? suspects : "");
}

/* The reports since the last call, oldest first. */
static inline unsigned take_reports(struct report *out, unsigned max)
{
	FILE *f = fopen(log_file, "re");
	static char line[1 << 18];
	unsigned n = 0;

	if (!f)
		return 0;
	CHECK(!fseek(f, reports_read, SEEK_SET), "%s", log_file);
	while (fgets(line, sizeof(line), f)) {
		if (strstr(line, "\"event\":\"suspects\""))
			continue;
		CHECK(n < max, "more than %u reports: %s", max, line);
		parse_report(line, &out[n++]);
	}
	reports_read = ftell(f);
	fclose(f);
	return n;
}

static inline struct report take_one(bool final)
{
	struct report r[16] = {0};
	unsigned n = take_reports(r, 16);

	CHECK(n == 1, "%u reports", n);
	CHECK(r[0].final == final, "it is %s", r[0].final ? "final" : "provisional");
	return r[0];
}

static inline void take_none(void)
{
	struct report r[16];
	unsigned n = take_reports(r, 16);

	CHECK(n == 0, "%u reports", n);
}

/* How many of them are final: one at most of each finding. */
static inline unsigned count_finals(const struct report *r, unsigned n)
{
	static unsigned finals_of[100000];
	unsigned finals = 0;

	for (unsigned i = 0; i < n; i++) {
		CHECK(r[i].id >= 0 && r[i].id < 100000, "%ld", r[i].id);
		finals_of[r[i].id] += r[i].final;
		CHECK(finals_of[r[i].id] <= 1, "finding %ld has two final reports", r[i].id);
		finals += r[i].final;
	}
	return finals;
}

/* Does some report wait for a look at its slack? */
static inline bool wants_slack(void)
{
	uint32_t position;

	return gmod_damage_open(true, &position, 1);
}
