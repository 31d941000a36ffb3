#include "monitor/watch/postmortem.h"

#include <pthread.h>
#include <string.h>

#include "lib/base/phase.h"
#include "lib/base/unwind.h"
#include "lib/base/facts.h"
#include "lib/driver/errors.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/report/report.h"
#include "monitor/launches/suspects.h"
#include "monitor/watch/damage.h"
#include "monitor/watch/sweep.h"

enum { UNTOLD = 8 };

/* The latest allocated live buffers, latest first: where it happened is not known, what was new is the best guess. */
static uint32_t latest_buffers(struct gmod_buffer_facts *facts)
{
	uint32_t end = gmod_registry_used(), count = 0;

	for (uint32_t i = 0; i < end; i++) {
		struct gmod_buffer_facts f;
		uint32_t at = count;

		gmod_pin(GMOD_PIN_SWEEP, i);
		if (!gmod_record_live(gmod_record_at(i)) || gmod_record_details(gmod_record_at(i))->kept_back) {
			gmod_unpin(GMOD_PIN_SWEEP);
			continue;
		}
		f = gmod_record_facts(gmod_record_at(i));
		gmod_unpin(GMOD_PIN_SWEEP);
		while (at > 0 && facts[at - 1].serial < f.serial)
			at--;
		if (at == GMOD_NEARBY_MAX)
			continue;
		memmove(&facts[at + 1], &facts[at], (GMOD_NEARBY_MAX - 1 - at) * sizeof(f));
		facts[at] = f;
		count += count < GMOD_NEARBY_MAX;
	}
	return count;
}

/* Under the lock. What is told later on finds its nearby buffers, unless as many contexts break meanwhile. */
static void report(CUresult error, const char *entry_point)
{
	static struct gmod_buffer_facts all[UNTOLD][GMOD_NEARBY_MAX];
	static struct gmod_suspect suspects[GMOD_SUSPECTS_MAX];
	static unsigned turn;
	struct gmod_buffer_facts *nearby = all[turn++ % UNTOLD];
	struct gmod_finding f = {
	    .class = GMOD_POST_MORTEM, .status = GMOD_FINAL, .suspect = suspects, .suspect_room = GMOD_SUSPECTS_MAX};
	struct gmod_scope scope;

	f.error = error;
	f.error_name = gmod_sticky_name(error);
	f.entry_point = entry_point;
	f.seen_ns = gmod_now().ns;
	f.called_tid = gmod_thread_self() ? gmod_thread_self()->tid : 0;
	gmod_unwind(&f.called_at, gmod_options()->stack_depth);
	/* No signal handler may jump out of this with the lock and the pin. */
	gmod_scope_begin(&scope);
	if (gmod_sweep_lock(2000000000)) {
		gmod_sweep_thorough(GMOD_PIN_SWEEP);
		gmod_suspects_find(&f, &(struct gmod_window){.intact = gmod_now().ticks}, NULL);
		f.nearby = nearby;
		f.nearby_count = latest_buffers(nearby);
		gmod_sweep_unlock();
	}
	gmod_scope_end(&scope);
	gmod_damage_settle(true);
	f.id = gmod_finding_next_id();
	gmod_report(&f);
}

void gmod_post_mortem(CUresult error, const char *entry_point)
{
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	struct timespec until = gmod_time_in(GMOD_SECONDS(2));

	if (pthread_mutex_timedlock(&lock, &until))
		return;
	report(error, entry_point);
	pthread_mutex_unlock(&lock);
}
