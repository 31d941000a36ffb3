/* The functions of include/gmod.h. */
#include "include/gmod.h"

#include <string.h>

#include "device/guard.h"
#include "lib/driver/driver.h"
#include "lib/base/phase.h"
#include "lib/base/counters.h"
#include "lib/buffers/gather.h"
#include "lib/buffers/ordered.h"
#include "monitor/report/report.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/monitor.h"
#include "monitor/watch/sweep.h"

#define CHECK_DEADLINE_NS GMOD_SECONDS(2)

GMOD_EXPORT enum gmod_status gmod_check(void)
{
	struct gmod_scope scope;
	bool swept;

	if (!gmod_on())
		return GMOD_INACTIVE;
	/* What rests by now is final if it is looked at from here on. */
	gmod_damage_settle(false);
	/* No signal handler may jump out of this with the lock and the pin. */
	gmod_scope_begin(&scope);
	swept = gmod_sweep_all(CHECK_DEADLINE_NS);
	gmod_scope_end(&scope);
	if (!swept)
		return GMOD_BUSY;
	gmod_gather(NULL, GMOD_GATHER_WHOLE);
	gmod_ordered_look();
	gmod_guard_check(NULL, CHECK_DEADLINE_NS);
	/* What this look has found is final with the next one. */
	if (gmod_damage_pending())
		gmod_gather(NULL, GMOD_GATHER_WHOLE);
	gmod_damage_settle(false);
	gmod_report_await();
	return GMOD_OK;
}

GMOD_EXPORT enum gmod_status gmod_suspend(void)
{
	if (!gmod_on())
		return GMOD_INACTIVE;
	atomic_fetch_add_explicit(&gmod_hot.suspended, 1, memory_order_seq_cst);
	/* What waits for its first kernel would be armed by one that comes from here on. */
	gmod_ordered_passed();
	return gmod_monitor_await_pause(CHECK_DEADLINE_NS) ? GMOD_OK : GMOD_BUSY;
}

GMOD_EXPORT enum gmod_status gmod_continue(void)
{
	int times = atomic_load_explicit(&gmod_hot.suspended, memory_order_relaxed);

	if (!gmod_on())
		return GMOD_INACTIVE;
	do {
		if (!times)
			return GMOD_INVALID;
	} while (!atomic_compare_exchange_weak_explicit(&gmod_hot.suspended, &times, times - 1, memory_order_seq_cst,
							memory_order_relaxed));
	gmod_monitor_hurry();
	return GMOD_OK;
}

GMOD_EXPORT void gmod_get_stats(struct gmod_stats *stats)
{
	struct gmod_stats s = {.struct_size = stats->struct_size};
	struct gmod_registry_stats registry;
	struct gmod_counts counts;

	if (gmod_phase() != GMOD_OFF) {
		gmod_registry_stats(&registry);
		gmod_counters_read(&counts);
#define GMOD_COUNTER(name, key, clause)
#define GMOD_COUNTER_API(name, key, clause, member) s.member = counts.name;
#include "lib/base/counters.def"
		s.live_buffers = registry.live;
		s.live_bytes = registry.live_bytes;
		s.findings = gmod_report_findings();
	}
	memcpy(stats, &s, stats->struct_size < sizeof(s) ? stats->struct_size : sizeof(s));
}

GMOD_EXPORT unsigned gmod_findings_seen(void)
{
	return gmod_phase() == GMOD_OFF ? 0 : gmod_finding_count();
}

GMOD_EXPORT const char *gmod_status_text(enum gmod_status status)
{
	static const char *const text[] = {
	    [GMOD_OK] = "all is well",
	    [GMOD_INACTIVE] =
		"GMOD does not watch this process: start it with LD_PRELOAD=libgmod.so, with enabled=1, and "
		"call this after CUDA has been initialised",
	    [GMOD_BUSY] =
		"kernels, another check, or too many findings held it up for 2 s: try again when they are done",
	    [GMOD_NO_HEAP] = "the current context has no device heap: load a module there that includes "
			     "gmod_device.cuh, and launch a kernel, with device_heap=slab; if that was done, there "
			     "was no memory for one",
	    [GMOD_TOO_LATE] = "a device heap has been made already: configure before the first launch of a kernel that "
			      "allocates",
	    [GMOD_INVALID] = "an argument is out of range: include/gmod.h says what is in it",
	    [GMOD_FAILED] = "the driver refused: GMOD_OPTIONS=verbosity=2 says what",
	    [GMOD_SKIPPED] = "nothing was done: max_overhead, a capture, a profiler or gmod_suspend() wants it so",
	};

	return (unsigned)status < sizeof(text) / sizeof(*text) ? text[status] : "no status of this version of GMOD";
}

GMOD_EXPORT const char *gmod_version(void)
{
	return GMOD_VERSION;
}
