/*
 * Reports: what they say, how often, and that nothing a program can put into them breaks a line or an object.
 *
 * Run with --report it is the program that reports: it writes one overflow to stderr, so that the command it suggests
 * can be read back by a shell.
 */
#include "monitor/report.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/gmod-test-report-XXXXXX";
static char program[4096];

/* ---- a strict reader of JSON ---- */

static const char *json_value(const char *s, int depth);

static const char *json_space(const char *s)
{
	return s + strspn(s, " \t\r");
}

static int is_hex(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

/* Behind one character of a string, escaped or UTF-8; NULL if it is neither. */
static const char *json_char(const char *s)
{
	const unsigned char *u = (const unsigned char *)s;
	int more = *u < 0x80 ? 0 : *u < 0xc2 ? -1 : *u < 0xe0 ? 1 : *u < 0xf0 ? 2 : *u < 0xf5 ? 3 : -1;

	if (*s == '\\') {
		if (s[1] != 'u')
			return s[1] && strchr("\"\\/bfnrt", s[1]) ? s + 2 : NULL;
		return is_hex(s[2]) && is_hex(s[3]) && is_hex(s[4]) && is_hex(s[5]) ? s + 6 : NULL;
	}
	if (*u < 0x20 || more < 0 || (*u == 0xe0 && u[1] < 0xa0) || (*u == 0xed && u[1] > 0x9f) ||
	    (*u == 0xf0 && u[1] < 0x90) || (*u == 0xf4 && u[1] > 0x8f))
		return NULL;
	for (int i = 1; i <= more; i++)
		if ((u[i] & 0xc0) != 0x80)
			return NULL;
	return s + 1 + more;
}

static const char *json_string(const char *s)
{
	if (*s++ != '"')
		return NULL;
	while (s && *s && *s != '"')
		s = json_char(s);
	return s && *s ? s + 1 : NULL;
}

static const char *json_number(const char *s)
{
	s += *s == '-';
	if (*s == '0')
		return s + 1;
	return strspn(s, "0123456789") > 0 ? s + strspn(s, "0123456789") : NULL;
}

static const char *json_list(const char *s, char close, int depth)
{
	const char *after = json_space(s + 1);

	if (*after == close)
		return after + 1;
	do {
		s = json_space(s + 1);
		if (close == '}') {
			s = json_string(s);
			if (!s || *(s = json_space(s)) != ':')
				return NULL;
			s++;
		}
		s = json_value(s, depth + 1);
		if (!s)
			return NULL;
		s = json_space(s);
	} while (*s == ',');
	return *s == close ? s + 1 : NULL;
}

static const char *json_value(const char *s, int depth)
{
	static const char *const word[] = {"true", "false", "null"};

	s = json_space(s);
	if (depth > 20)
		return NULL;
	if (*s == '{' || *s == '[')
		return json_list(s, *s == '{' ? '}' : ']', depth);
	if (*s == '"')
		return json_string(s);
	for (int i = 0; i < 3; i++)
		if (strncmp(s, word[i], strlen(word[i])) == 0)
			return s + strlen(word[i]);
	return json_number(s);
}

/* Every line is one object; returns how many there are. */
static int json_lines(const char *s)
{
	int n = 0;

	for (; *s; s++, n++) {
		const char *end = *s == '{' ? json_value(s, 0) : NULL;

		if (!end || *end != '\n') {
			print_error("not JSON: %.300s\n", s);
			return -1;
		}
		s = end;
	}
	return n;
}

static void the_json_reader_is_strict(void **unused)
{
	static const char *const bad[] = {"{\"a\":1,}\n",       "{\"a\":01}\n",     "{\"a\":\"\x01\"}\n",
					  "{\"a\":\"\xff\"}\n", "{a:1}\n",          "{\"a\":\"\\x\"}\n",
					  "{\"a\":1}{}\n",      "{\"a\":\"\n\"}\n", "[1]\n",
					  "{\"a\":nul}\n",      "{\"a\":1}"};

	(void)unused;
	assert_int_equal(json_lines("{\"a\":[1,-2,{\"b\":null}],\"c\":\"\\u00e9\xc3\xa9\"}\n{}\n"), 2);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const char *end = *bad[i] == '{' ? json_value(bad[i], 0) : NULL;

		assert_true(!end || strcmp(end, "\n") != 0);
	}
}

/* ---- making findings and reading reports ---- */

static __attribute__((noinline)) uintptr_t cudaFakeAlloc(void)
{
	return (uintptr_t)cudaFakeAlloc + 5;
}

static __attribute__((noinline)) uintptr_t the_caller(void)
{
	return (uintptr_t)the_caller + 5;
}

static __attribute__((noinline)) uintptr_t another_caller(void)
{
	return (uintptr_t)another_caller + 5;
}

/* Ids and sites are remembered from test to test, so each finding is given new ones unless a test says otherwise. */
static uint32_t next_id = 1;
static uintptr_t next_site = 1;

