#include "monitor/watch/memory.h"

#include <string.h>

#include "lib/base/clock.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"
#include "monitor/registry/registry.h"
#include "monitor/report/json.h"
#include "monitor/watch/sweep.h"
#include "monitor/watch/swept.h"

#define FIRST_INTERVAL GMOD_MILLISECONDS(10)
#define NAMING GMOD_MILLISECONDS(200) /* for names, at most: the process waits for them */

enum { SITES = 512, PROBES = 32, SITES_SAID = 32, LINE = 256 << 10 };

/* A stack that allocates, and what it had live at the latest walk. */
struct site {
	uint64_t key; /* 0: none yet */
	uint64_t bytes, buffers;
	struct gmod_stack stack;
};

/* Whoever has the lock. */
static struct {
	struct gmod_memory_curve curve;
	struct gmod_memory_sample peak;
	uint64_t walked; /* bytes at the latest walk */
	struct site site[SITES];
	struct gmod_view_scratch scratch;
	char line[LINE];
} seen;
static atomic_flag lock = ATOMIC_FLAG_INIT;

/* ---- samples ---- */

static void thin_out(struct gmod_memory_curve *c)
{
	c->count /= 2;
	for (unsigned i = 0; i < c->count; i++)
		c->sample[i] = c->sample[2 * i];
	c->interval_ns *= 2;
}

void gmod_memory_curve_add(struct gmod_memory_curve *c, const struct gmod_memory_sample *s, bool last)
{
	if (!c->interval_ns)
		c->interval_ns = FIRST_INTERVAL;
	if (c->count && !last && s->ns - c->sample[c->count - 1].ns < c->interval_ns)
		return;
	if (c->count == GMOD_MEMORY_SAMPLES)
		thin_out(c);
	c->sample[c->count++] = *s;
}

static struct gmod_memory_sample sample_now(void)
{
	struct gmod_registry_stats now;

	gmod_registry_stats(&now);
	return (struct gmod_memory_sample){gmod_clock_ns(CLOCK_REALTIME), now.live_bytes, now.live};
}

/* ---- the peak ---- */

static uint64_t key_of(const struct gmod_stack *s)
{
	return gmod_hash_quick(s->python, s->pc, s->depth * sizeof(s->pc[0])) | 1;
}

/* What finds no place is elsewhere. */
static void add_buffer(const struct gmod_buffer_facts *b)
{
	uint64_t key = key_of(&b->allocated_at);

	for (unsigned probe = 0; probe < PROBES; probe++) {
		struct site *s = &seen.site[(key / 2 + probe) % SITES];

		if (s->key && s->key != key)
			continue;
		if (!s->key)
			*s = (struct site){.key = key, .stack = b->allocated_at};
		s->bytes += b->size;
		s->buffers++;
		return;
	}
}

/* What comes meanwhile is part of the peak. */
static void walk_registry(void)
{
	struct gmod_memory_sample sum = {.bytes = 0};
	struct gmod_buffer_facts facts;

	if (!gmod_sweep_lock(GMOD_MILLISECONDS(10)))
		return;
	memset(seen.site, 0, sizeof(seen.site));
	for (uint32_t i = 0; i < gmod_registry_used(); i++) {
		gmod_monitor_progress();
		if (gmod_live_facts_at(i, &facts) && !facts.name) {
			add_buffer(&facts);
			sum.bytes += facts.size;
			sum.buffers++;
		}
	}
	gmod_sweep_unlock();
	if (sum.bytes > seen.peak.bytes) {
		seen.peak.bytes = sum.bytes;
		seen.peak.buffers = sum.buffers;
	}
	seen.walked = seen.peak.bytes;
}

static void take_sample(bool last)
{
	struct gmod_memory_sample now = sample_now();

	gmod_memory_curve_add(&seen.curve, &now, last);
	if (now.bytes <= seen.peak.bytes)
		return;
	seen.peak = now;
	if (now.bytes > seen.walked + seen.walked / 16)
		walk_registry();
}

bool gmod_memory_is_wanted(void)
{
	return gmod_log_json() && gmod_options()->verbosity >= 1;
}

void gmod_memory_tick(void)
{
	if (!gmod_memory_is_wanted() || !gmod_lock(&lock))
		return;
	take_sample(false);
	gmod_unlock(&lock);
}

/* Where nothing happens nothing is sampled. */
uint64_t gmod_memory_leisure(void)
{
	return UINT64_MAX;
}

/* ---- the event ---- */

static void add_sample(struct gmod_text *t, const struct gmod_memory_sample *s)
{
	gmod_text_str(t, "{\"time\":");
	gmod_text_stamp(t, s->ns);
	gmod_text_fmt(t, ",\"bytes\":%llu,\"buffers\":%llu", (unsigned long long)s->bytes,
		      (unsigned long long)s->buffers);
}

static struct site *largest_site(void)
{
	struct site *most = NULL;

	for (struct site *s = seen.site; s < seen.site + SITES; s++)
		if (s->bytes && (!most || s->bytes > most->bytes))
			most = s;
	return most;
}

/* false: there is no room for it, and nothing of it stays. */
static bool add_site(struct gmod_text *t, const struct site *s)
{
	size_t before = t->len;

	gmod_text_fmt(t, "%s{\"bytes\":%llu,\"buffers\":%llu", t->at[before - 1] == '[' ? "" : ",",
		      (unsigned long long)s->bytes, (unsigned long long)s->buffers);
	gmod_report_json_site(t, &s->stack, &seen.scratch);
	gmod_text_str(t, "}");
	if (!t->full)
		return true;
	t->len = before;
	t->full = false;
	return false;
}

/* Returns the bytes of those that it adds. */
static uint64_t add_sites(struct gmod_text *t)
{
	uint64_t until = gmod_monotonic_ns() + NAMING, sum = 0;
	struct site *s;

	for (int i = 0; i < SITES_SAID && (s = largest_site()) && gmod_monotonic_ns() < until; i++) {
		if (!add_site(t, s))
			break;
		sum += s->bytes;
		s->bytes = 0;
	}
	return sum;
}

static void say_all(void)
{
	struct gmod_text t;
	uint64_t sum;

	/* Room for what closes the object. */
	gmod_text_init(&t, seen.line, sizeof(seen.line) - 64);
	gmod_log_event(&t, "memory");
	gmod_text_str(&t, ",\"samples\":[");
	for (unsigned i = 0; i < seen.curve.count; i++) {
		gmod_text_str(&t, i ? "," : "");
		add_sample(&t, &seen.curve.sample[i]);
		gmod_text_str(&t, "}");
	}
	gmod_text_str(&t, "],\"peak\":");
	add_sample(&t, &seen.peak);
	gmod_text_str(&t, ",\"sites\":[");
	sum = add_sites(&t);
	t.cap = sizeof(seen.line);
	gmod_text_fmt(&t, "],\"elsewhere_bytes\":%llu}}\n", (unsigned long long)(seen.peak.bytes - sum));
	gmod_log_lines(t.at, t.len);
}

void gmod_memory_say(void)
{
	static atomic_bool said;

	if (!gmod_first_time(&said) || !gmod_lock(&lock))
		return;
	take_sample(true);
	say_all();
	gmod_unlock(&lock);
}
