/* Which findings are reported, and how often: once each, not too many of a site, none that is suppressed. */
#include <dlfcn.h>

#include "tests/unit/reporting.h"
#include "tests/unit/support.h"

/* ---- how often ---- */

TEST(a_provisional_report_has_no_summary)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	char head[128];

	start("");
	f.status = GMOD_PROVISIONAL;
	report(&f);
	snprintf(head, sizeof(head), " of a 4000-byte buffer [finding %u, provisional, a final report follows]\n",
		 f.id);
	expect(head);
	assert_int_equal(count("SUMMARY"), 0);
	assert_int_equal(gmod_report_findings(), 0);
	report(&f); /* said already */
	assert_int_equal(count("provisional"), 1);
	f.status = GMOD_FINAL;
	f.changed = 99;
	report(&f);
	snprintf(head, sizeof(head), "99 bytes changed, 0 bytes past the end of a 4000-byte buffer [finding %u]\n",
		 f.id);
	expect(head);
	assert_int_equal(count("SUMMARY"), 1);
	assert_int_equal(gmod_report_findings(), 1);
	report(&f);
	f.status = GMOD_PROVISIONAL;
	report(&f);
	assert_int_equal(count("SUMMARY"), 1);
	assert_int_equal(count("provisional"), 1);
	assert_int_equal(gmod_report_findings(), 1);
}

TEST(what_is_caught_belongs_to_a_report)
{
	struct gmod_suspect culprit = {.name = "k_fill", .launches = 1, .grid = {8, 1, 1}, .block = {128, 1, 1}};
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW), other = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	start("max_reports=1");
	f.suspect = other.suspect = &culprit;
	f.suspect_count = other.suspect_count = 1;
	f.caught = other.caught = 4711;
	f.status = GMOD_CAUGHT;
	report(&f); /* of what has not been told */
	assert_int_equal(count("caught"), 0);
	f.status = GMOD_FINAL;
	report(&f);
	report(&other); /* beyond max_reports */
	f.status = other.status = GMOD_CAUGHT;
	report(&f);
	report(&other);
	expect("GMOD: heap-buffer-overflow: caught: k_fill<<<(8,1,1),(128,1,1)>>>, launch 4711 of its thread: ");
	assert_int_equal(count(", caught]"), 1);
	assert_int_equal(count("SUMMARY"), 1);
	assert_int_equal(gmod_report_findings(), 2);
}

TEST(findings_past_the_cap_are_counted)
{
	struct gmod_finding early = finding(GMOD_HEAP_BUFFER_OVERFLOW), late = finding(GMOD_HEAP_BUFFER_OVERFLOW), f;

	start("max_reports=3");
	early.status = late.status = GMOD_PROVISIONAL;
	report(&early);
	for (int i = 0; i < 5; i++) {
		f = finding(GMOD_DOUBLE_FREE);
		report(&f);
	}
	report(&late);
	assert_int_equal(count("==GMOD: "), 3);
	early.status = late.status = GMOD_FINAL;
	report(&early); /* its provisional report promised it */
	report(&late);
	assert_int_equal(count("SUMMARY"), 3);
	assert_int_equal(gmod_report_findings(), 7);
	gmod_report_end();
	expect("GMOD: 4 findings were counted and not shown: 4 beyond max_reports=3, 0 of a site");
	assert_int_equal(count("not shown"), 1);
	start("max_reports=1");
	for (int i = 0; i < 2; i++) {
		f = finding(GMOD_DOUBLE_FREE);
		report(&f);
	}
	gmod_report_end();
	expect("GMOD: 1 finding was counted and not shown: ");
}

TEST(one_site_is_reported_five_times)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW), other;

	start("");
	for (int i = 0; i < 25; i++, f.id = next_id++)
		report(&f);
	assert_int_equal(count("SUMMARY"), GMOD_REPORTS_PER_SITE);
	assert_int_equal(gmod_report_findings(), 25);
	other = f;
	other.class = GMOD_LEAK; /* another class there is another site */
	other.id = next_id++;
	report(&other);
	other = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	report(&other);
	assert_int_equal(count("SUMMARY"), GMOD_REPORTS_PER_SITE + 2);
	gmod_report_end();
	expect("20 findings were counted and not shown: 0 beyond max_reports=100, 20 of a site that had been reported "
	       "5 times");
}

TEST(without_stacks_only_the_cap_limits)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	start("");
	f.buffer.allocated_at.depth = 0;
	for (int i = 0; i < 25; i++, f.id = next_id++)
		report(&f);
	assert_int_equal(count("SUMMARY"), 25);
	assert_int_equal(count("offset +0 -\n"), 25);
}