static struct gmod_finding finding(enum gmod_class class)
{
	struct gmod_finding f = {.id = next_id++, .class = class, .status = GMOD_FINAL};

	f.buffer.base = 0x7f1f30000000;
	f.buffer.size = 4000;
	f.buffer.backend = "unified";
	f.buffer.serial = 17;
	f.buffer.allocated_ns = 1;
	f.buffer.allocated_tid = 4242;
	f.buffer.allocated_at = (struct gmod_stack){3, {cudaFakeAlloc(), the_caller(), next_site++}};
	f.changed = f.extent = 16;
	memset(f.observed, 'A', sizeof(f.observed));
	f.observed_count = 16;
	f.intact_ns = 45067102311000ull;
	f.seen_ns = 45067103302000ull;
	f.address = f.buffer.base;
	return f;
}

/* An empty log and a fresh start of the counts, by options as a user would write them. */
static void start(const char *options)
{
	struct gmod_options o;

	unlink("log");
	gmod_options_defaults(&o);
	assert_int_equal(gmod_options_parse(&o, options, NULL, NULL), 0);
	assert_int_equal(gmod_log_open("log", o.log_format == GMOD_OPTION_LOG_JSON, o.verbosity), 0);
	gmod_report_init(&o);
}

static char text[4 << 20];

