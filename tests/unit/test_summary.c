/* The closing line: what it says. */
#include "monitor/report/summary.h"
#include "lib/base/clock.h"
#include "monitor/report/cost.h"
#include "tests/unit/reporting.h"

TEST(the_closing_line_keeps_its_phrases)
{
	struct gmod_run_summary s = {
	    .count.hooks_armed = 90, .count.guarded = 12, .count.guarded_bytes = 48 << 20, .count.sweeps = 210};

	start("");
	s.findings[GMOD_LEAK] = 3;
	gmod_report_summary(&s);
	expect("GMOD: guarded 12 of 12 buffers, 48.0 MiB of 48.0 MiB device memory (100.0 %); 210 sweeps; 3 findings "
	       "(leak 3); "
	       "0 degraded; 90 hooks armed\n");
	s.count.fallback = 1;
	s.count.fallback_bytes = 1;
	gmod_report_summary(&s);
	expect("guarded 12 of 13 buffers, 48.0 MiB of 48.0 MiB device memory (99.9 %); "); /* not everything: not 100 */
	s.count.unsupported = 2;
	s.count.unsupported_bytes = 3 << 20;
	s.count.host = 4;
	s.count.host_bytes = 1536;
	s.count.kernel_buffers = 9;
	s.count.kernel_left = 8;
	s.count.kernel_left_bytes = 80;
	s.count.kernel_lost = 2;
	s.count.suppressed = 5;
	s.count.lost_lines = 6;
	s.count.degraded = 7;
	gmod_report_summary(&s);
	expect("guarded 12 of 13 buffers, 48.0 MiB of 51.0 MiB device memory (94.1 %); ");
	expect("; 7 degraded; 90 hooks armed; 4 pinned host buffers guarded (1.5 KiB); 9 buffers of kernels "
	       "guarded, 8 of them left (80 B); 2 findings of kernels lost; 2 allocations of pools, mappings or "
	       "graphs not covered (3.0 MiB); 5 suppressed; 6 lines lost\n");
}

/* Each counter by itself: its words, and nobody else's. */
TEST(the_closing_line_has_words_for_each_counter)
{
	static const struct {
		size_t at;
		const char *words;
	} counters[] = {
#define WORDS(name, words) {offsetof(struct gmod_counts, name), words}
	    WORDS(host, "; 2 pinned host buffers guarded (0 B)"),
	    WORDS(kernel_buffers, "; 2 buffers of kernels guarded"),
	    WORDS(kernel_lost, "; 2 findings of kernels lost"),
	    WORDS(ipc_imports, "; 2 imports from other processes"),
	    WORDS(pool_imports, "; 2 imports of pools"),
	    WORDS(external_mappings, "; 2 mappings of external memory"),
	    WORDS(graphics_mappings, "; 2 mappings of graphics"),
	    WORDS(multicast_bindings, "; 2 multicast bindings"),
	    WORDS(decompressions, "; 2 decompressions"),
	    WORDS(newer, "; 2 newer entry points"),
	    WORDS(suppressed, "; 2 suppressed"),
	    WORDS(lost_lines, "; 2 lines lost"),
	    WORDS(patrols, ""),
	};

	for (size_t i = 0; i < SIZE_OF(counters); i++) {
		struct gmod_run_summary s = {0};
		char end[128];

		*(uint64_t *)(void *)((char *)&s.count + counters[i].at) = 2;
		snprintf(end, sizeof(end), "; 0 degraded; 0 hooks armed%s\n", counters[i].words);
		start("");
		gmod_report_summary(&s);
		expect(end);
	}
}

TEST(one_is_not_many)
{
	struct gmod_run_summary s = {.count.guarded = 1,
				     .count.guarded_bytes = 1,
				     .count.sweeps = 1,
				     .count.host = 1,
				     .count.kernel_buffers = 1,
				     .count.unsupported = 1,
				     .count.lost_lines = 1};

	start("");
	gmod_report_summary(&s);
	expect("guarded 1 of 1 buffer, 1 B of 1 B ");
	expect("; 1 sweep; ");
	expect("; 1 pinned host buffer guarded (0 B); 1 buffer of kernels guarded; 1 allocation of pools, mappings or "
	       "graphs not covered (0 B); 1 "
	       "line lost\n");
}

TEST(the_share_of_extremes_is_sane)
{
	struct gmod_run_summary s = {0};

	start("");
	gmod_report_summary(&s);
	expect("GMOD: no device buffers; 0 sweeps; 0 findings; 0 degraded");
	assert_int_equal(count(" %)"), 0);
	s.count.unsupported = 1;
	s.count.unsupported_bytes = 2 << 20;
	gmod_report_summary(&s);
	expect("guarded 0 of 0 buffers, 0 B of 2.0 MiB device memory (0.0 %); ");
	s.count.unsupported = s.count.unsupported_bytes = 0;
	s.count.guarded_bytes = 1ull << 61;
	s.count.fallback_bytes = 1ull << 61;
	gmod_report_summary(&s);
	expect("2.0 EiB of 4.0 EiB device memory (50.0 %)");
	s.count.guarded_bytes = 0;
	gmod_report_summary(&s);
	expect("(0.0 %)");
}

/* From the clocks of its threads, and from counts. */
TEST(the_closing_line_says_what_gmod_takes)
{
	struct gmod_run_summary s = {.count.guarded = 100000, .count.patrols = 100000, .count.patrolled = 10000000};
	struct gmod_cost cost;

	start("");
	gmod_clock_init("/none");
	usleep(20000);
	cost = gmod_cost_of(&s.count);
	assert_in_range(cost.run_ns, 20000000, 5000000000);
	assert_int_equal(cost.cpu_ns, 0);
	assert_int_equal(cost.hooks_ns, 100000 * 21000ull);
	assert_int_equal(cost.gpu_ns, 100000 * (1500 + 375) + 100000 * 6000ull + 21000000);
	gmod_report_summary(&s);
	expect("; 0 hooks armed; own cost: 0.00 s of CPU, some 2.10 s in hooks and 0.80 s of the GPU, in 0.0");
	start("log_format=json");
	gmod_report_summary(&s);
	expect(",\"own_cpu_ms\":0,\"own_hooks_ms\":2100,\"own_gpu_ms\":808,\"run_ms\":");
}

/* GMOD sees next to nothing of such a program, and says what would help. */
TEST(a_program_of_mappings_is_told)
{
	struct gmod_run_summary s = {.count.guarded_bytes = 10 << 20, .count.mapping_bytes = 89 << 20};

	start("");
	s.count.unsupported_bytes = s.count.mapping_bytes;
	gmod_report_summary(&s);
	assert_int_equal(count("nearly all of it is mappings"), 0);
	s.count.unsupported_bytes = s.count.mapping_bytes = 91 << 20;
	gmod_report_summary(&s);
	expect("; nearly all of it is mappings: gmod --per-tensor has a framework allocate each tensor instead");
}

/* What was guarded in stream order is guarded device memory, and named by itself. */
TEST(stream_order_has_its_share)
{
	struct gmod_run_summary s = {.count = {
					 .unsupported_bytes = 1 << 20,
					 .ordered_all = 5,
					 .ordered_all_bytes = 4 << 20,
					 .ordered = 3,
					 .ordered_bytes = 3 << 20,
					 .ordered_bare = 1,
					 .ordered_unseen = 2,
				     }};

	start("");
	gmod_report_summary(&s);
	expect("3.0 MiB of 4.0 MiB device memory (75.0 %)");
	expect("; 5 allocations in stream order (4.0 MiB), 3 guarded (3.0 MiB), 1 left unarmed, 2 freed unseen");
}