/* Functions of the runtime that is linked into a program, and one of the program's own that looks like it. */
static __attribute__((noinline)) uintptr_t of_the_runtime(void) __asm__("__cudart7");
static __attribute__((noinline)) uintptr_t of_its_archive(void) __asm__("libcudart_static_7");
static __attribute__((noinline)) uintptr_t of_the_driver(void) __asm__("cuFakeAlloc");
static __attribute__((noinline)) uintptr_t of_its_header(void) __asm__("_ZL10cudaMallocIfE9cudaErrorPPT_m");
static __attribute__((noinline)) uintptr_t customer(void);

static uintptr_t of_the_runtime(void)
{
	return (uintptr_t)of_the_runtime + 5;
}

static uintptr_t of_its_archive(void)
{
	return (uintptr_t)of_its_archive + 5;
}

static uintptr_t of_the_driver(void)
{
	return (uintptr_t)of_the_driver + 5;
}

static uintptr_t of_its_header(void)
{
	return (uintptr_t)of_its_header + 5;
}

static uintptr_t customer(void)
{
	return (uintptr_t)customer + 5;
}

/* In a library of that name, which is a copy of another one. */
static uintptr_t in_library(const char *name)
{
	char command[600];
	Dl_info info;
	void *library, *function;

	assert_true(dladdr((void *)_assert_true, &info));
	snprintf(command, sizeof(command), "cp '%s' ./%s", info.dli_fname, name);
	assert_int_equal(system(command), 0);
	snprintf(command, sizeof(command), "./%s", name);
	library = dlopen(command, RTLD_NOW);
	assert_non_null(library);
	function = dlsym(library, "_assert_true");
	assert_non_null(function);
	return (uintptr_t)function + 1;
}

TEST(neither_the_runtime_nor_the_driver_is_the_site)
{
	const uintptr_t others[] = {
	    of_the_runtime(),
	    of_its_archive(),
	    of_the_driver(),
	    of_its_header(),
	    in_library("libcudart.so.13"),
	    in_library("libcuda.so.1"),
	};
	struct gmod_finding f;

	for (size_t i = 0; i < SIZE_OF(others); i++) {
		f = finding(GMOD_LEAK);
		f.buffer.allocated_at = (struct gmod_stack){.depth = 3, .pc = {others[i], customer(), next_site++}};
		report_one("", &f);
		expect("offset +0 customer test_report_limits+0x");
	}
	f = finding(GMOD_LEAK);
	f.buffer.allocated_at =
	    (struct gmod_stack){.depth = 3, .pc = {in_library("libother.so"), customer(), next_site++}};
	report_one("", &f);
	expect(" libother.so+0x");
}

TEST(the_site_is_the_first_frame_of_the_program)
{
	struct gmod_finding f = finding(GMOD_LEAK);

	f.buffer.allocated_at =
	    (struct gmod_stack){.depth = 4, .pc = {next_site++, cudaFakeAlloc(), another_caller(), the_caller()}};
	report_one("", &f);
	expect("offset +0 another_caller test_report_limits+0x");
	f = finding(GMOD_LEAK);
	f.buffer.allocated_at = (struct gmod_stack){.depth = 2, .pc = {next_site++, cudaFakeAlloc()}};
	report_one("", &f);
	expect("offset +0 -\n");
}

/* What an allocator's name alone would cover is all that it allocates. */
TEST(the_offered_suppression_has_a_caller_or_a_kernel)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	struct gmod_stack by_another = {
	    .depth = 5, .pc = {cudaFakeAlloc(), the_caller(), the_caller(), another_caller(), next_site++}};

	f.suspect_count = 1;
	f.suspect[0].name = "_ZN2at4fillIiEEvPT_";
	report_one("", &f);
	expect("suppressions: heap-buffer-overflow:the_caller && at::fill\n");
	f.id = next_id++;
	f.buffer.allocated_at = by_another;
	report_one("", &f);
	expect("suppressions: heap-buffer-overflow:the_caller && another_caller\n");
	f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	f.suspect_count = 1;
	f.suspect[0].name = "_ZN2at4fillIiEEvPT_";
	f.launches_lost = 1;
	report_one("", &f);
	expect("suppressions: heap-buffer-overflow:the_caller\n");
}

TEST(an_unknown_class_is_ignored)
{
	struct gmod_finding f = finding(GMOD_CLASS_COUNT);

	assert_string_equal(report_one("", &f), "");
	assert_int_equal(gmod_report_findings(), 0);
	assert_string_equal(gmod_class_name(GMOD_CLASS_COUNT), "unknown");
	assert_string_equal(gmod_class_name(GMOD_INVALID_FREE), "invalid-free");
}