static const char *read_file(const char *path)
{
	int fd = open(path, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : read(fd, text, sizeof(text) - 1);

	if (fd >= 0)
		close(fd);
	text[n > 0 ? n : 0] = '\0';
	return text;
}

static const char *logged(void)
{
	return read_file("log");
}

static int count(const char *words)
{
	int n = 0;

	for (const char *s = logged(); (s = strstr(s, words)); s += strlen(words))
		n++;
	return n;
}

static void expect(const char *words)
{
	if (!strstr(logged(), words))
		print_error("\"%s\" is missing in:\n%s\n", words, text);
	assert_non_null(strstr(text, words));
}

static void report(const struct gmod_finding *f)
{
	errno = EBUSY;
	gmod_report(f);
	assert_int_equal(errno, EBUSY);
}

static const char *report_one(const char *options, const struct gmod_finding *f)
{
	start(options);
	report(f);
	return logged();
}

static int enter_directory(void **unused)
{
	(void)unused;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave_directory(void **unused)
{
	char command[128];

	(void)unused;
	snprintf(command, sizeof(command), "rm -rf '%s'", directory);
	return chdir("/") == 0 && system(command) == 0 ? 0 : -1;
}

/* ---- text ---- */

static void an_overflow_reads_as_documented(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	char first[128];

	(void)unused;
	f.suspect_count = 2;
	f.suspect[0] = (struct gmod_suspect){.name = "_Z7vec_addPfi", .launches = 3, .unfinished = 2, .stream = 0x55d0};
	f.suspect[1] = (struct gmod_suspect){.name = "scale", .launches = 1, .stream = 0x55d8, .graph = 0x99};
	report_one("", &f);
	snprintf(first, sizeof(first),
		 "==%d==GMOD: heap-buffer-overflow: 16 bytes changed, 0 bytes past the end of a 4000-byte buffer\n",
		 (int)getpid());
	assert_int_equal(strncmp(logged(), first, strlen(first)), 0);
	expect(
	    "\n    buffer [0x7f1f30000000, 0x7f1f30000fa0) on device 0, backend unified, allocation #17, allocated ");
	expect(" s ago by thread 4242\n      #0 cudaFakeAlloc  test_report+0x");
	expect("\n      #1 the_caller  test_report+0x");
	expect("\n    written between 12:31:07.102311 (last seen intact) and 12:31:07.103302 UTC\n");
	expect("\n    suspects: vec_add x3 on stream 0x55d0 (2 not proven complete); scale x1 on stream 0x55d8 in "
	       "graph 0x99\n");
	expect("\n    changed bytes at +0: 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41\n");
	expect("\n    next step: compute-sanitizer --tool memcheck --kernel-name kernel_substring=vec_add ");
	expect("\nSUMMARY: GMOD: heap-buffer-overflow device 0 size 4000 offset +0 the_caller test_report+0x");
	assert_int_equal(count("\n"), 10);
}

static void an_underflow_counts_from_the_start(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_UNDERFLOW);

	(void)unused;
	f.offset = -3;
	f.changed = 1;
	f.extent = 3;
	f.observed_count = 3;
	f.restored = true;
	report_one("", &f);
	expect("heap-buffer-underflow: 1 byte changed, 3 bytes before the start of a 4000-byte buffer\n");
	expect("changed bytes at -3: 41 41 41 (1 of 3 bytes) (put back since)\n");
	expect("SUMMARY: GMOD: heap-buffer-underflow device 0 size 4000 offset -3 the_caller ");
}

static void without_suspects_the_memory_decides_the_advice(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	(void)unused;
	report_one("", &f);
	expect("suspects: no kernel was in flight: look for a copy or memset");
	expect("next step: compute-sanitizer --tool memcheck ");
	assert_int_equal(count("--kernel-name"), 0);
	f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	f.buffer.memory = GMOD_MEM_HOST;
	report_one("", &f);
	expect(" on pinned host memory, device 0,");
	expect("suspects: no kernel was in flight: look for a write by the CPU\n");
	expect("next step: look for a write by the CPU, with a watchpoint on the changed bytes: gdb --args ");
	f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	f.buffer.memory = GMOD_MEM_MANAGED;
	f.launches_lost = 1;
	report_one("", &f);
	expect("suspects: none recorded; 1 launch record was lost, so there may be others\n");
	expect("next step: compute-sanitizer --tool memcheck ");
}

static void a_double_free_shows_both_frees(void **unused)
{
	struct gmod_finding f = finding(GMOD_DOUBLE_FREE);
	const char *s;

	(void)unused;
	f.buffer.freed_ns = 1;
	f.buffer.freed_tid = 7;
	f.buffer.freed_at = (struct gmod_stack){1, {the_caller()}};
	f.entry_point = "cuMemFree_v2";
	f.called_at = (struct gmod_stack){1, {another_caller()}};
	f.called_tid = 8;
	f.error = 1;
	f.error_name = "CUDA_ERROR_INVALID_VALUE";
	report_one("", &f);
	expect("double-free: cuMemFree_v2(0x7f1f30000000) of a 4000-byte buffer that had been freed\n");
	s = strstr(text, "\n    first freed ");
	assert_non_null(s);
	assert_non_null(strstr(s, " s ago by thread 7\n      #0 the_caller  "));
	s = strstr(s, "\n    freed again by cuMemFree_v2 in thread 8; the program got CUDA_ERROR_INVALID_VALUE (1)\n");
	assert_non_null(s);
	assert_non_null(strstr(s, "      #0 another_caller  "));
	expect("SUMMARY: GMOD: double-free device 0 size 4000 offset +0 another_caller ");
	assert_int_equal(count("suspects"), 0);
}

static void an_invalid_free_says_what_the_address_is(void **unused)
{
	struct gmod_finding f = finding(GMOD_INVALID_FREE);

	(void)unused;
	f.entry_point = "cuMemFree_v2";
	f.offset = 256;
	f.address += 256;
	report_one("", &f);
	expect("invalid-free: cuMemFree_v2(0x7f1f30000100) of an address 256 bytes inside a 4000-byte buffer\n");
	expect("next step: free the address that the allocation returned, 0x7f1f30000000\n");
	expect("offset +256 the_caller ");
	f = finding(GMOD_INVALID_FREE);
	f.buffer = (struct gmod_buffer_facts){0};
	f.entry_point = "cuMemFreeHost";
	report_one("", &f);
	expect("invalid-free: cuMemFreeHost(0x7f1f30000000) of an address that no allocation returned\n");
	expect("SUMMARY: GMOD: invalid-free device 0 size 0 offset +0 -\n");
	assert_int_equal(count("    buffer "), 0);
}

static void an_api_call_out_of_bounds_says_how_far(void **unused)
{
	struct gmod_finding f = finding(GMOD_API_OUT_OF_BOUNDS);

	(void)unused;
	f.entry_point = "cuMemsetD8_v2";
	f.length = 4096;
	f.error = 1;
	f.error_name = "CUDA_ERROR_INVALID_VALUE";
	f.called_at = (struct gmod_stack){1, {another_caller()}};
	report_one("", &f);
	expect("cuMemsetD8_v2 asked for 4096 bytes at 0x7f1f30000000, up to 96 bytes past the end of a 4000-byte "
	       "buffer\n");
	expect("the program got CUDA_ERROR_INVALID_VALUE (1)\n");
	expect("offset +0 another_caller ");
	f.id = next_id++;
	f.address += 5000;
	report_one("", &f);
	expect("offset +1000 another_caller ");
	f.id = next_id++;
	f.address = f.buffer.base - 8;
	report_one("", &f);
	expect("from 8 bytes before the start of a 4000-byte buffer\n");
	expect("offset -8 another_caller ");
	f.id = next_id++;
	f.address = f.buffer.base;
	f.length = UINT64_MAX;
	report_one("", &f);
	expect("past the end of all memory");
}

static void a_leak_says_how_to_live_with_it(void **unused)
{
	struct gmod_finding f = finding(GMOD_LEAK);

	(void)unused;
	report_one("", &f);
	expect("leak: a 4000-byte buffer is still allocated at exit\n");
	expect("next step: free it, or put a line leak:FUNCTION ");
	expect("SUMMARY: GMOD: leak device 0 size 4000 offset +0 the_caller ");
}

static void a_post_mortem_lists_what_was_going_on(void **unused)
{
	struct gmod_finding f = finding(GMOD_POST_MORTEM);
	struct gmod_buffer_facts near[20];

	(void)unused;
	for (int i = 0; i < 20; i++)
		near[i] = f.buffer;
	f.buffer = (struct gmod_buffer_facts){0};
	f.nearby = near;
	f.nearby_count = 20;
	f.unread = 3;
	f.error = 700;
	f.error_name = "CUDA_ERROR_ILLEGAL_ADDRESS";
	f.entry_point = "cuStreamSynchronize";
	f.suspect_count = 1;
	f.suspect[0] = (struct gmod_suspect){.launches = 1, .unfinished = 1, .stream = 0x10};
	report_one("", &f);
	expect(
	    "post-mortem: the GPU gave up with CUDA_ERROR_ILLEGAL_ADDRESS (700), first seen by cuStreamSynchronize, at "
	    "address 0x7f1f30000000\n");
	expect("\n    unfinished launches: unknown x1 on stream 0x10 (1 not proven complete)\n");
	expect("\n    near that address: 4000 bytes [0x7f1f30000000, 0x7f1f30000fa0) on device 0, backend unified, "
	       "allocation "
	       "#17, by the_caller test_report+0x");
	assert_int_equal(count("near that address"), GMOD_NEARBY_MAX);
	expect("\n    3 canaries could not be read any more\n");
	expect("\nSUMMARY: GMOD: post-mortem device 0 size 0 offset +0 CUDA_ERROR_ILLEGAL_ADDRESS\n");
}

/* ---- how often ---- */

static void a_provisional_report_has_no_summary(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	(void)unused;
	start("");
	f.status = GMOD_PROVISIONAL;
	report(&f);
	expect(" of a 4000-byte buffer [provisional, still being watched]\n");
	assert_int_equal(count("SUMMARY"), 0);
	assert_int_equal(gmod_report_findings(), 0);
	report(&f); /* said already */
	assert_int_equal(count("provisional"), 1);
	f.status = GMOD_FINAL;
	f.changed = 99;
	report(&f);
	expect("99 bytes changed, 0 bytes past the end of a 4000-byte buffer\n");
	assert_int_equal(count("SUMMARY"), 1);
	assert_int_equal(gmod_report_findings(), 1);
	report(&f);
	f.status = GMOD_PROVISIONAL;
	report(&f);
	assert_int_equal(count("SUMMARY"), 1);
	assert_int_equal(count("provisional"), 1);
	assert_int_equal(gmod_report_findings(), 1);
}

static void findings_past_the_cap_are_counted(void **unused)
{
	struct gmod_finding early = finding(GMOD_HEAP_BUFFER_OVERFLOW), late = finding(GMOD_HEAP_BUFFER_OVERFLOW), f;

	(void)unused;
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
	gmod_report_end(); /* nothing new to say */
	expect("GMOD: 4 findings were counted and not shown: 4 beyond max_reports=3, 0 of a site");
	assert_int_equal(count("not shown"), 1);
}

static void one_site_is_reported_ten_times(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW), other;

	(void)unused;
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
	expect("15 findings were counted and not shown: 0 beyond max_reports=100, 15 of a site that had been reported "
	       "10 times");
}

