/* What the tests of the reports share: findings to report, and a log in a directory of its own to read them back. */
#pragma once

#include "lib/base/facts.h"
#include "monitor/report/report.h"
#include "tests/unit/directory.h"

static __attribute__((noinline, unused)) uintptr_t cudaFakeAlloc(void)
{
	return (uintptr_t)cudaFakeAlloc + 5;
}

static __attribute__((noinline, unused)) uintptr_t the_caller(void)
{
	return (uintptr_t)the_caller + 5;
}

static __attribute__((noinline, unused)) uintptr_t another_caller(void)
{
	return (uintptr_t)another_caller + 5;
}

/* Ids and sites are remembered from test to test, so each finding is given new ones unless a test says otherwise. */
static uint32_t next_id = 1;
static uintptr_t next_site = 1;

/* Of the finding that was made last. */
static struct gmod_suspect room_for_suspects[GMOD_SUSPECTS_MAX];

static inline struct gmod_finding finding(enum gmod_class class)
{
	struct gmod_finding f = {.id = next_id++, .class = class, .status = GMOD_FINAL};

	f.buffer.base = 0x7f1f30000000;
	f.buffer.size = 4000;
	f.buffer.backend = "unified";
	f.buffer.serial = 17;
	f.buffer.allocated_ns = 1;
	f.buffer.allocated_tid = 4242;
	f.buffer.allocated_at = (struct gmod_stack){.depth = 3, .pc = {cudaFakeAlloc(), the_caller(), next_site++}};
	f.changed = f.extent = 16;
	memset(f.observed, 'A', sizeof(f.observed));
	f.observed_count = 16;
	f.intact_ns = 45067102311000ull;
	f.seen_ns = 45067103302000ull;
	f.address = f.buffer.base;
	memset(room_for_suspects, 0, sizeof(room_for_suspects));
	f.suspect = room_for_suspects;
	f.suspect_room = GMOD_SUSPECTS_MAX;
	return f;
}

/* A fresh start of the counts, by options as a user would write them. */
static inline int start_with(const char *options, const char *log)
{
	int error;

	setenv("GMOD_OPTIONS", options, 1);
	gmod_facts_init();
	error = gmod_log_open(log, gmod_options()->log_format == GMOD_OPTION_LOG_JSON, gmod_options()->verbosity);
	gmod_report_init(NULL);
	return error;
}

/* With an empty log. */
static inline void start(const char *options)
{
	unlink("log");
	assert_int_equal(start_with(options, "log"), 0);
}

static inline const char *logged(void)
{
	return read_file("log");
}

static inline int count(const char *words)
{
	int n = 0;

	for (const char *s = logged(); (s = strstr(s, words)); s += strlen(words))
		n++;
	return n;
}

static inline void expect(const char *words)
{
	if (!strstr(logged(), words))
		print_error("\"%s\" is missing in:\n%s\n", words, text);
	assert_non_null(strstr(text, words));
}

static inline void report(const struct gmod_finding *f)
{
	errno = EBUSY;
	gmod_report(f);
	assert_int_equal(errno, EBUSY);
}

static inline const char *report_one(const char *options, const struct gmod_finding *f)
{
	start(options);
	report(f);
	return logged();
}