/* ---- suppressions ---- */

/* Is an overflow, allocated in the_caller(), with suspect at::fill<int>, kept quiet by these lines? */
static bool quiet(const char *rules)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	write_file("rules", rules);
	f.suspect_count = 1;
	f.suspect[0].name = "_ZN2at4fillIiEEvPT_";
	report_one("suppressions=rules", &f);
	assert_int_equal(count("SUMMARY"), gmod_report_findings());
	assert_int_equal(count("not a suppression"), 0);
	return gmod_report_findings() == 0;
}

TEST(suppressions_match_frames_and_kernels)
{
	assert_true(quiet("heap-buffer-overflow:the_caller\n"));
	assert_true(quiet("# a comment\n\n  heap-buffer-overflow:the_*\r\n"));
	assert_true(quiet("*:*_caller"));
	assert_true(quiet("*:the*ll*r"));
	assert_true(quiet("*:the_caller*\n"));
	assert_true(quiet("*:test_report_limits\n")); /* a module */
	assert_true(quiet("*:at::fill\n"));
	assert_true(quiet("*:at::fill*\n"));
	assert_true(quiet("*:the_caller test_report_limits+0x*\n")); /* the site */
	assert_true(quiet("*:_ZN2at4fill*\n"));
	assert_true(quiet("leak:*\n*:*\n"));
	assert_false(quiet("leak:the_caller\n"));
	assert_false(quiet("*:the_calle\n"));
	assert_false(quiet("*:he_caller\n"));
	assert_false(quiet("*:caller*\n"));
	assert_false(quiet("#*:*\n"));
	assert_false(quiet(" # *:*\n"));
	assert_false(quiet(""));
}

TEST(both_patterns_of_a_suppression_have_to_match)
{
	assert_true(quiet("*:the_caller && at::fill\n"));
	assert_true(quiet("*:at::fill && the_caller\n"));
	assert_true(quiet("*:the_c* && test_report_limits\n"));
	assert_true(quiet("heap-buffer-overflow: the_caller\t &&  at::fill\r\n"));
	assert_false(quiet("*:the_caller && at::other\n"));
	assert_false(quiet("*:another && at::fill\n"));
	assert_false(quiet("leak:the_caller && at::fill\n"));
	assert_false(quiet("*:the_caller &&\n"));
	assert_false(quiet("*:the_caller&&at::fill\n"));
}

TEST(blanks_around_a_suppression_do_not_count)
{
	assert_true(quiet("heap-buffer-overflow: the_caller\n"));
	assert_true(quiet("heap-buffer-overflow\t:\tthe_caller \r\n"));
	assert_true(quiet(" * : the_* \n"));
	assert_false(quiet("leak : the_caller\n"));
}

/* Is an overflow that any of these kernels may have done kept quiet by a line about at::fill? */
static bool quiet_with(const char *second, uint64_t omitted, uint64_t lost)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	write_file("rules", "*:at::fill\n");
	f.suspect_count = 2;
	f.suspect[0].name = "_ZN2at4fillIiEEvPT_";
	f.suspect[1].name = second;
	f.suspects_omitted = omitted;
	f.launches_lost = lost;
	report_one("suppressions=rules", &f);
	return gmod_report_findings() == 0;
}

TEST(a_kernel_is_suppressed_only_where_it_is_all_suspects)
{
	assert_true(quiet_with("_ZN2at4fillIfEEvPT_", 0, 0));
	assert_false(quiet_with("_Z7vec_addPfi", 0, 0));
	assert_false(quiet_with(NULL, 0, 0));
	assert_false(quiet_with("_ZN2at4fillIfEEvPT_", 1, 0));
	assert_false(quiet_with("_ZN2at4fillIfEEvPT_", 0, 1));
}

TEST(a_suppressed_site_stays_quiet_and_uncounted)
{
	struct gmod_finding f = finding(GMOD_LEAK);
	struct gmod_run_summary s = {0};

	write_file("rules", "leak:the_caller");
	start("suppressions=rules");
	for (int i = 0; i < 30; i++, f.id = next_id++)
		report(&f);
	f.status = GMOD_PROVISIONAL;
	report(&f);
	f.status = GMOD_FINAL;
	report(&f);
	gmod_report_end();
	assert_string_equal(logged(), "");
	gmod_report_counts(&s);
	assert_int_equal(s.count.suppressed, 31);
	assert_int_equal(s.findings[GMOD_LEAK], 0);
}

