/* The next step that a report advises: what it fences, whom it looks at, and where it says to look. */
#include "lib/base/counters.h"
#include "lib/base/phase.h"
#include "tests/unit/reporting.h"
#include "tests/unit/support.h"

TEST(without_suspects_the_memory_decides_the_advice)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	report_one("", &f);
	expect("suspects: no kernel was in flight: look for a copy or memset");
	expect("; or compute-sanitizer --tool memcheck ");
	assert_int_equal(count("--kernel-name"), 0);
	f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	f.buffer.memory = GMOD_MEM_HOST;
	report_one("", &f);
	expect(" in pinned host memory for device 0,");
	expect("suspects: no kernel was in flight: look for a write by the CPU\n");
	expect("next step: look for a write by the CPU, here to 0x");
	f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
	f.buffer.memory = GMOD_MEM_MANAGED;
	f.launches_lost = 1;
	report_one("", &f);
	expect(" in managed memory on device 0,");
	expect(
	    "    incomplete: 1 launch was of kernels that found no place to be counted\n    suspects: none recorded\n");
	expect("next step: compute-sanitizer --tool memcheck ");
}

/* Memory in stream order can have fences as well; the allocator that makes tensors such has to be asked for again. */
TEST(the_next_step_fences_what_the_run_did_not)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.buffer.backend = "pool";
	report_one("", &f);
	expect("next step: gmod --exact ");
	assert_int_equal(count("--per-tensor"), 0);
	f.id = next_id++;
	atomic_store(&gmod_hot.python, 1);
	report_one("", &f);
	atomic_store(&gmod_hot.python, 0);
	expect("next step: gmod --exact --per-tensor ");
	f.id = next_id++;
	f.buffer.exported = true;
	report_one("", &f);
	expect("next step: compute-sanitizer ");
	f.id = next_id++;
	f.buffer.exported = false;
	gmod_count(&gmod_counters.fence_spared, 1);
	report_one("", &f);
	atomic_store(&gmod_counters.fence_spared, 0);
	expect("next step: compute-sanitizer ");
	f.id = next_id++;
	gmod_count(&gmod_counters.fence_capped, 1);
	report_one("", &f);
	atomic_store(&gmod_counters.fence_capped, 0);
	expect("next step: compute-sanitizer ");
}

/* The command looks at each suspect, once; where one might be missing, at everything. */
TEST(the_next_step_leaves_no_suspect_out)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.suspect_count = 3;
	f.suspect[0].name = "_Z7vec_addPfi";
	f.suspect[1].name = "_Z7vec_addPdi";
	f.suspect[2].name = "scale";
	report_one("", &f);
	expect("memcheck --kernel-name kernel_substring=vec_add --kernel-name kernel_substring=scale ");
	for (int i = 0; i < 4; i++) {
		struct gmod_finding g = f;

		g.id = next_id++;
		g.suspects_omitted = i == 0;
		g.launches_lost = i == 1;
		g.suspect[2].name = i == 2 ? NULL : i == 3 ? "a b" : "scale";
		report_one("", &g);
		expect("; or compute-sanitizer --tool memcheck ");
		assert_int_equal(count("--kernel-name"), 0);
	}
}

/* Addresses of this run and of others: behind the buffer and before it, with a stack and without. */
TEST(a_write_by_the_cpu_can_be_looked_for)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.buffer.memory = GMOD_MEM_HOST;
	f.offset = 8;
	report_one("", &f);
	expect("next step: look for a write by the CPU, here to 0x7f1f30000fa8; in another run break where the_caller "
	       "test_report_step+0x");
	expect(" has just allocated the buffer, and then watch *(char *)(BUFFER + 4008): gdb --args ");
	f = finding(GMOD_HEAP_BUFFER_UNDERFLOW);
	f.buffer.memory = GMOD_MEM_HOST;
	f.buffer.allocated_at.depth = 0;
	f.offset = -3;
	report_one("", &f);
	expect("here to 0x7f1f2ffffffd; in another run break where the program has just allocated the buffer, and then "
	       "watch *(char *)(BUFFER - 3): gdb --args ");
}

/*
 * Sizes of the buffer, where it was changed, and what has that lie behind the fence, in a run with fences and in one
 * without; 0: nothing has.
 */
TEST(an_overflow_in_front_of_the_fence_has_an_alignment_that_gmod_takes)
{
	enum { AS_IT_IS = 1 };
	static const struct {
		uint64_t size;
		int64_t offset;
		int with, without;
	} rows[] = {{4000, 0, 32, 32}, {4000, 92, 32, 32},     {4000, 93, 32, AS_IT_IS},    {4100, 0, 0, 0},
		    {4100, 8, 0, 0},   {4100, 9, 16, 16},      {4104, 7, 16, 16},           {4, 0, 0, 0},
		    {4, 9, 16, 16},    {4, 505, 16, AS_IT_IS}, {4096 + 512, 0, 0, AS_IT_IS}};

	for (size_t i = 0; i < 2 * SIZE_OF(rows); i++) {
		struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
		bool fenced = i % 2;
		int align = fenced ? rows[i / 2].with : rows[i / 2].without;
		char step[100];

		f.buffer.backend = fenced ? "fence" : "device";
		f.buffer.size = rows[i / 2].size;
		f.offset = rows[i / 2].offset;
		f.extent = 4;
		f.launches_lost = 1;
		snprintf(step, sizeof(step),
			 align == AS_IT_IS ? "next step: gmod --exact " : "next step: gmod --exact --fence_align=%d ",
			 align);
		start(fenced ? "backend=fence" : "");
		gmod_count(&gmod_counters.fenced, fenced);
		report(&f);
		atomic_store(&gmod_counters.fenced, 0);
		expect(align ? step : "next step: compute-sanitizer ");
		assert_int_equal(count("fence_align"), align > AS_IT_IS);
	}
}

/* 100 is 64 then. */
TEST(an_alignment_that_is_no_power_of_two_is_the_next_lower_one)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);

	f.buffer.size = 4100;
	f.offset = 57;
	f.extent = 4;
	report_one("fence_align=100", &f);
	expect("next step: gmod --exact --fence_align=64 ");
	f.id = next_id++;
	f.offset = 56;
	report_one("fence_align=100", &f);
	expect("next step: gmod --exact --fence_align=16 ");
}