static void without_stacks_only_the_cap_limits(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	(void)unused;
	start("");
	f.buffer.allocated_at.depth = 0;
	for (int i = 0; i < 25; i++, f.id = next_id++)
		report(&f);
	assert_int_equal(count("SUMMARY"), 25);
	assert_int_equal(count("offset +0 -\n"), 25);
}

static void the_site_is_the_first_frame_of_the_program(void **unused)
{
	struct gmod_finding f = finding(GMOD_LEAK);

	(void)unused;
	f.buffer.allocated_at = (struct gmod_stack){4, {next_site++, cudaFakeAlloc(), another_caller(), the_caller()}};
	report_one("", &f);
	expect("offset +0 another_caller test_report+0x");
	f = finding(GMOD_LEAK);
	f.buffer.allocated_at = (struct gmod_stack){2, {next_site++, cudaFakeAlloc()}};
	report_one("", &f);
	expect("offset +0 -\n");
}

static void an_unknown_class_is_ignored(void **unused)
{
	struct gmod_finding f = finding(GMOD_CLASS_COUNT);

	(void)unused;
	assert_string_equal(report_one("", &f), "");
	assert_int_equal(gmod_report_findings(), 0);
	assert_string_equal(gmod_class_name(GMOD_CLASS_COUNT), "unknown");
	assert_string_equal(gmod_class_name(GMOD_INVALID_FREE), "invalid-free");
}

/* ---- suppressions ---- */

static void write_file(const char *path, const char *s)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, s, strlen(s)), strlen(s));
	close(fd);
}

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

static void suppressions_match_frames_and_kernels(void **unused)
{
	(void)unused;
	assert_true(quiet("heap-buffer-overflow:the_caller\n"));
	assert_true(quiet("# a comment\n\n  heap-buffer-overflow:the_*\r\n"));
	assert_true(quiet("*:*_caller"));
	assert_true(quiet("*:the*ll*r"));
	assert_true(quiet("*:test_report\n")); /* a module */
	assert_true(quiet("*:at::fill\n"));
	assert_true(quiet("*:_ZN2at4fill*\n"));
	assert_true(quiet("leak:*\n*:*\n"));
	assert_false(quiet("leak:the_caller\n"));
	assert_false(quiet("*:the_calle\n"));
	assert_false(quiet("*:he_caller\n"));
	assert_false(quiet("*:caller*\n"));
	assert_false(quiet("#*:*\n"));
	assert_false(quiet(""));
}

