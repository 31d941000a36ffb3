/*
 * Faults of the GPU: what a report says of them, in text and in JSON, and no more than is known.
 *
 * Run with --report OPTIONS it reports some to stderr, for tests/scripts/report_faults.sh.
 */
#include "lib/base/clock.h"
#include "tests/unit/json_reader.h"
#include "tests/unit/reporting.h"

static const struct gmod_fault past_the_end = {
    .kind = GMOD_FAULT_ILLEGAL_ADDRESS,
    .driver_kind = 14,
    .places = 2,
    .capability = 90,
    .has_pc = true,
    .has_instruction = true,
    .pc = 0x7fab00000170,
    .kernel = "_Z12scale_kernelPfi",
    .offset = 0x170,
    .instruction = {0x0000000402047981, 0x000ea8000c1e1900},
    .has_operand = true,
    .operand = {GMOD_ACCESS_LOAD, GMOD_SPACE_GLOBAL, 16, 2, true, 1, 0},
    .at = {{"/home/u", "row.cuh", "_Z3rowPfi", 7}, {NULL, "/home/u/scale.cu", NULL, 20}},
    .lines = 2,
    .has_grid = true,
    .grid = {2048, 1, 1},
    .block_size = {128, 1, 1},
    .launched_tid = 4243,
    .parameters = {(const unsigned char *)"\x01\x02\xff", 3},
    .warps = 6,
    .block = {1024, 0, 0},
    .lane_count = 32,
    .lane = {[5] = {{64, 0, 0}, true, 0x7f1f300013a0}},
};

static struct gmod_finding fault_finding(const struct gmod_fault *fault)
{
	struct gmod_finding f = finding(GMOD_GPU_FAULT);

	f.fault = fault;
	f.fault_lane = 5;
	f.related = GMOD_PAST_END;
	f.offset = 1024;
	f.address = fault->lane[5].address;
	f.suspect_count = 1;
	f.suspect[0] = (struct gmod_suspect){.name = fault->kernel,
					     .launches = 3,
					     .unfinished = 1,
					     .stream = 1,
					     .first_ns = f.intact_ns,
					     .launched_ns = f.seen_ns,
					     .grid = {2048, 1, 1},
					     .block = {128, 1, 1}};
	return f;
}

static void expect_none(const char *words)
{
	assert_int_equal(count(words), 0);
}

TEST(a_read_past_the_end_says_all)
{
	struct gmod_finding f = fault_finding(&past_the_end);

	report_one("", &f);
	expect("GMOD: gpu-fault: illegal address: read of 16 bytes, 1024 bytes past the end of a 4000-byte buffer "
	       "[finding ");
	expect("]\n    in kernel scale_kernel, at /home/u/row.cuh:7 in row\n      inlined at /home/u/scale.cu:20\n    "
	       "instruction scale_kernel+0x170 at 0x7fab00000170: 0x0000000402047981 0x000ea8000c1e1900 of sm_90, the "
	       "first of 2 that faulted\n    block (1024,0,0), thread (64,0,0); 32 threads of that warp, 6 warps in "
	       "all\n    grid of 2048 blocks of 128 threads, launched by thread 4243\n    address 0x7f1f300013a0\n    "
	       "the program's context is lost, as it would be without GMOD (exception 14 of the driver)\n    buffer "
	       "[0x7f1f30000000, 0x7f1f30000fa0) on device 0, ");
	expect("\n      #0 the_caller  test_report_fault+0x");
	expect("\n    launches of the kernel:\n      1. scale_kernel x3 on the default stream (1 not proven complete), "
	       "from 12:31:07.102311 to 12:31:07.103302, 2048 blocks of 128 threads\n    process: ");
	expect("\n    next step: look what thread (64,0,0) of block (1024,0,0) does at /home/u/row.cuh:7 in row; the "
	       "next run may show other bugs\n    "
	       "or, for the file of suppressions: gpu-fault:scale_kernel\n");
	expect("\nSUMMARY: GMOD: gpu-fault device 0 size 4000 offset +1024 scale_kernel+0x170 at /home/u/row.cuh:7 in "
	       "row\n");
}

