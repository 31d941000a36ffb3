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
	expect("next step: gmod --exact --per-tensor --fence_side=end --fence_align=32 ");
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

/* Sizes of the buffer, where it was changed, and the alignment that has that lie behind the fence; 0: none has. */
TEST(an_overflow_in_front_of_the_fence_has_an_alignment_that_gmod_takes)
{
	static const struct {
		uint64_t size;
		int64_t offset;
		int align;
	} rows[] = {{4000, 0, 32}, {4000, 61, 64}, {4000, 92, 64}, {4000, 93, 512}, {4100, 0, 0},
		    {4100, 8, 0},  {4100, 9, 16},  {4104, 7, 16},  {4, 0, 0},       {4, 9, 16},
		    {4, 200, 128}, {4, 505, 512},  {4608, 0, 512}};

	for (size_t i = 0; i < 2 * SIZE_OF(rows); i++) {
		struct gmod_finding f = finding(GMOD_HEAP_BUFFER_OVERFLOW);
		int align = rows[i / 2].align, fenced = i % 2;
		char step[100];

		f.buffer.backend = fenced ? "fence" : "device";
		f.buffer.size = rows[i / 2].size;
		f.offset = rows[i / 2].offset;
		f.extent = 4;
		f.launches_lost = 1;
		snprintf(step, sizeof(step), "next step: gmod --exact --fence_side=end --fence_align=%d ", align);
		start(fenced ? "backend=fence:fence_align=16" : "");
		gmod_count(&gmod_counters.fenced, (uint64_t)fenced);
		report(&f);
		atomic_store(&gmod_counters.fenced, 0);
		expect(align == 512 ? "next step: gmod --exact --fence_side=end "
		       : align      ? step
				    : "next step: compute-sanitizer ");
		assert_int_equal(count("fence_align="), align && align < 512);
	}
}

/* The fence is where the buffer was passed; what has no fence in any run has none in the next. */
TEST(the_next_step_has_the_fence_at_the_right_side)
{
	struct gmod_finding f = finding(GMOD_HEAP_BUFFER_UNDERFLOW);

	f.offset = -4;
	f.launches_lost = 1;
	for (int fenced = 0; fenced < 2; fenced++) {
		f.id = next_id++;
		f.buffer.backend = fenced ? "fence" : "device";
		gmod_count(&gmod_counters.fenced, (uint64_t)fenced);
		report_one("", &f);
		atomic_store(&gmod_counters.fenced, 0);
		expect("next step: gmod --exact --fence_side=start ");
	}
	f.id = next_id++;
	f.buffer.backend = "pool";
	f.buffer.name = "arena";
	report_one("", &f);
	expect("next step: compute-sanitizer ");
}
