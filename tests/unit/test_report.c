/*
 * Reports: what they say.
 *
 * Run with --report it is the program that reports: it writes one overflow to stderr, so that the command it suggests
 * can be read back by a shell.
 */
#include <sys/resource.h>

#include "include/gmod.h"
#include "tests/unit/json_reader.h"
#include "monitor/report/text.h"
#include "tests/unit/reporting.h"
#include "tests/unit/support.h"

/* ---- text ---- */

TEST(an_overflow_reads_as_documented)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	char first[128];

	f.suspect_count = 2;
	f.suspect[0] = (struct gmod_suspect){.name = "_Z7vec_addPfi",
					     .launches = 3,
					     .unfinished = 2,
					     .stream = 0x55d0,
					     .first_ns = f.intact_ns,
					     .launched_ns = f.seen_ns,
					     .grid = {8, 2, 1},
					     .block = {1, 1, 4},
					     .pointer = {GMOD_POINTS_AT, 2, 0, 4000, 0}};
	f.suspect[1] = (struct gmod_suspect){.name = "scale",
					     .launches = 1,
					     .stream = 0x55d8,
					     .graph = 0x99,
					     .first_ns = f.seen_ns,
					     .launched_ns = f.seen_ns,
					     .pointer = {.pointing = GMOD_POINTS_UNKNOWN}};
	report_one("", &f);
	snprintf(first, sizeof(first),
		 "==%d==GMOD: heap-buffer-overflow: 16 bytes changed, 0 bytes past the end of a 4000-byte buffer "
		 "[finding %u]\n",
		 (int)getpid(), f.id);
	assert_int_equal(strncmp(logged(), first, strlen(first)), 0);
	expect(
	    "\n    buffer [0x7f1f30000000, 0x7f1f30000fa0) on device 0, backend unified, allocation #17, allocated ");
	expect(" s ago by thread 4242, fence site 0x");
	expect("\n      #0 the_caller  test_report+0x");
	expect("\n    written between 12:31:07.102311 (last seen intact) and 12:31:07.103302 UTC\n");
	expect(
	    "\n    suspects:\n      1. vec_add x3 on stream 1 (2 not proven complete), from 12:31:07.102311 to "
	    "12:31:07.103302, 8 x 2 blocks of 1 x 1 x 4 threads: argument 2 points into the buffer\n      2. scale x1 "
	    "on stream 2 in graph 0x99, at 12:31:07.103302: its arguments are not known\n    changed bytes");
	expect("\n    changed bytes at +0: 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41 41, where 00 00 00 00 00 "
	       "00 00 00 00 00 00 00 00 00 00 00 had been\n    process: host ");
	expect("\n    next step: gmod --exact ");
	expect("; or compute-sanitizer --tool memcheck --kernel-name kernel_substring=vec_add --kernel-name "
	       "kernel_substring=scale ");
	expect("\nSUMMARY: GMOD: heap-buffer-overflow device 0 size 4000 offset +0 the_caller test_report+0x");
	expect("\n    or, for the file of suppressions: heap-buffer-overflow:the_caller\n");
	expect("\n    process: host ");
	expect(", GMOD " GMOD_VERSION ", at 20");
	expect(" UTC, command ");
	expect("/unit/test_report\n    module /");
	expect("/test_report build-id ");
	assert_int_equal(count("\n    module /"), 1);
	assert_int_equal(count("\n"), 14);
}