static void a_suppressed_site_stays_quiet_and_uncounted(void **unused)
{
	struct gmod_finding f = finding(GMOD_LEAK);
	struct gmod_run_summary s = {0};

	(void)unused;
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
	assert_int_equal(s.suppressed, 31);
	assert_int_equal(s.findings[GMOD_LEAK], 0);
}

static void bad_suppressions_are_named_once(void **unused)
{
	(void)unused;
	write_file("rules", "leak:x\nno colon\nheap:x\nleak:\n#ok\n:x\n\x1b[31m:x\n*:x");
	start("suppressions=rules");
	assert_int_equal(count("not a suppression"), 5);
	expect("GMOD: rules:2: not a suppression (CLASS:PATTERN, CLASS as in a report or *): no colon\n");
	expect("rules:3: ");
	expect("rules:4: ");
	expect("rules:6: ");
	expect("rules:7: not a suppression (CLASS:PATTERN, CLASS as in a report or *): \\x1b[31m:x\n");
	start("suppressions=missing");
	expect("GMOD: cannot read the suppressions file missing: nothing is suppressed\n");
	start("suppressions=.");
	expect("cannot read the suppressions file .:");
}

static void many_suppressions_are_cut_with_a_word(void **unused)
{
	char *rules = malloc(200001);

	(void)unused;
	for (int i = 0; i < 20000; i++)
		memcpy(rules + 10L * i, "leak:xxxx\n", 11);
	write_file("rules", rules);
	start("suppressions=rules");
	expect("rules: only the first 65535 bytes are read\n");
	expect("rules: only the first 512 suppressions are used\n");
	free(rules);
}

/* ---- JSON ---- */

static void json_has_the_same_facts(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	char id[64];

	(void)unused;
	f.suspect_count = 1;
	f.suspect[0] = (struct gmod_suspect){.name = "_Z7vec_addPfi",
					     .launches = 3,
					     .unfinished = 2,
					     .stream = 0x55d0,
					     .grid = {4, 1, 1},
					     .block = {256, 1, 1}};
	report_one("log_format=json", &f);
	assert_int_equal(json_lines(text), 1);
	snprintf(id, sizeof(id), "\"event\":\"finding\",\"pid\":%d,\"id\":%u,\"status\":\"final\"", (int)getpid(),
		 f.id);
	expect("{\"schema\":\"gmod-report-1\",");
	expect(id);
	expect(",\"class\":\"heap-buffer-overflow\",");
	expect(",\"device\":0,\"size\":4000,\"offset\":0,\"site\":\"the_caller test_report+0x");
	expect(",\"message\":\"16 bytes changed, 0 bytes past the end of a 4000-byte buffer\",");
	expect(",\"buffer\":{\"base\":\"0x7f1f30000000\",\"size\":4000,\"device\":0,\"memory\":\"device\",\"backend\":"
	       "\"unified\"");
	expect("\"frames\":[{\"module\":\"test_report\",\"offset\":\"0x");
	expect("\"function\":\"the_caller\",\"symbol\":\"the_caller\"}");
	expect(",\"observed\":\"41414141414141414141414141414141\",\"restored\":false,");
	expect("\"intact\":\"1970-01-01T12:31:07.102311000Z\",\"seen\":\"1970-01-01T12:31:07.103302000Z\"");
	expect("\"suspects\":[{\"kernel\":\"vec_add\",\"symbol\":\"_Z7vec_addPfi\",\"launches\":3,\"unfinished\":2,"
	       "\"stream\":\"0x55d0\",\"graph\":null,\"grid\":[4,1,1],\"block\":[256,1,1]}]");
	expect(",\"next_step\":\"compute-sanitizer ");
}

static void provisional_json_says_so(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_UNDERFLOW);

	(void)unused;
	start("log_format=json");
	f.status = GMOD_PROVISIONAL;
	report(&f);
	f.status = GMOD_FINAL;
	report(&f);
	assert_int_equal(json_lines(logged()), 2);
	assert_int_equal(count("\"status\":\"provisional\""), 1);
	assert_int_equal(count("\"status\":\"final\""), 1);
}

static void a_json_log_holds_only_json(void **unused)
{
	struct gmod_run_summary s = {.hooks_armed = 3};
	struct gmod_finding f;

	(void)unused;
	write_file("rules", "bad\n");
	start("log_format=json:max_reports=1:suppressions=rules");
	for (int i = 0; i < 3; i++) {
		f = finding(GMOD_LEAK);
		report(&f);
	}
	gmod_report_counts(&s);
	gmod_report_end();
	gmod_report_summary(&s);
	assert_int_equal(json_lines(logged()), 4);
	expect("\"event\":\"summary\"");
	expect("\"findings\":3,\"findings_by_class\":{\"heap-buffer-overflow\":0,");
	assert_int_equal(count("SUMMARY"), 0);
}

