#include "monitor/watch/postmortem.h"

#include <pthread.h>
#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/phase.h"
#include "lib/base/unwind.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/driver/errors.h"
#include "lib/faults/dump.h"
#include "lib/faults/keeper.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/arguments.h"
#include "monitor/launches/proof.h"
#include "monitor/registry/freed.h"
#include "monitor/report/report.h"
#include "monitor/launches/suspects.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/missed.h"
#include "monitor/watch/sweep.h"

enum { UNTOLD = 8, GIVEN = 16 };

/* A wait may have vouched for the launch that faulted; a dump takes up to 5.5 s (tests/gpu/faults/README.md). */
#define LATEST GMOD_SECONDS(6)

/* What the kernel was given: a store's grid may have left, and then the dump does not say. */
struct given {
	enum gmod_given how;
	struct gmod_bytes parameters;
	struct gmod_seen_launches launch[GIVEN]; /* of the kernel */
	uint32_t launches;
};

/* An address may have been another buffer's. */
static bool was_there(const struct gmod_buffer_facts *b, const struct gmod_seen_launches *l)
{
	uint64_t ns = l->latest == GMOD_IN_CALL ? gmod_now().ns : gmod_ns_of_ticks(l->latest);

	return b->allocated_ns <= ns && (!b->freed_ns || b->freed_ns >= ns);
}

static bool is_given(const struct given *g, const struct gmod_buffer_facts *b)
{
	struct gmod_target target = {b->base, b->size, b->base};

	for (uint32_t i = 0; i < g->launches; i++)
		if (was_there(b, &g->launch[i]) &&
		    gmod_arguments_find(g->launch[i].thread, g->launch[i].number, &target).pointing == GMOD_POINTS_AT)
			return true;
	return !b->freed_ns && gmod_is_given(g->parameters, b->base, b->size);
}

static void find_given(const struct gmod_fault *fault, const struct gmod_window *when, struct given *out)
{
	out->how = GMOD_GIVEN;
	out->parameters = fault ? fault->parameters : (struct gmod_bytes){NULL, 0};
	out->launches = 0;
	if (fault && fault->kernel && !fault->parameters.size) {
		out->how = GMOD_GIVEN_TO_LAUNCHES;
		out->launches = gmod_suspects_launches(fault->kernel, when, out->launch, GIVEN);
	}
}

/*
 * Live buffers, the latest allocation first: those that the kernel was given, if there are any, and those of them that
 * the program has freed since, for a wait says that all is well before the fault is told. Else where it happened is not
 * known, and what was new is the best guess.
 */
static void find_nearby(struct gmod_finding *f, const struct given *g, struct gmod_buffer_facts *facts)
{
	uint32_t used = gmod_registry_used(), count = 0;
	bool any = false;

	for (uint64_t i = 0;; i++) {
		struct gmod_buffer_facts b;
		bool live = i < used, its;
		uint32_t at;

		if (live && !gmod_live_facts_at((uint32_t)i, &b))
			continue;
		if (!live && !gmod_freed_nth(i - used, &b))
			break;
		its = is_given(g, &b);
		if (its < any || (!live && !its))
			continue;
		count = its > any ? 0 : count;
		any = its;
		at = count;
		while (at > 0 && facts[at - 1].serial < b.serial)
			at--;
		if (at == GMOD_NEARBY_MAX)
			continue;
		memmove(&facts[at + 1], &facts[at], (GMOD_NEARBY_MAX - 1 - at) * sizeof(b));
		facts[at] = b;
		count += count < GMOD_NEARBY_MAX;
	}
	f->nearby = facts;
	f->nearby_count = count;
	f->nearby_given = any ? g->how : GMOD_GIVEN_UNKNOWN;
}

/* What can be said by what the CPU sees, whatever has happened: what was changed, and who ran. */
static void look_around(struct gmod_finding *f)
{
	static struct gmod_buffer_facts all[UNTOLD][GMOD_NEARBY_MAX];
	static struct given given; /* a thread may have a small stack */
	static unsigned turn;
	struct gmod_buffer_facts *nearby = all[turn++ % UNTOLD];
	struct gmod_window when = {.intact = f->fault ? gmod_ticks_ago(LATEST) : gmod_now().ticks};
	struct gmod_scope scope;

	/* No signal handler may jump out of this with the lock and the pin. */
	gmod_scope_begin(&scope);
	if (gmod_sweep_lock(GMOD_SECONDS(2))) {
		gmod_sweep_thorough(GMOD_PIN_SWEEP);
		if (f->fault)
			gmod_find_missed(f);
		gmod_suspects_find(f, &when, NULL);
		if (f->related == GMOD_NOT_RELATED) {
			find_given(f->fault, &when, &given);
			find_nearby(f, &given, nearby);
		}
		gmod_sweep_unlock();
	}
	gmod_scope_end(&scope);
}

/* Launches of other kernels did not fault. One of a kernel's that has no name may have. */
static void keep_its_launches(struct gmod_finding *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->suspect_count; i++)
		if (!f->suspect[i].name || !strcmp(f->suspect[i].name, f->fault->kernel))
			f->suspect[kept++] = f->suspect[i];
	f->suspect_count = kept;
}

/* What is told later on finds its nearby buffers, unless as many contexts break meanwhile. */
static bool report(struct gmod_finding *f)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct gmod_suspect suspects[GMOD_SUSPECTS_MAX];
	struct timespec until = gmod_time_in(GMOD_SECONDS(2));

	if (pthread_mutex_timedlock(&lock, &until))
		return false;
	f->status = GMOD_FINAL;
	f->suspect = suspects;
	f->suspect_room = GMOD_SUSPECTS_MAX;
	f->seen_ns = gmod_now().ns;
	look_around(f);
	if (f->fault && f->fault->kernel)
		keep_its_launches(f);
	gmod_damage_settle(true);
	f->id = gmod_finding_next_id();
	gmod_report(f);
	pthread_mutex_unlock(&lock);
	return true;
}

void gmod_post_mortem(CUresult error, const char *entry_point)
{
	struct gmod_finding f = {.class = GMOD_POST_MORTEM, .error = error, .entry_point = entry_point};

	/* A dump may begin only behind the error, which is told with what the dump says. */
	if (gmod_keeper_await(GMOD_SECONDS(1)))
		return;
	f.error_name = gmod_sticky_name(error);
	f.called_tid = gmod_thread_self() ? gmod_thread_self()->tid : 0;
	gmod_unwind(&f.called_at, gmod_options()->stack_depth);
	report(&f);
}

bool gmod_gpu_fault(const void *dump, size_t size)
{
	static struct gmod_fault fault;
	const char *problem = gmod_dump_read(dump, size, &fault);

	if (!problem && !fault.has_pc && !fault.kernel && fault.kind == GMOD_FAULT_UNKNOWN)
		problem = "it names no kernel";
	if (problem)
		gmod_log_note(0, "the driver's exception dump of %zu bytes tells nothing: %s", size, problem);
	return !problem && report(&(struct gmod_finding){.class = GMOD_GPU_FAULT, .fault = &fault});
}