/* Instances of a template, say. */
TEST(suspects_of_one_name_are_one)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.suspect_count = 6;
	f.suspect[0] = (struct gmod_suspect){.name = "_Z4kernIfEvT_",
					     .launches = 3,
					     .unfinished = 2,
					     .stream = 0x55d0,
					     .first_ns = f.seen_ns,
					     .launched_ns = f.seen_ns,
					     .pointer = {GMOD_POINTS_NEAR, 1, 16, 1, 0}};
	f.suspect[1] = (struct gmod_suspect){.name = "scale",
					     .launches = 1,
					     .stream = 0x55d8,
					     .first_ns = f.intact_ns,
					     .launched_ns = f.intact_ns,
					     .pointer = {.pointing = GMOD_POINTS_AWAY}};
	f.suspect[2] = (struct gmod_suspect){.name = "_Z4kernIiEvT_",
					     .launches = 4,
					     .unfinished = 1,
					     .stream = 0x55d0,
					     .first_ns = f.intact_ns,
					     .launched_ns = f.intact_ns};
	f.suspect[3] = (struct gmod_suspect){.launches = 1, .stream = 1, .pointer = {.pointing = GMOD_POINTS_UNKNOWN}};
	f.suspect[4] = f.suspect[3];
	f.suspect[4].graph = 0x99;
	f.suspect[5] = f.suspect[1];
	f.suspect[5].graph = 0x99;
	f.suspect[5].first_ns = f.suspect[5].launched_ns = 0;
	f.suspect[6] = (struct gmod_suspect){.name = "part", .launches = 5, .stream = 1};
	f.suspect[6].first_ns = f.suspect[6].launched_ns = f.seen_ns;
	f.suspect[6].pointer.pointing = GMOD_POINTS_UNKNOWN;
	f.suspect_count = 7;
	report_one("", &f);
	expect("      5. part x5 on the default stream, at 12:31:07.103302: its arguments are not known\n");
	expect("\n    suspects:\n      1. kern x7 on stream 1 (3 not proven complete), from 12:31:07.102311 to "
	       "12:31:07.103302: argument 1 at byte 16 points 1 byte in front\n      2. scale x2 on several streams, "
	       "from 12:31:07.102311, its call has not returned: no argument of it points there\n      3. unknown x1 "
	       "on the default stream, its call has not returned: its arguments are not known\n      4. unknown x1 on "
	       "the default stream in graph 0x99, its call");
}

TEST(a_stream_keeps_its_short_name)
{
	assert_int_equal(gmod_stream_number(0x4711000), gmod_stream_number(0x4711000));
	assert_int_equal(gmod_stream_number(0x4712000), gmod_stream_number(0x4711000) + 1);
	for (uint64_t i = 0; i < 1100; i++)
		gmod_stream_number(0x5000000 + i);
	assert_int_equal(gmod_stream_number(0x6000000), 0);
	assert_int_not_equal(gmod_stream_number(0x4712000), 0);
}

TEST(an_underflow_counts_from_the_start)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_UNDERFLOW);

	f.offset = -3;
	f.changed = 1;
	f.extent = 3;
	f.observed_count = 3;
	f.restored = true;
	report_one("", &f);
	expect("heap-buffer-underflow: 1 byte changed, 3 bytes before the start of a 4000-byte buffer [finding ");
	expect("changed bytes at -3: 41 41 41, where 00 00 00 had been (1 of 3 bytes) (put back since)\n");
	expect("SUMMARY: GMOD: heap-buffer-underflow device 0 size 4000 offset -3 the_caller ");
}

/* What not every overflow has, in the order of the lines. */
TEST(an_overflow_shows_all_that_is_known)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	const char *line;

	f.buffer.memory = GMOD_MEM_KERNEL;
	f.buffer.device = 5;
	f.buffer.allocated_ns = 0;
	f.buffer.allocated_by = (struct gmod_kernel_thread){true, 6, 7};
	f.buffer.freed_ns = 1;
	f.buffer.freed_tid = 8;
	f.buffer.freed_at = (struct gmod_stack){.depth = 1, .pc = {another_caller()}};
	f.intact_ns = 0;
	f.suspect_count = 2;
	f.suspect[0] = (struct gmod_suspect){.launches = 9, .stream = 2, .first_ns = f.seen_ns};
	f.suspect[1] = (struct gmod_suspect){
	    .name = "second", .launches = 10, .stream = 1, .first_ns = f.seen_ns, .launched_ns = f.seen_ns};
	f.suspects_omitted = 11;
	f.launches_lost = 12;
	f.unknown_before_ns = f.seen_ns;
	f.changed = 13;
	f.extent = 14;
	f.observed_count = 2;
	f.past_front = 1;
	f.front_size = 15;
	report_one("", &f);
	line = strstr(
	    text, "0fa0) from mallocN on device 5, backend unified, allocation #17, allocated by mallocN in thread 7 "
		  "of block 6 of a kernel, fence site 0x");
	assert_non_null(line);
	line = strstr(line, "\n      #0 the_caller ");
	assert_non_null(line);
	line = strstr(line, "\n    freed ");
	assert_non_null(line);
	assert_non_null(strstr(line, " s ago by thread 8\n      #0 another_caller "));
	line =
	    strstr(line, "\n    written before 12:31:07.103302 UTC\n    incomplete: 11 more kernels were under way and "
			 "not listed here; 12 "
			 "launches were of kernels that found no place to be counted; kernels launched before "
			 "12:31:07.103302 UTC may be missing\n    suspects:\n      1. unknown x9 on the per-thread "
			 "stream, from 12:31:07.103302, its call has not returned\n      2. second x10 on the default "
			 "stream, at 12:31:07.103302\n    changed bytes at +0: 41 41 .., where 00 00 .. had been (13 "
			 "of 14 bytes)\n    "
			 "which is 1 byte past the end "
			 "of the 15-byte buffer in front of it\n    process: host ");
	assert_non_null(line);
}