/* ---- hostile strings ---- */

static char long_name[10001];

static const char *const hostile[] = {
    "\x1b[2J\x1b]0;owned\x07",
    "kern\nSUMMARY: GMOD: heap-buffer-overflow device 0 size 1 offset +0 fake",
    "\xff\xfe\xc0\x80\xed\xa0\x80",
    "\"},{\"class\":\"fake\"\\",
    "\xe2\x80\xaeoverride\xe2\x80\xac",
    "a\rb\bc\x7f\xc2\x9b"
    "31m",
    "$(reboot) `reboot` 'q' \"q\" ; reboot",
    "_ZN\x1b"
    "3fooE",
    "_Z4\n\n\n\nv",
    "%s%n%s%n",
    "",
    long_name,
};

#define HOSTILE (sizeof(hostile) / sizeof(hostile[0]))

/* Strings of the program everywhere where a finding can hold one. */
static struct gmod_finding hostile_finding(enum gmod_class class, const char *s, struct gmod_buffer_facts *near)
{
	struct gmod_finding f = finding(class);

	for (int i = 0; i < GMOD_SUSPECTS_MAX; i++)
		f.suspect[i].name = s;
	f.suspect_count = GMOD_SUSPECTS_MAX;
	f.buffer.backend = f.entry_point = f.error_name = s;
	f.buffer.freed_ns = 1;
	*near = f.buffer;
	f.nearby = near;
	f.nearby_count = 1;
	return f;
}

static void hostile_names_stay_within_their_line(void **unused)
{
	struct gmod_buffer_facts near;

	(void)unused;
	memset(long_name, 'k', sizeof(long_name) - 1);
	for (size_t i = 0; i < HOSTILE; i++) {
		for (int class = 0; class < GMOD_CLASS_COUNT; class ++) {
			struct gmod_finding f = hostile_finding(class, hostile[i], &near);
			const char *line = report_one("", &f);

			assert_int_equal(strncmp(line, "==", 2), 0);
			for (const char *next; (next = strchr(line, '\n')); line = next + 1) {
				assert_true(next - line < 4096);
				assert_true(*line == ' ' || line == text || strncmp(line, "SUMMARY: ", 9) == 0);
			}
			assert_int_equal(*line, '\0');
			assert_true(count("\nSUMMARY: ") == 1);
			for (const unsigned char *c = (const unsigned char *)text; *c; c++)
				assert_true(*c == '\n' || (*c >= ' ' && *c <= '~'));
		}
	}
}

static void hostile_names_leave_json_valid(void **unused)
{
	struct gmod_buffer_facts near;

	(void)unused;
	for (size_t i = 0; i < HOSTILE; i++) {
		for (int class = 0; class < GMOD_CLASS_COUNT; class ++) {
			struct gmod_finding f = hostile_finding(class, hostile[i], &near);

			report_one("log_format=json", &f);
			assert_int_equal(json_lines(text), 1);
			assert_int_equal(count("\"class\":\"fake\""), 0);
			assert_null(strpbrk(text, "\x1b\x07\x7f"));
		}
	}
}

/* Wild counts and numbers, missing strings. */
static void senseless_findings_are_survived(void **unused)
{
	static const char *const format[] = {"", "log_format=json"};
	struct gmod_finding f;

	(void)unused;
	for (int i = 0; i < 2 * GMOD_CLASS_COUNT; i++) {
		memset(&f, 0, sizeof(f));
		f.class = i / 2;
		f.id = next_id++;
		f.status = GMOD_FINAL;
		report_one(format[i % 2], &f);
		assert_true(i % 2 ? json_lines(text) == 1 : count("SUMMARY") == 1);

		memset(&f, 0xff, sizeof(f));
		f.class = i / 2;
		f.id = next_id++;
		f.status = GMOD_FINAL;
		f.restored = true;
		f.buffer.backend = f.entry_point = f.error_name = NULL;
		f.nearby = NULL;
		f.nearby_count = 0;
		for (int s = 0; s < GMOD_SUSPECTS_MAX; s++)
			f.suspect[s].name = NULL;
		report_one(format[i % 2], &f);
		assert_true(i % 2 ? json_lines(text) == 1 : count("SUMMARY") == 1);
	}
}