TEST(json_has_a_member_for_each)
{
	struct gmod_finding f = fault_finding(&past_the_end);

	report_one("log_format=json", &f);
	assert_int_equal(json_lines(text), 1);
	expect(",\"class\":\"gpu-fault\",");
	expect(",\"offset\":1024,\"site\":\"scale_kernel+0x170\",\"message\":\"illegal address: read of 16 bytes, ");
	expect(",\"corruption\":null,\"fault\":{\"kind\":\"illegal-address\",\"driver_kind\":14,\"kernel\":\"scale_"
	       "kernel\",\"symbol\":\"_Z12scale_kernelPfi\",\"function\":null,\"offset\":\"0x170\",\"pc\":"
	       "\"0x7fab00000170\",\"instruction\":[\"0x0000000402047981\",\"0x000ea8000c1e1900\"],\"access\":\"load\","
	       "\"bytes\":16,\"address\":\"0x7f1f300013a0\",\"relation\":\"past-end\",\"distance\":1024,\"lines\":[{"
	       "\"file\":\"/home/u/row.cuh\",\"line\":7,\"function\":\"row\"},{\"file\":\"/home/u/"
	       "scale.cu\",\"line\":20,\"function\":null}],\"grid\":[2048,1,1],\"block_size\":[128,1,1],\"block\":["
	       "1024,0,0],\"thread\":[64,0,0],\"warps\":6,\"threads\":32,\"places\":2,\"launched_tid\":4243,"
	       "\"parameters\":\"0102ff\",\"capability\":90},\"call\":null,");
}

TEST(json_keeps_parameters_short)
{
	static unsigned char parameters[4096];
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f = fault_finding(&fault);
	const char *begin;

	fault.parameters = (struct gmod_bytes){parameters, sizeof(parameters)};
	begin = strstr(report_one("log_format=json", &f), "\"parameters\":\"");
	assert_non_null(begin);
	assert_int_equal(strspn(begin + 14, "0"), 512);
	assert_int_equal(json_lines(text), 1);
}

static void hash_of(const struct gmod_fault *fault, char hash[17])
{
	struct gmod_finding f = fault_finding(fault);
	const char *begin = strstr(report_one("log_format=json", &f), "\"site_hash\":\"");

	assert_non_null(begin);
	snprintf(hash, 17, "%.16s", begin + 13);
}

TEST(each_instruction_is_a_site)
{
	struct gmod_fault fault = past_the_end;
	char hashes[3][17];

	hash_of(&fault, hashes[0]);
	hash_of(&fault, hashes[1]);
	fault.offset += 16;
	hash_of(&fault, hashes[2]);
	assert_string_equal(hashes[0], hashes[1]);
	assert_string_not_equal(hashes[0], hashes[2]);
}

TEST(a_store_whose_warp_has_left_has_no_thread)
{
	struct gmod_fault fault = past_the_end;
	struct gmod_buffer_facts near;
	struct gmod_finding f;

	fault.operand.access = GMOD_ACCESS_STORE;
	fault.has_grid = false;
	fault.launched_tid = fault.warps = fault.lane_count = 0;
	f = fault_finding(&fault);
	near = f.buffer;
	f.buffer = (struct gmod_buffer_facts){0};
	f.related = GMOD_NOT_RELATED;
	f.nearby = &near;
	f.nearby_count = 1;
	report_one("", &f);
	expect("\n    the address is not certain, and so no buffer is named; those that live, the latest first:\n");
	expect("gpu-fault: illegal address: write of 16 bytes [finding ");
	expect("that faulted\n    which thread it was is not known: its warp had left\n    the program's context");
	expect("\n    live buffer: 4000 bytes [0x7f1f30000000, ");
	expect("\n    next step: look at /home/u/row.cuh:7 in row; the next run may show other bugs\n");
	expect("\nSUMMARY: GMOD: gpu-fault scale_kernel+0x170 at /home/u/row.cuh:7 in row\n");
	expect_none("grid of");
	expect_none("    address");
	expect_none("    buffer");
	f.id = next_id++;
	report_one("log_format=json", &f);
	expect(",\"access\":\"store\",\"bytes\":16,\"address\":null,\"relation\":null,\"distance\":null,");
	expect(",\"grid\":null,\"block_size\":null,\"block\":null,\"thread\":null,\"warps\":0,\"threads\":0,");
	expect_none("nearby_given");
	assert_int_equal(json_lines(text), 1);
	f.id = next_id++;
	f.nearby_given = GMOD_GIVEN;
	report_one("log_format=json", &f);
	expect(",\"nearby_given\":\"arguments\",\"nearby\":[{\"base\":\"0x7f1f30000000\",");
	assert_int_equal(json_lines(text), 1);
	f.id = next_id++;
	report_one("", &f);
	expect(" named; those that the kernel's arguments point into, the latest first:\n"
	       "    buffer of an argument: 4000 bytes [0x7f1f30000000, ");
	expect_none("live buffer");
	f.id = next_id++;
	f.nearby_given = GMOD_GIVEN_TO_LAUNCHES;
	report_one("", &f);
	expect(" named; those that its latest launches were given, the latest first:\n    buffer of a launch: 4000 "
	       "bytes ");
	expect_none("freed");
	f.id = next_id++;
	near.freed_ns = 1;
	report_one("", &f);
	expect(", allocation #17, freed since, by the_caller ");
	f.id = next_id++;
	report_one("log_format=json", &f);
	expect(",\"freed\":true,\"site\":\"the_caller ");
	assert_int_equal(json_lines(text), 1);
}