TEST(a_double_free_shows_both_frees)
{
	struct gmod_finding f = finding(GMOD_DOUBLE_FREE);
	const char *s;

	f.buffer.freed_ns = 1;
	f.buffer.freed_tid = 7;
	f.buffer.freed_at = (struct gmod_stack){.depth = 1, .pc = {the_caller()}};
	f.entry_point = "cuMemFree_v2";
	f.called_at = (struct gmod_stack){.depth = 1, .pc = {another_caller()}};
	f.called_tid = 8;
	f.error = 1;
	f.error_name = "CUDA_ERROR_INVALID_VALUE";
	report_one("", &f);
	expect("double-free: cuMemFree_v2(0x7f1f30000000) of a 4000-byte buffer that had been freed [finding ");
	s = strstr(text, "\n    first freed ");
	assert_non_null(s);
	assert_non_null(strstr(s, " s ago by thread 7\n      #0 the_caller  "));
	s = strstr(s, "\n    freed again by cuMemFree_v2 in thread 8; the program got CUDA_ERROR_INVALID_VALUE (1)\n");
	assert_non_null(s);
	assert_non_null(strstr(s, "      #0 another_caller  "));
	expect("SUMMARY: GMOD: double-free device 0 size 4000 offset +0 another_caller ");
	assert_int_equal(count("suspects"), 0);
	expect("the address may belong to another buffer by now\n");
}

TEST(a_double_free_in_a_sample_may_be_of_another_buffer)
{
	struct gmod_finding f = finding(GMOD_DOUBLE_FREE);

	f.buffer.freed_ns = 1;
	f.buffer.site_allocations = 20;
	f.buffer.site_guarded = 2;
	report_one("", &f);
	expect("belong to another buffer by now; GMOD guards a sample, so the first free may be an earlier buffer's\n");
}

TEST(a_free_behind_the_end_of_the_context_says_so)
{
	struct gmod_finding f = finding(GMOD_DOUBLE_FREE);

	f.buffer.freed_ns = 1;
	f.buffer.freed_tid = 7;
	f.buffer.freed_at = (struct gmod_stack){.depth = 1, .pc = {the_caller()}};
	f.buffer.ended = true;
	f.entry_point = "cuMemFree_v2";
	report_one("", &f);
	expect(
	    "double-free: cuMemFree_v2(0x7f1f30000000) of a 4000-byte buffer that had gone with its context [finding ");
	expect(" s ago by thread 7\n      #0 the_caller  ");
	expect("\n    freed with its context ");
	expect("next step: free it before cudaDeviceReset or the like ends its context; ");
}

TEST(an_invalid_free_says_what_the_address_is)
{
	struct gmod_finding f = finding(GMOD_INVALID_FREE);

	f.entry_point = "cuMemFree_v2";
	f.offset = 256;
	f.address += 256;
	report_one("", &f);
	expect(
	    "invalid-free: cuMemFree_v2(0x7f1f30000100) of an address 256 bytes inside a 4000-byte buffer [finding ");
	expect("next step: free the address that the allocation returned, 0x7f1f30000000\n");
	expect("offset +256 the_caller ");
	f = finding(GMOD_INVALID_FREE);
	f.buffer = (struct gmod_buffer_facts){0};
	f.entry_point = "cuMemFreeHost";
	report_one("", &f);
	expect("invalid-free: cuMemFreeHost(0x7f1f30000000) of an address that no allocation returned [finding ");
	expect("SUMMARY: GMOD: invalid-free -\n");
	assert_int_equal(count("    buffer "), 0);
	f = finding(GMOD_INVALID_FREE);
	f.entry_point = "cuMemFreeHost";
	report_one("", &f);
	expect("invalid-free: cuMemFreeHost(0x7f1f30000000) of a 4000-byte buffer that another call frees [finding ");
	expect("next step: free it with the counterpart of the call that allocated it\n");
}