/* What does not fit leaves an object that is whole, with the members that tell findings apart. */
static void json_too_long_is_shortened_not_broken(void **unused)
{
	static struct gmod_report_view v;
	static const struct gmod_class_row row = {.name = "leak"};
	struct gmod_finding f = finding(GMOD_LEAK);
	struct gmod_text t;

	(void)unused;
	v.finding = &f;
	v.class = &row;
	strcpy(v.site, "site");
	v.allocated.depth = GMOD_STACK_MAX;
	for (int i = 0; i < GMOD_STACK_MAX; i++)
		memset(v.allocated.frame[i].symbol, 1, GMOD_SYMBOL_NAME_MAX - 1);
	for (size_t cap = 600; cap < 100000; cap += 997) {
		char *out = malloc(cap);

		gmod_text_init(&t, out, cap);
		gmod_report_json(&v, &t);
		assert_int_equal(json_lines(out), 1);
		assert_non_null(strstr(out, "\"truncated\":true}\n"));
		assert_non_null(strstr(out, "\"site\":\"site\""));
		free(out);
	}
}

/* ---- in a process of its own ---- */

/* Run this program again to report itself, with these arguments; its stderr is then in the file "err". */
static void run_again(char *const arguments[])
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		int fd = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 2);
		execv(program, arguments);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static int report_yourself(const char *options)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	struct gmod_options o;

	gmod_options_defaults(&o);
	gmod_options_parse(&o, options, NULL, NULL);
	gmod_log_open("", o.log_format == GMOD_OPTION_LOG_JSON, 0);
	gmod_report_init(&o);
	f.suspect_count = 1;
	f.suspect[0].name = "_Z4kernv";
	f.buffer.allocated_at.depth = 2;
	gmod_report(&f);
	return 0;
}

/* The shell must read back, byte by byte, the arguments that the program was started with. */
static void the_suggested_command_is_quoted(void **unused)
{
	char *arguments[] = {"./my app",
			     "--report",
			     "",
			     "plain-1.2,3:4/5@6%7+8=9",
			     "it's",
			     "$(touch pwned) `touch pwned`",
			     "a;b&c|d>e<f*g?h[i]~",
			     "two\nlines\x1b[31m",
			     "\xc3\xa9\xff",
			     "back\\slash",
			     "q\"q",
			     "mix\x01'\\",
			     "!x",
			     NULL};
	char command[8192] = "exec 3>read; set -- ", *end;
	const char *s, *got;

	(void)unused;
	run_again(arguments);
	s = strstr(read_file("err"), "kernel_substring=kern ");
	assert_non_null(s);
	s += strlen("kernel_substring=kern ");
	strncat(command, s, strcspn(s, "\n"));
	assert_true(strcspn(s, "\n") < 4000);
	end = command + strlen(command);
	strcpy(end, "\nprintf '%s\\0' \"$@\" >&3");
	write_file("script", command);
	if (system("command -v bash >/dev/null") != 0)
		skip(); /* $'..' is not in every sh yet */
	assert_int_equal(system("bash ./script"), 0);
	got = read_file("read");
	for (char **a = arguments; *a; got += strlen(*a) + 1, a++)
		assert_string_equal(got, *a);
	assert_int_not_equal(access("pwned", F_OK), 0);
}

static void a_long_command_is_cut_visibly(void **unused)
{
	static char argument[3000];
	char *few[] = {"app", "--report", "", argument, NULL};
	const char *s;

	(void)unused;
	memset(argument, 'x', sizeof(argument) - 1);
	run_again(few);
	s = strstr(read_file("err"), "kernel_substring=kern ");
	assert_non_null(s);
	assert_int_equal(strncmp(s, "kernel_substring=kern app --report '' ...\n", 42), 0);
	memset(argument, '\x01', sizeof(argument) - 1);
	argument[900] = '\0'; /* it fits only unquoted */
	run_again(few);
	s = strstr(read_file("err"), "kernel_substring=kern ");
	assert_non_null(s);
	assert_int_equal(strncmp(s, "kernel_substring=kern app --report '' ...\n", 42), 0);
}

static void a_site_hash_is_the_same_in_every_run(void **unused)
{
	char *arguments[] = {"app", "--report", "log_format=json", NULL}, first[32];
	const char *s;

	(void)unused;
	run_again(arguments);
	assert_int_equal(json_lines(read_file("err")), 1);
	s = strstr(text, "\"site_hash\":\"");
	assert_non_null(s);
	memcpy(first, s + 13, 17);
	first[17] = '\0';
	assert_int_equal(strspn(first, "0123456789abcdef"), 16);
	run_again(arguments);
	s = strstr(read_file("err"), "\"site_hash\":\"");
	assert_non_null(s);
	assert_int_equal(memcmp(s + 13, first, 17), 0);
}