/* Many buffers are freed at one place, and fail there for reasons of their own. */
TEST(a_suppressed_finding_does_not_hide_the_next_of_its_site)
{
	struct gmod_finding f = finding(GMOD_DOUBLE_FREE);
	struct gmod_run_summary s = {0};

	f.called_at = (struct gmod_stack){.depth = 1, .pc = {next_site++}};
	write_file("rules", "double-free:the_caller");
	start("suppressions=rules");
	report(&f);
	f.id = next_id++;
	f.buffer.allocated_at = (struct gmod_stack){.depth = 1, .pc = {another_caller()}};
	report(&f);
	assert_int_equal(count("SUMMARY"), 1);
	gmod_report_counts(&s);
	assert_int_equal(s.count.suppressed, 1);
	assert_int_equal(s.findings[GMOD_DOUBLE_FREE], 1);
	/* Nor one that is suppressed by its kernel. */
	f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	write_file("rules", "*:a_kernel");
	start("suppressions=rules");
	f.suspect_count = 1;
	f.suspect[0].name = "a_kernel";
	report(&f);
	f.id = next_id++;
	f.suspect[0].name = "another_kernel";
	report(&f);
	assert_int_equal(count("SUMMARY"), 1);
}

TEST(bad_suppressions_are_named_once)
{
	write_file("rules", "leak:x\nno colon\nheap:x\nleak: \n#ok\n:x\n\x1b[31m:x\n*:x\nleak x:x");
	start("suppressions=rules");
	assert_int_equal(count("not a suppression"), 6);
	expect("GMOD: rules:2: not a suppression (CLASS:PATTERN, CLASS as in a report or *): no colon\n");
	expect("rules:3: ");
	expect("rules:4: ");
	expect("rules:6: ");
	expect("rules:7: not a suppression (CLASS:PATTERN, CLASS as in a report or *): \\x1b[31m:x\n");
	start("suppressions=missing");
	expect("GMOD: cannot read the suppressions file missing: No such file or directory; nothing is suppressed\n");
	start("suppressions=.");
	expect("cannot read the suppressions file .: Is a directory; nothing is suppressed\n");
	write_file("directory", "");
	start("suppressions=directory/rules");
	expect("cannot read the suppressions file directory/rules: Not a directory; nothing is suppressed\n");
}

TEST(many_suppressions_are_cut_with_a_word)
{
	char *rules = malloc(200001);

	for (int i = 0; i < 20000; i++)
		memcpy(rules + 10L * i, "leak:xxxx\n", 11);
	write_file("rules", rules);
	start("suppressions=rules");
	expect("rules: only the first 65535 bytes are read\n");
	expect("rules: only the first 512 suppressions are used\n");
	free(rules);
}

/* Who ends the process waits no longer for a log that takes nothing. */
TEST_IN_CHILD(what_is_abandoned_is_counted_and_told)
{
	struct gmod_finding f;
	struct gmod_run_summary s = {0};

	start("");
	for (int i = 0; i < 4; i++) {
		f = finding(GMOD_LEAK);
		gmod_report_add(&f);
	}
	gmod_report_abandon();
	gmod_report_end();
	CHECK(count("GMOD: 4 findings were lost: the log took nothing for seconds\n") == 1, "%s", text);
	gmod_report_counts(&s);
	/* The first is being told, as far as anybody knows. */
	CHECK(s.findings[GMOD_LEAK] == 3, "%u", s.findings[GMOD_LEAK]);
	CHECK(count("SUMMARY") == 0, "%s", text);
}

/* Nobody takes findings out of the ring meanwhile: the one that finds no room waits 2 s, and is lost. */
TEST_IN_CHILD(the_finding_for_which_there_is_no_room_is_the_one_that_is_lost)
{
	enum { ROOM = 256 };
	struct gmod_finding f;

	start("max_reports=1000");
	for (int i = 0; i < ROOM + 1; i++) {
		f = finding(GMOD_LEAK);
		f.buffer.size = (uint64_t)i + 1;
		gmod_report_add(&f);
	}
	gmod_report_flush();
	gmod_report_end();
	CHECK(count("SUMMARY: GMOD: leak device 0 size 1 ") == 1, "%s", text);
	CHECK(count("SUMMARY: GMOD: leak device 0 size 257 ") == 0, "%s", text);
	CHECK(count("SUMMARY") == ROOM, "%s", text);
	CHECK(count("GMOD: 1 finding was lost: ") == 1, "%s", text);
	CHECK(gmod_report_findings() == ROOM + 1, "%u", gmod_report_findings());
}