TEST(an_api_call_out_of_bounds_says_how_far)
{
	struct gmod_finding f = finding(GMOD_API_OUT_OF_BOUNDS);

	f.entry_point = "cuMemsetD8_v2";
	f.length = 4096;
	f.error = 1;
	f.error_name = "CUDA_ERROR_INVALID_VALUE";
	f.called_at = (struct gmod_stack){.depth = 1, .pc = {another_caller()}};
	report_one("", &f);
	expect("cuMemsetD8_v2 asked for 4096 bytes at 0x7f1f30000000, up to 96 bytes past the end of a 4000-byte "
	       "buffer [finding ");
	expect("the program got CUDA_ERROR_INVALID_VALUE (1)\n");
	expect("offset +0 another_caller ");
	f.id = next_id++;
	f.address += 5000;
	f.offset = 1000;
	report_one("", &f);
	expect("offset +1000 another_caller ");
	f.id = next_id++;
	f.address = f.buffer.base - 8;
	f.offset = -8;
	report_one("", &f);
	expect("from 8 bytes before the start of a 4000-byte buffer [finding ");
	expect("offset -8 another_caller ");
	f.id = next_id++;
	f.address = f.buffer.base - 1;
	report_one("", &f);
	expect("from 1 byte before the start ");
	f.id = next_id++;
	f.address = f.buffer.base;
	f.length = f.buffer.size + 1;
	report_one("", &f);
	expect("up to 1 byte past the end ");
	f = finding(GMOD_API_OUT_OF_BOUNDS);
	f.length = UINT64_MAX;
	report_one("", &f);
	expect("past the end of all memory");
}

TEST(a_leak_says_how_to_live_with_it)
{
	struct gmod_finding f = finding(GMOD_LEAK);

	report_one("", &f);
	expect("leak: a 4000-byte buffer is still allocated at exit [finding ");
	expect("next step: free it\n    or, for the file of suppressions: leak:the_caller\n");
	expect("SUMMARY: GMOD: leak device 0 size 4000 offset +0 the_caller ");
}

TEST(a_post_mortem_lists_what_was_going_on)
{
	struct gmod_finding f = finding(GMOD_POST_MORTEM);
	struct gmod_buffer_facts near[GMOD_NEARBY_MAX];

	for (int i = 0; i < GMOD_NEARBY_MAX; i++)
		near[i] = f.buffer;
	f.buffer = (struct gmod_buffer_facts){0};
	f.nearby = near;
	f.nearby_count = GMOD_NEARBY_MAX;
	f.error = 700;
	f.error_name = "CUDA_ERROR_ILLEGAL_ADDRESS";
	f.entry_point = "cuStreamSynchronize";
	f.suspect_count = 1;
	f.suspect[0] = (struct gmod_suspect){
	    .launches = 1, .unfinished = 1, .stream = 1, .first_ns = f.seen_ns, .launched_ns = f.seen_ns};
	report_one("", &f);
	expect("post-mortem: the GPU gave up with CUDA_ERROR_ILLEGAL_ADDRESS (700), first seen by cuStreamSynchronize "
	       "[finding ");
	expect("\n    unfinished launches:\n      1. unknown x1 on the default stream (1 not proven complete), at "
	       "12:31:07.103302\n    live");
	expect("\n    live buffer: 4000 bytes [0x7f1f30000000, 0x7f1f30000fa0) on device 0, backend unified, "
	       "allocation "
	       "#17, by the_caller test_report+0x");
	assert_int_equal(count("live buffer: "), GMOD_NEARBY_MAX);
	/* Which costs nothing, where memcheck would take many times as long. */
	expect("\n    next step: gmod --exact ");
	expect("\nSUMMARY: GMOD: post-mortem CUDA_ERROR_ILLEGAL_ADDRESS\n");
}