/* No address space left: the two lines that matter still come. */
static void a_report_needs_no_memory(void **unused)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	struct rlimit limit, none;
	int status;
	pid_t pid;

	(void)unused;
	start("");
	pid = fork();
	if (pid == 0) {
		getrlimit(RLIMIT_AS, &limit);
		none = limit;
		none.rlim_cur = 0;
		setrlimit(RLIMIT_AS, &none);
		gmod_report(&f);
		setrlimit(RLIMIT_AS, &limit);
		_exit(gmod_report_findings() == 1 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (!strstr(logged(), "no memory to say more"))
		skip(); /* a tool that needs memory itself stands between */
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	expect("heap-buffer-overflow: 16 bytes changed, 0 bytes past the end of a 4000-byte buffer (no memory to say "
	       "more)\n");
	expect("\nSUMMARY: GMOD: heap-buffer-overflow device 0 size 4000 offset +0 -\n");
}

/* ---- the closing line ---- */

static void the_closing_line_keeps_its_phrases(void **unused)
{
	struct gmod_run_summary s = {.hooks_armed = 90,
				     .buffers_guarded = 12,
				     .bytes_guarded = 48 << 20,
				     .bytes_asked = 48 << 20,
				     .sweeps = 210};

	(void)unused;
	start("");
	s.findings[GMOD_LEAK] = 3;
	gmod_report_summary(&s);
	expect("GMOD: guarded 12 of 12 buffers, 48.0 MiB of 48.0 MiB device memory (100.0 %); 210 sweeps; 3 findings "
	       "(leak 3); "
	       "0 degraded; 90 hooks armed\n");
	s.buffers_unprotected = 1;
	s.bytes_unprotected = 1;
	s.bytes_asked++;
	s.uncovered = 2;
	s.bytes_uncovered = 3 << 20;
	s.buffers_host = 4;
	s.bytes_host = 1536;
	s.suppressed = 5;
	s.lost_lines = 6;
	s.degraded = 7;
	gmod_report_summary(&s);
	expect("guarded 12 of 13 buffers, 48.0 MiB of 48.0 MiB device memory (99.9 %); "); /* not everything: not 100 */
	expect("; 7 degraded; 90 hooks armed; 4 pinned host buffers guarded (1.5 KiB); 2 allocations of pools, "
	       "mappings or "
	       "graphs not covered (3.0 MiB); 5 suppressed; 6 lines lost\n");
}

static void the_share_of_extremes_is_sane(void **unused)
{
	struct gmod_run_summary s = {0};

	(void)unused;
	start("");
	gmod_report_summary(&s);
	expect("guarded 0 of 0 buffers, 0 B of 0 B device memory (100.0 %); 0 sweeps; 0 findings; 0 degraded");
	s.bytes_guarded = 1ull << 61;
	s.bytes_asked = 1ull << 62;
	gmod_report_summary(&s);
	expect("2.0 EiB of 4.0 EiB device memory (50.0 %)");
	s.bytes_guarded = 0;
	gmod_report_summary(&s);
	expect("(0.0 %)");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(the_json_reader_is_strict),
	    cmocka_unit_test(an_overflow_reads_as_documented),
	    cmocka_unit_test(an_underflow_counts_from_the_start),
	    cmocka_unit_test(without_suspects_the_memory_decides_the_advice),
	    cmocka_unit_test(a_double_free_shows_both_frees),
	    cmocka_unit_test(an_invalid_free_says_what_the_address_is),
	    cmocka_unit_test(an_api_call_out_of_bounds_says_how_far),
	    cmocka_unit_test(a_leak_says_how_to_live_with_it),
	    cmocka_unit_test(a_post_mortem_lists_what_was_going_on),
	    cmocka_unit_test(a_provisional_report_has_no_summary),
	    cmocka_unit_test(findings_past_the_cap_are_counted),
	    cmocka_unit_test(one_site_is_reported_ten_times),
	    cmocka_unit_test(without_stacks_only_the_cap_limits),
	    cmocka_unit_test(the_site_is_the_first_frame_of_the_program),
	    cmocka_unit_test(an_unknown_class_is_ignored),
	    cmocka_unit_test(suppressions_match_frames_and_kernels),
	    cmocka_unit_test(a_suppressed_site_stays_quiet_and_uncounted),
	    cmocka_unit_test(bad_suppressions_are_named_once),
	    cmocka_unit_test(many_suppressions_are_cut_with_a_word),
	    cmocka_unit_test(json_has_the_same_facts),
	    cmocka_unit_test(provisional_json_says_so),
	    cmocka_unit_test(a_json_log_holds_only_json),
	    cmocka_unit_test(hostile_names_stay_within_their_line),
	    cmocka_unit_test(hostile_names_leave_json_valid),
	    cmocka_unit_test(senseless_findings_are_survived),
	    cmocka_unit_test(json_too_long_is_shortened_not_broken),
	    cmocka_unit_test(the_suggested_command_is_quoted),
	    cmocka_unit_test(a_long_command_is_cut_visibly),
	    cmocka_unit_test(a_site_hash_is_the_same_in_every_run),
	    cmocka_unit_test(a_report_needs_no_memory),
	    cmocka_unit_test(the_closing_line_keeps_its_phrases),
	    cmocka_unit_test(the_share_of_extremes_is_sane),
	};
	ssize_t n = readlink("/proc/self/exe", program, sizeof(program) - 1);

	if (argc > 2 && strcmp(argv[1], "--report") == 0)
		return report_yourself(argv[2]);
	program[n > 0 ? n : 0] = '\0';
	return cmocka_run_group_tests(tests, enter_directory, leave_directory);
}