/* The driver marks all lanes that were active: without addresses nobody knows which one it was. */
TEST(one_of_several_threads_is_not_blamed)
{
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f;

	fault.lane[5].has_address = false;
	f = fault_finding(&fault);
	report_one("", &f);
	expect("illegal address: read of 16 bytes [finding ");
	expect("\n    block (1024,0,0), thread (64,0,0) or another one; 32 threads of that warp, 6 warps in all\n");
	expect("next step: look at /home/u/row.cuh:7 in row; the next run may show other bugs\n");
	fault.lane[0] = fault.lane[5];
	fault.lane_count = fault.warps = 1;
	f.fault_lane = 0;
	f.id = next_id++;
	report_one("", &f);
	expect("\n    block (1024,0,0), thread (64,0,0); 1 thread of that warp, 1 warp in all\n");
}

TEST(without_lines_it_says_how_to_have_them)
{
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f;

	fault.lines = 0;
	fault.function = "_Z6helperPf";
	f = fault_finding(&fault);
	report_one("", &f);
	expect("\n    in kernel scale_kernel, function helper\n    instruction helper+0x170 at ");
	expect("\n    next step: build with -lineinfo (nvcc, NVRTC; numba: lineinfo=True) to have the line named\n");
	expect("offset +1024 helper+0x170\n");
	f.id = next_id++;
	report_one("log_format=json", &f);
	expect(",\"function\":\"helper\",");
	expect(",\"lines\":[],");
}

TEST(the_address_is_told_as_it_lies)
{
	struct gmod_finding f = fault_finding(&past_the_end);

	f.related = GMOD_BEFORE_START;
	f.offset = -8;
	report_one("", &f);
	expect("read of 16 bytes, 8 bytes before the start of a 4000-byte buffer [finding ");
	f.id = next_id++;
	f.related = GMOD_INSIDE;
	f.offset = 1;
	f.buffer.freed_ns = 1;
	f.buffer.freed_tid = 8;
	f.buffer.freed_at = (struct gmod_stack){.depth = 1, .pc = {another_caller()}};
	report_one("", &f);
	expect("read of 16 bytes, 1 byte inside a 4000-byte buffer that had been freed [finding ");
	expect(" s ago by thread 8\n      #0 another_caller ");
	f.id = next_id++;
	f.related = GMOD_NOT_RELATED;
	f.buffer = (struct gmod_buffer_facts){0};
	report_one("", &f);
	expect("read of 16 bytes, near no buffer that GMOD knows [finding ");
	expect("\n    address 0x7f1f300013a0\n");
}

TEST(each_kind_has_its_words)
{
	static const char *const words[] = {
	    "exception 99",
	    "illegal address",
	    "misaligned address",
	    "out of the range of shared or local memory",
	    "wrong kind of memory for the instruction",
	    "illegal instruction",
	    "stack overflow",
	    "assertion",
	    "trap or breakpoint",
	};
	char title[128];

	for (size_t kind = 0; kind < SIZE_OF(words); kind++) {
		struct gmod_fault fault = {.kind = (enum gmod_fault_kind)kind, .driver_kind = 99, .kernel = "k"};
		struct gmod_finding f = fault_finding(&fault);

		fault.offset = kind; /* another site */
		report_one("", &f);
		snprintf(title, sizeof(title), "GMOD: gpu-fault: %s [finding ", words[kind]);
		expect(title);
		expect("]\n    in kernel k\n    which thread it was is not known\n    the program's context");
		expect("next step: compute-sanitizer --tool memcheck --kernel-name kernel_substring=k ");
		expect("offset +1024 k\n");
	}
}

TEST(shared_memory_is_near_no_buffer)
{
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f;

	fault.kind = GMOD_FAULT_OUT_OF_RANGE;
	fault.offset = 0x180; /* sites are remembered */
	fault.operand = (struct gmod_operand){.access = GMOD_ACCESS_ATOMIC, .space = GMOD_SPACE_SHARED, .bytes = 1};
	f = fault_finding(&fault);
	f.related = GMOD_NOT_RELATED;
	report_one("", &f);
	expect("shared or local memory: atomic access of 1 byte of shared memory [finding ");
}

