#include "lib/base/facts.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/counters.h"
#include "lib/base/file.h"
#include "lib/base/log.h"
#include "lib/base/log_stderr.h"

static struct gmod_options options;
static size_t page_size;
static bool injected;

const struct gmod_options *gmod_options(void)
{
	return &options;
}

size_t gmod_page_size(void)
{
	return page_size;
}

/* environ is read once, here: what the program puts there later is its own affair. */
static void read_options(void)
{
	const char *text = secure_getenv("GMOD_OPTIONS");

	gmod_options_defaults(&options);
	gmod_log_remember_stderr();
	/* Complaints come out on stderr, in words: whoever mistyped an option may not have a log yet. */
	gmod_log_open(NULL, false, 0);
	if (text)
		gmod_options_parse(&options, text, gmod_log_string, NULL);
	gmod_log_open(options.log_path, options.log_format == GMOD_OPTION_LOG_JSON, options.verbosity);
	if (gmod_is_sanitized())
		gmod_log_note(0, options.enabled
				     ? "compute-sanitizer is in the process, and goes by GMOD's longer buffers"
				     : "compute-sanitizer is in the process: GMOD does nothing, so that it "
				       "sees where buffers end; enabled=1 guards all the same");
	if (options.help)
		gmod_options_help(gmod_log_string, NULL);
}

/* What Nsight's tools and compute-sanitizer leave in the environment of what they start, and whoever injects a library.
 */
static bool is_injected(void)
{
	static const char *const names[] = {"CUDA_INJECTION64_PATH", "NSYS_PROFILING_SESSION_ID",
					    "NV_NSIGHT_INJECTION_PORT_RANGE_BEGIN"};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (getenv(names[i]))
			return true;
	return gmod_is_sanitized();
}

static bool is_traced(void)
{
	char text[1024];
	ssize_t length = gmod_read_file("/proc/self/status", text, sizeof(text) - 1);
	const char *tracer;

	text[length > 0 ? length : 0] = 0;
	tracer = strstr(text, "\nTracerPid:\t");
	return tracer && strtoul(tracer + 12, NULL, 10);
}

bool gmod_is_under_a_tool(void)
{
	return injected || is_traced();
}

void gmod_facts_init(void)
{
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	read_options();
	injected = is_injected();
}

void gmod_degraded(const char *what)
{
	enum { REMEMBERED = 16 };
	static _Atomic(const char *) told[REMEMBERED];

	gmod_count(&gmod_counters.degraded, 1);
	for (int i = 0; i < REMEMBERED; i++) {
		const char *expected = NULL;

		if (atomic_compare_exchange_strong_explicit(&told[i], &expected, what, memory_order_relaxed,
							    memory_order_relaxed)) {
			gmod_log_note(2, "degraded: %s failed; the program goes on without it", what);
			return;
		}
		if (!strcmp(expected, what))
			return;
	}
}

bool gmod_degraded_first(atomic_bool *before)
{
	gmod_count(&gmod_counters.degraded, 1);
	return gmod_first_time(before);
}
