#include "lib/life/start.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "device/guard.h"
#include "device/loading.h"
#include "lib/base/clock.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/loaded.h"
#include "lib/base/log.h"
#include "lib/base/log_stderr.h"
#include "lib/base/phase.h"
#include "lib/base/python.h"
#include "lib/base/real_exit.h"
#include "lib/base/sampler.h"
#include "lib/buffers/buffer.h"
#include "lib/buffers/confirm.h"
#include "lib/buffers/fence.h"
#include "lib/buffers/gather.h"
#include "lib/buffers/ordered.h"
#include "lib/buffers/patrol.h"
#include "lib/buffers/tensors.h"
#include "lib/context/fault.h"
#include "lib/driver/dlsym_next.h"
#include "lib/driver/driver.h"
#include "lib/driver/homonyms.h"
#include "lib/faults/keeper.h"
#include "lib/life/finish.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/journal.h"
#include "monitor/launches/launch.h"
#include "monitor/report/cost.h"
#include "monitor/report/json.h"
#include "monitor/report/report.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/memory.h"
#include "monitor/watch/monitor.h"
#include "monitor/watch/postmortem.h"

static const struct gmod_round rounds[] = {
    {gmod_patrol_tick, gmod_patrol_leisure, NULL},
    {gmod_confirm_tick, gmod_confirm_leisure, NULL},
    {gmod_ordered_tick, gmod_ordered_leisure, NULL},
    {gmod_gather_tick, gmod_gather_leisure, NULL},
    {gmod_guard_tick, gmod_guard_leisure, gmod_guard_patience},
    {gmod_memory_tick, gmod_memory_leisure, NULL},
    {NULL, NULL, NULL},
};

/* At once, from whichever thread found it: running exit handlers would let the damage spread, and could hang. */
static void halt(void)
{
	gmod_say_the_last();
	gmod_log_point("a finding ends this process");
	gmod_real_exit((int)gmod_options()->exitcode);
}

static bool set_up(void)
{
	gmod_facts_init();
	if (!gmod_options()->enabled)
		return false;
	gmod_report_init(halt);
	if (!gmod_phase_arm()) {
		gmod_log_note(0, "not guarding: the kernel gave no random key, or there is no memory");
		return false;
	}
	gmod_clock_init(GMOD_CLOCK_SOURCE);
	if (gmod_options()->python_lines)
		gmod_python_init(gmod_next_dlsym);
	/* A framework's own frames come first: eight of JAX's, where a function of its is new. */
	if (gmod_options()->faults == GMOD_OPTION_FAULTS_EXACT)
		gmod_launch_frames = GMOD_PYTHON_MAX / 2;
	dlerror(); /* most programs have no Python */
	gmod_thread_init(gmod_launch_abandon);
	gmod_context_listen(&gmod_faults_of_context);
	gmod_context_listen(&gmod_ordered_of_context);
	gmod_context_listen(&gmod_tensors_of_context);
	gmod_context_listen(&gmod_buffers_of_context);
	gmod_context_listen(&gmod_device_of_context);
	gmod_damage_listen(gmod_confirm_told);
	gmod_activity_init();
	gmod_cost_init(gmod_activity_total);
	gmod_monitor_set_rounds(rounds, gmod_look_at_all);
	return true;
}

static void at_exit(void)
{
	gmod_finish(GMOD_BY_EXIT);
}

void gmod_start(void)
{
	static atomic_bool start_tried;

	if (atomic_load_explicit(&start_tried, memory_order_relaxed) ||
	    atomic_exchange_explicit(&start_tried, true, memory_order_acq_rel) || gmod_secure() ||
	    !gmod_driver_resolve() || !set_up())
		return;
	/* Registered after the driver's own handler, so it runs before that. */
	atexit(at_exit);
	gmod_count(&gmod_counters.hooks_armed, gmod_hooks_armed());
	if (gmod_signals_start)
		gmod_signals_start();
	gmod_phase_set(GMOD_ON);
	gmod_log_note(1, "started: version " GMOD_VERSION ", %u hooks armed", gmod_hooks_armed());
	if (gmod_options()->backend == GMOD_OPTION_BACKEND_FENCE)
		gmod_log_note(1, "fence_seed=%u", gmod_fence_seed());
	gmod_keeper_start(gmod_gpu_fault);
	gmod_journal_start(gmod_report_json_stack);
}

static atomic_bool asked; /* a cuInit has come through us */

GMOD_EXPORT CUresult cuInit(unsigned int Flags)
{
	CUresult r;

	atomic_store_explicit(&asked, true, memory_order_relaxed);
	/* Called in the place of a library's own cuInit, which would load the driver (MegEngine's does). */
	if (!gmod_driver_resolve() && (!dlopen("libcuda.so.1", RTLD_LAZY) || !gmod_driver_resolve()))
		return CUDA_ERROR_NO_DEVICE;
	r = NEXT(cuInit)(Flags);
	if (r == CUDA_SUCCESS)
		gmod_start();
	return r;
}

/* Registered before the program's, so that it runs after them. */
static void at_quick_end(void)
{
	gmod_finish(GMOD_AT_ONCE);
	if (gmod_exit_status(0))
		gmod_real_exit(gmod_exit_status(0));
}

/* Grows with each child that has been waited for. What the process was before an exec had its own, as gmod(1) has. */
static long faults_of_children(void)
{
	struct rusage children = {.ru_minflt = 0};

	getrusage(RUSAGE_CHILDREN, &children);
	return children.ru_minflt;
}

static long faults_before;

/* The command of gmod(1), which became it, if it has done all of its work by itself: no shell, and no launcher. */
static bool is_all_of_gmods_command(void)
{
	const char *pid = getenv("GMOD_PID");

	return pid && strtol(pid, NULL, 10) == getpid() && faults_of_children() == faults_before;
}

/* Another library that hands out the driver's functions may be in front of us. */
static void say_if_nothing_came(void)
{
	bool loaded = gmod_libcuda_is_loaded();

	if (atomic_load_explicit(&asked, memory_order_relaxed) || gmod_secure() || gmod_is_forked() ||
	    (!loaded && !is_all_of_gmods_command()))
		return;
	gmod_facts_init();
	if (gmod_options()->enabled)
		gmod_log_note(1, "nothing was guarded: %s",
			      loaded
				  ? "libcuda was loaded, and no cuInit came through GMOD. If the program used a GPU, "
				    "another library has passed GMOD by: put libgmod.so first in LD_PRELOAD"
				  : "the program made no CUDA call");
}

extern int __cxa_atexit(void (*function)(void *), void *argument, void *module);

/*
 * Behind the program's exit handlers and the destructors of all libraries. Its streams are closed here as exit() does,
 * since ending now keeps the C library from it.
 */
static void at_the_very_end(void *unused)
{
	(void)unused;
	say_if_nothing_came();
	if (gmod_exit_status(0)) {
		fcloseall();
		gmod_real_exit(gmod_exit_status(0));
	}
}

__attribute__((constructor)) static void at_load(void)
{
	/* Of no module's, and before the loader's own, which runs the destructors: the last to be registered runs
	 * first. */
	(void)__cxa_atexit(at_the_very_end, NULL, NULL);
	faults_before = faults_of_children();
	gmod_homonyms_start();
	gmod_log_remember_stderr();
	gmod_python_main_thread = pthread_self();
	gmod_monitor_remember_cpus();
	gmod_sample_begin(gmod_monotonic_ns());
	(void)at_quick_exit(at_quick_end);
}