TEST(a_fault_of_which_nothing_is_known)
{
	struct gmod_fault fault = {.has_pc = true, .pc = 0x170};
	struct gmod_finding f = finding(GMOD_GPU_FAULT);

	f.buffer = (struct gmod_buffer_facts){0};
	f.fault = &fault;
	report_one("", &f);
	expect("\n    in kernel unknown\n    instruction - at 0x170\n");
	expect("\n    unfinished launches: none known\n");
	expect("\nSUMMARY: GMOD: gpu-fault -\n");
	expect_none("suppressions");
	f.id = next_id++;
	report_one("log_format=json", &f);
	expect(",\"site_hash\":null,");
	expect(",\"kernel\":null,\"symbol\":null,");
}

/* The call that got the error is one thing, the access another. */
TEST(the_address_is_not_the_calls)
{
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f = fault_finding(&fault);

	fault.offset = 0x190;
	f.entry_point = "cuStreamSynchronize";
	f.error = 700;
	f.error_name = "CUDA_ERROR_ILLEGAL_ADDRESS";
	f.length = 16;
	report_one("log_format=json", &f);
	expect("\"call\":{\"entry_point\":\"cuStreamSynchronize\",\"address\":\"0x0\",\"length\":0,");
}

TEST(paths_are_long)
{
	static char directory[301], file[301];
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f = fault_finding(&fault);
	char joined[700];

	fault.offset = 0x1a0;
	memset(directory, 'd', 300);
	memset(file, 'f', 200);
	memcpy(file + 200, ".cu", 4);
	fault.at[0] = (struct gmod_fault_line){directory, file, NULL, 3};
	snprintf(joined, sizeof(joined), "%s/%s:3\n", directory, file);
	report_one("", &f);
	expect(joined);
	for (const char *line = text, *next; (next = strchr(line, '\n')); line = next + 1)
		assert_true(next - line < 4096);
}

TEST(it_is_suppressed_by_kernel_function_and_file)
{
	static const char *const covers[] = {
	    "gpu-fault:scale_kernel", "gpu-fault:_Z12scale_kernelPfi", "*:scale_*",
	    "gpu-fault:row",          "gpu-fault:*/row.cuh",           "gpu-fault:helper",
	    "gpu-fault:helper+0x7000"};
	static const char *const leaves[] = {"gpu-fault:other", "post-mortem:*", "gpu-fault:scale_kernel && other"};
	struct gmod_fault fault = past_the_end;
	struct gmod_finding f;

	fault.function = "helper";
	for (size_t i = 0; i < SIZE_OF(covers); i++) {
		f = fault_finding(&fault);
		fault.offset = 0x1000 * (i + 1); /* what a line has covered stays so */
		write_file("rules", covers[i]);
		report_one("suppressions=rules", &f);
		expect_none("SUMMARY");
		assert_int_equal(gmod_report_findings(), 0);
	}
	fault.offset++;
	for (size_t i = 0; i < SIZE_OF(leaves); i++) {
		f = fault_finding(&fault);
		write_file("rules", leaves[i]);
		report_one("suppressions=rules", &f);
		assert_int_equal(count("SUMMARY"), 1);
	}
}

/* ---- in a process of its own ---- */

static int report_some(char **argv)
{
	struct gmod_fault left = past_the_end, nowhere = past_the_end, nothing = {.driver_kind = 99};
	const struct gmod_fault *const faults[] = {&past_the_end, &left, &nowhere, &nothing};

	left.lines = left.lane_count = left.warps = 0;
	left.has_grid = false;
	left.launched_tid = 0;
	left.kernel = "another_kernel";
	left.operand.access = GMOD_ACCESS_STORE;
	nowhere.kind = GMOD_FAULT_MISALIGNED;
	nowhere.at[0].line = 8;
	start_with(argv[2], "");
	for (size_t i = 0; i < SIZE_OF(faults); i++) {
		struct gmod_finding f = fault_finding(faults[i]);

		f.buffer.allocated_ns = gmod_clock_ns(CLOCK_REALTIME);
		if (i > 0) {
			f.related = GMOD_NOT_RELATED;
			f.buffer = (struct gmod_buffer_facts){0};
		}
		gmod_report(&f);
	}
	return 0;
}

static int (*main_with_arguments)(char **argv) = report_some;