/* ---- in a process of its own ---- */

/* Run this program again to report itself, with these arguments; where in what it reports are these words? */
static const char *run_again(char *const arguments[], const char *words)
{
	pid_t pid = fork();
	const char *found;
	int status;

	if (pid == 0) {
		int fd = open("err", O_WRONLY | O_CREAT | O_TRUNC, 0600);

		dup2(fd, 2);
		execv(program, arguments);
		_exit(127);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	found = strstr(read_file("err"), words);
	assert_non_null(found);
	return found;
}

static int report_yourself(char **argv)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	start_with(argv[2], "");
	f.suspect_count = 1;
	f.suspect[0].name = "_Z4kernv";
	f.buffer.allocated_at.depth = 2;
	gmod_report(&f);
	return 0;
}

/* The shell must read back, byte by byte, the arguments that the program was started with. */
TEST(the_suggested_command_is_quoted)
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

	s = run_again(arguments, "kernel_substring=kern ") + strlen("kernel_substring=kern ");
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

TEST(a_long_command_is_cut_visibly)
{
	static char argument[3000];
	char *few[] = {"app", "--report", "", argument, NULL};

	memset(argument, 'x', sizeof(argument) - 1);
	run_again(few, "kernel_substring=kern app --report '' ...\n");
	memset(argument, '\x01', sizeof(argument) - 1);
	argument[900] = '\0'; /* it fits only unquoted */
	run_again(few, "kernel_substring=kern app --report '' ...\n");
}

TEST(a_site_hash_is_the_same_in_every_run)
{
	char *arguments[] = {"app", "--report", "log_format=json", NULL}, first[32];
	const char *s = run_again(arguments, "\"site_hash\":\"");

	assert_int_equal(json_lines(text), 1);
	memcpy(first, s + 13, 17);
	first[17] = '\0';
	assert_int_equal(strspn(first, "0123456789abcdef"), 16);
	s = run_again(arguments, "\"site_hash\":\"");
	assert_int_equal(memcmp(s + 13, first, 17), 0);
}

/* No address space left: a report comes all the same, as it is otherwise. */
TEST(a_report_needs_no_memory)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	struct rlimit none;
	int status;
	pid_t pid;

	start("");
	pid = fork();
	if (pid == 0) {
		getrlimit(RLIMIT_AS, &none);
		none.rlim_cur = 0;
		setrlimit(RLIMIT_AS, &none);
		gmod_report(&f);
		_exit(gmod_report_findings() == 1 ? 0 : 1);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
	expect("heap-buffer-overflow: 16 bytes changed, 0 bytes past the end of a 4000-byte buffer [finding ");
	expect("\n    next step: ");
	expect("\nSUMMARY: GMOD: heap-buffer-overflow device 0 size 4000 offset +0 ");
}

/* ---- in a thread that is cancelled ---- */

static _Atomic bool reporting;

static void *report_and_wait(void *f)
{
	pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
	reporting = true;
	gmod_report(f);
	for (;;)
		pause();
	return NULL;
}

/* It is made whole, or not begun: then it can still be made. */
TEST(a_report_is_not_cut_short)
{
	enum { ROUNDS = 300 };

#if SANITIZED
	skip(); /* they keep no account of stacks that are left so */
#endif
	start("max_reports=1000");
	for (int i = 0; i < ROUNDS; i++) {
		struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
		pthread_t thread;

		reporting = false;
		thread = begin_thread(report_and_wait, &f);
		while (!reporting)
			;
		for (volatile int n = 0; n < 1000 * i; n++)
			;
		assert_int_equal(pthread_cancel(thread), 0);
		assert_ptr_equal(end_thread(thread), PTHREAD_CANCELED);
		report(&f);
	}
	assert_int_equal(gmod_report_findings(), ROUNDS);
	assert_int_equal(count("\nSUMMARY: "), ROUNDS);
	assert_int_equal(count("\n    next step: "), ROUNDS);
}

static int (*main_with_arguments)(char **argv) = report_yourself;
