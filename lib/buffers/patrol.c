#include "lib/buffers/patrol.h"

#include <stddef.h>
#include <stdlib.h>

#include "lib/base/counters.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/log.h"
#include "lib/base/map.h"
#include "lib/buffers/gather.h"
#include "lib/buffers/pages.h"
#include "lib/buffers/patrol_kernel.h"
#include "lib/buffers/patrol_list.h"
#include "lib/context/context.h"
#include "monitor/launches/activity.h"
#include "monitor/launches/proof.h"
#include "monitor/watch/budget.h"

/* ---- the lists: an entry for each position of the registry, in the list of its buffer's context ---- */

/* What is beyond is the gather's. As much is registered at a time as CHUNK entries take. */
enum { MOST = 1 << 17, CHUNK = 4096 };

/* The monitor's. */
struct patrol {
	unsigned life;   /* gmod_context_life(): whose it is; 0: nobody's yet */
	unsigned queues; /* that a stream of ours has taken */
	CUstream stream;
	uint32_t registered; /* entries that the device can read */
	bool refused;
	bool under_way;
	struct gmod_patrol_args round; /* the latest */
	struct gmod_moment began;
	uint64_t launched_ns;
	uint64_t activity_then; /* UINT64_MAX: work was outstanding */
	uint64_t activity;      /* up to which rounds have seen everything; UINT64_MAX: none have */
	uint64_t turn_activity; /* as of the latest round that found all as it should be, */
	unsigned turns;         /* and so many in a row with that one */
};

/* What a context's entry keeps, for the next one too. */
struct gmod_patrol {
	/* Where the device reads and writes: pages that are registered, and nothing else in them. */
	struct gmod_patrol_entry entry[MOST];
	struct gmod_patrol_answers answers;
	_Alignas(4096) struct patrol monitors;
	struct gmod_patrol_ready ready;
	uint32_t number; /* of the latest round, for whatever context; the monitor's */
	struct gmod_rounds rounds;
};

_Static_assert((int)GMOD_ROUND_WORDS == GMOD_PATROL_LOOK && GMOD_PATROL_LENGTH <= 8 * GMOD_ROUND_WORDS * GMOD_ROUNDS,
	       "each word has its turn among the rounds that are kept");
_Static_assert(offsetof(struct gmod_patrol, monitors) % 65536 == 0, "the device sees no page of the monitor's");

static uint64_t check_of(const struct gmod_patrol_entry *e, uint32_t slot)
{
	const gmod_u64 key[2] = {gmod_hot.key[0], gmod_hot.key[1]};

	return gmod_patrol_check(key, e, slot);
}

static struct gmod_patrol *kept_of(const struct gmod_context *c)
{
	return atomic_load_explicit(&c->patrol, memory_order_acquire);
}

static atomic_uint queues; /* of a device, which the streams of a context share */

/* As the driver has read it, unless the program has changed it since its first buffer. */
static void read_queues(void)
{
	enum { DEFAULT = 8, MOST_QUEUES = 32 };
	const char *text = getenv("CUDA_DEVICE_MAX_CONNECTIONS");
	int n = text ? atoi(text) : DEFAULT;

	atomic_store_explicit(&queues, n >= 1 && n <= MOST_QUEUES ? (unsigned)n : DEFAULT, memory_order_relaxed);
}

static struct gmod_patrol *make_kept(struct gmod_context *c)
{
	struct gmod_patrol *mine = gmod_pages(sizeof(*mine)), *first = NULL;

	read_queues();
	/* release: the kernel has been told of forks for whoever sees it */
	if (!mine || atomic_compare_exchange_strong_explicit(&c->patrol, &first, mine, memory_order_acq_rel,
							     memory_order_acquire))
		return mine;
	munmap(mine, sizeof(*mine));
	return first;
}

void gmod_patrol_add(const struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_context *c = d->context;
	const struct gmod_bounds *b = &r->bounds;
	struct gmod_patrol_entry *e, new = {0};
	struct gmod_patrol *kept = kept_of(c);

	if (r->position >= MOST || (!kept && !(kept = make_kept(c))))
		return;
	e = &kept->entry[r->position];
	new.user = b->user;
	new.extent = (b->tail_from - b->user - b->size) << 48 | b->size;
	new.serial = d->serial;
	e->user = new.user;
	e->extent = new.extent;
	__atomic_store_n(&e->serial, new.serial, __ATOMIC_RELAXED);
	/* release: the device takes an entry for one once it is whole */
	__atomic_store_n(&e->check, check_of(&new, r->position), __ATOMIC_RELEASE);
	atomic_store_explicit(&d->patrolled_to, UINT32_MAX, memory_order_relaxed);
	atomic_store_explicit(&d->patrolled, &kept->rounds, memory_order_relaxed);
}

/*
 * A round that begins from here on does not look. One that has seen the entry was launched before, and the wait of the
 * free waits for that one: so the clearing has to be there for the device before the wait begins. What is seen is read
 * before it: those rounds have looked.
 */
void gmod_patrol_remove(const struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	const struct gmod_rounds *rounds = atomic_load_explicit(&d->patrolled, memory_order_relaxed);

	/* In a forked child the list is not there. */
	if (gmod_phase() == GMOD_OFF || !rounds ||
	    atomic_load_explicit(&d->patrolled_to, memory_order_relaxed) != UINT32_MAX)
		return;
	/* acquire: these rounds are there */
	atomic_store_explicit(&d->patrolled_to, atomic_load_explicit(&rounds->latest, memory_order_acquire),
			      memory_order_relaxed);
	/* release: what is seen is read before it */
	__atomic_store_n(&kept_of(d->context)->entry[r->position].check, 0, __ATOMIC_RELEASE);
	/* A fence: what the driver looks at to know what to wait for is read by loads that no store holds back. */
	atomic_thread_fence(memory_order_seq_cst);
}

/* ---- a context's patrol; the monitor's own ---- */

enum { CHANGED = 64 }; /* looked at by the CPU in a round, at most; the others in the next one */

/* A changed redzone as it was answered. */
struct change {
	uint32_t slot;
	uint64_t check;
};

/* In the device's address space, where the CPU has them too. */
static bool show_pages(void *pages, size_t size)
{
	CUdeviceptr there = 0;

	return gmod_pages_register(pages, size, CU_MEMHOSTREGISTER_DEVICEMAP) &&
	       NEXT(cuMemHostGetDevicePointer_v2)(&there, pages, 0) == CUDA_SUCCESS && there == (uintptr_t)pages;
}

/* A chunk at a time: all that is in use. */
static bool show_list(struct patrol *p, const struct gmod_context *c)
{
	struct gmod_patrol_entry *entry = kept_of(c)->entry;

	for (; p->registered < MOST && p->registered < gmod_registry_used(); p->registered += CHUNK)
		if (!gmod_may_call(c) || !show_pages(entry + p->registered, CHUNK * sizeof(*entry)))
			return p->registered;
	return true;
}

static bool make_stream(struct patrol *p)
{
	enum { HIGHEST = -1000 }; /* the driver takes the highest that there is */

	return NEXT(cuStreamCreateWithPriority)(&p->stream, CU_STREAM_NON_BLOCKING, HIGHEST) == CUDA_SUCCESS;
}

/* ---- getting ready: the monitor, and for a moment whichever thread finds the context at rest ---- */

static struct patrol *patrol_of(const struct gmod_context *c)
{
	struct patrol *p = &kept_of(c)->monitors;

	if (p->life != gmod_context_life(c)) {
		*p = (struct patrol){.life = gmod_context_life(c), .activity = UINT64_MAX};
		gmod_patrol_to_stage(&kept_of(c)->ready, GMOD_NOT_YET);
	}
	return p;
}

void gmod_patrol_at_rest(void)
{
	struct gmod_context *c = gmod_work_outstanding() ? NULL : gmod_context_owner();
	struct gmod_cancel cancel = gmod_cancel_begin();

	if (c && kept_of(c))
		gmod_patrol_get(&kept_of(c)->ready, gmod_context_life(c));
	gmod_cancel_end(cancel);
}

/* What is refused is not asked for again in this context. */
static bool set_up(struct patrol *p, const struct gmod_context *c)
{
	struct gmod_patrol *kept = kept_of(c);

	if (atomic_load_explicit(&kept->ready.stage, memory_order_relaxed) == GMOD_NOT_YET) {
		p->refused = !show_pages(&kept->answers, sizeof(kept->answers)) || !show_list(p, c) || !make_stream(p);
		if (!p->refused)
			gmod_patrol_to_stage(&kept->ready, GMOD_WANTED);
	}
	if (!p->refused && !gmod_work_outstanding())
		gmod_patrol_get(&kept->ready, p->life);
	if (atomic_load_explicit(&kept->ready.stage, memory_order_acquire) == GMOD_GOT)
		p->refused = !kept->ready.function || kept->ready.life != p->life;
	else if (!p->refused)
		return false;
	if (p->refused)
		gmod_log_note(2, "device %d: no patrol: the driver refuses what it takes; copies look instead",
			      c->device);
	return !p->refused;
}

/* ---- a round ---- */

static bool launch_round(const struct patrol *p, const struct gmod_context *c, const struct gmod_patrol_args *round)
{
	unsigned blocks = round->count ? gmod_patrol_blocks(round->count) : 1;
	void *arguments[] = {(void *)round};

	return NEXT(cuLaunchKernel)(kept_of(c)->ready.function, blocks, 1, 1, GMOD_PATROL_THREADS, 1, 1, 0, p->stream,
				    arguments, NULL) == CUDA_SUCCESS;
}

/*
 * Streams take the device's queues in turn, each with its first kernel, and how a program's kernels overlap depends on
 * which queues its streams have. One stream more, used before NCCL's own, made an all-reduce beside a training step
 * take six times as long, without GMOD too (measured on two H100s). So before its first round the patrol launches in
 * as many streams as there are queues: the program's next stream has the queue that it would have had without GMOD.
 * All but the round itself look at nothing: one of them that is late must not answer in the place of a later round.
 */
static bool take_queues(struct patrol *p, const struct gmod_context *c)
{
	static const struct gmod_patrol_args nothing;
	bool launched = true;

	for (p->queues++; launched && p->queues < atomic_load_explicit(&queues, memory_order_relaxed); p->queues++)
		launched = launch_round(p, c, &nothing) && make_stream(p);
	return launched;
}

/* Which answers are its own is known by the number of the round: a context before this one may have left some. */
static bool launch_next(struct patrol *p, const struct gmod_context *c)
{
	p->activity_then = gmod_activity_done();
	/* Before the stamp of what is seen intact: what was proven complete by now was not the one. */
	gmod_proof_remember();
	/* Before the list is measured: a buffer that comes then is not in this round, and its kernels begin later. */
	p->began = gmod_now();
	p->round = (struct gmod_patrol_args){
	    .key = {gmod_hot.key[0], gmod_hot.key[1]},
	    .list = kept_of(c)->entry,
	    .answers = &kept_of(c)->answers,
	    .count = gmod_registry_used(),
	    .round = ++kept_of(c)->number,
	};
	if (p->round.count > p->registered)
		p->round.count = p->registered;
	p->launched_ns = gmod_monotonic_ns();
	p->under_way = (p->queues || take_queues(p, c)) && launch_round(p, c, &p->round);
	/* Its number is taken: the words whose turn it was have another one. */
	p->turns = p->under_way ? p->turns : 0;
	if (!p->under_way && gmod_may_call(c))
		gmod_degraded("the patrol's launch");
	return p->under_way;
}

static uint64_t done_of(const struct patrol *p, uint32_t block)
{
	/* acquire: what the block has found is there */
	return __atomic_load_n(&p->round.answers->done[block], __ATOMIC_ACQUIRE);
}

static bool is_answered(const struct patrol *p)
{
	for (uint32_t block = 0; block < gmod_patrol_blocks(p->round.count); block++)
		if (done_of(p, block) >> 8 != p->round.round)
			return false;
	return true;
}

/* all: false if there were more. */
static unsigned read_answers(const struct patrol *p, struct change out[CHANGED], bool *all)
{
	unsigned n = 0;

	*all = true;
	for (uint32_t block = 0; block < gmod_patrol_blocks(p->round.count); block++) {
		uint32_t differ = done_of(p, block) & 255, i;

		for (i = 0; i < differ && i < GMOD_PATROL_CHANGED && n < CHANGED; i++) {
			uint64_t slot = __atomic_load_n(&p->round.answers->changed[block][i], __ATOMIC_RELAXED) >> 40;

			if (slot < p->round.count)
				out[n++] = (struct change){
				    (uint32_t)slot, __atomic_load_n(&p->round.list[slot].check, __ATOMIC_RELAXED)};
		}
		*all = *all && i == differ;
	}
	return n;
}

/*
 * Off the list, unless it is another buffer's by now: a damaged side is looked at by the gather until it is reported,
 * and its answers would keep those of others out. Later rounds, which find all as it should be, do not speak of it: a
 * free that has begun takes its time from the latest round, and would pass the kernel by that did it.
 */
static void strike_entry(const struct patrol *p, struct change x, const struct gmod_rounds *rounds)
{
	struct gmod_details *d = gmod_record_details(gmod_record_at(x.slot));
	gmod_u64 check = x.check;

	atomic_store_explicit(&d->struck_to, atomic_load_explicit(&rounds->latest, memory_order_relaxed),
			      memory_order_relaxed);
	/* release: the round is there */
	atomic_store_explicit(&d->struck_serial, __atomic_load_n(&p->round.list[x.slot].serial, __ATOMIC_RELAXED),
			      memory_order_release);
	/* release: who sees a later round's stamp sees this */
	atomic_thread_fence(memory_order_release);
	__atomic_compare_exchange_n(&((struct gmod_patrol_entry *)p->round.list)[x.slot].check, &check, 0, false,
				    __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

/*
 * Fetched and found as it should be: all of them. One that is not may be left to who frees it, who asks then what this
 * patrol has seen: the round does not count.
 */
static bool fetch_all(const struct patrol *p, const struct gmod_context *c, const struct change *changes, unsigned n)
{
	struct gmod_moment now = gmod_now();
	uint32_t slots[CHANGED];
	bool intact = true;

	for (unsigned i = 0; i < n; i++)
		slots[i] = changes[i].slot;
	if (!gmod_gather_named(c, slots, n))
		return false;
	for (unsigned i = 0; i < n; i++)
		if (gmod_stamp_get(&gmod_record_details(gmod_record_at(slots[i]))->slack[GMOD_TAIL]).ns < now.ns) {
			strike_entry(p, changes[i], &kept_of(c)->rounds);
			intact = false;
		}
	return intact;
}

static void note_round(struct gmod_rounds *rounds, uint32_t number, uint32_t count, struct gmod_moment began)
{
	/* Whoever has this time finds that it is of another round. */
	atomic_store_explicit(&rounds->round[number % GMOD_ROUNDS].number, number, memory_order_relaxed);
	atomic_thread_fence(memory_order_release);
	atomic_store_explicit(&rounds->round[number % GMOD_ROUNDS].count, count, memory_order_relaxed);
	gmod_stamp_set(&rounds->round[number % GMOD_ROUNDS].began, began);
	/* release: its time is there */
	atomic_store_explicit(&rounds->latest, number, memory_order_release);
}

static void judge_answers(struct patrol *p, const struct gmod_context *c)
{
	struct change changes[CHANGED];
	bool all;
	unsigned n = read_answers(p, changes, &all);

	p->turns = n || !all ? 0 : p->activity_then == p->turn_activity ? p->turns + 1 : 1;
	p->turn_activity = p->activity_then;
	/* Then each word has had its turn. */
	p->activity = p->turns < GMOD_ROUNDS ? UINT64_MAX : p->activity_then;
	if ((!n || fetch_all(p, c, changes, n)) && all)
		note_round(&kept_of(c)->rounds, p->round.round, p->round.count, p->began);
}

static void take_answers(struct patrol *p, const struct gmod_context *c)
{
	if (is_answered(p)) {
		p->under_way = false;
		gmod_count(&gmod_counters.patrols, 1);
		gmod_count(&gmod_counters.patrolled, p->round.count);
		judge_answers(p, c);
	} else if (gmod_monotonic_ns() - p->launched_ns > GMOD_SECONDS(1) && gmod_may_call(c) &&
		   gmod_stream_is_idle(p->stream)) {
		/* The device is done with it, but not all has been answered: somebody has written to the answers. */
		p->under_way = false;
		p->turns = 0;
	}
}

/* ---- rounds ---- */

static bool is_needed(const struct patrol *p)
{
	return gmod_activity_total() != p->activity;
}

/*
 * What a round takes of the device: 4096 entries in each millisecond cost a kernel that is bound by memory or by
 * arithmetic 0.1 to 0.2 %, 10^5 in each 20 ms 0.2 to 0.3 % (measured on an H200).
 */
static uint64_t pause_after(const struct patrol *p)
{
	enum { NS_AN_ENTRY = 200 };
	uint64_t wanted = gmod_options()->scan_interval_us * GMOD_MILLISECONDS(1) / 1000;
	uint64_t least = (uint64_t)p->round.count * NS_AN_ENTRY;

	return wanted > least ? wanted : least;
}

static bool begin_round(struct patrol *p, struct gmod_context *c)
{
	enum gmod_patrol_kernel kernel = gmod_patrol_kernel();
	CUstreamCaptureMode mode;
	bool begun;

	p->refused = p->refused || kernel == GMOD_KERNEL_REFUSED;
	if (kernel != GMOD_KERNEL_THERE || !gmod_context_enter(c))
		return false;
	mode = gmod_relaxed_begin();
	begun = set_up(p, c) && show_list(p, c) && launch_next(p, c);
	gmod_relaxed_end(mode);
	gmod_context_leave(c);
	return begun;
}

/* A tick comes so much earlier than another one at times: who has waited for a pause must not wait for two. */
#define TICK (GMOD_MILLISECONDS(1) / 10)

static void go_round(struct patrol *p, struct gmod_context *c)
{
	uint64_t ever = UINT64_MAX;

	if (p->under_way)
		take_answers(p, c);
	if (p->under_way || p->refused || !is_needed(p) || gmod_monotonic_ns() + TICK - p->launched_ns < pause_after(p))
		return;
	/* It takes some 10 us where there is room for it. */
	if (begin_round(p, c) && gmod_nap(&ever, GMOD_MILLISECONDS(1) / 25))
		take_answers(p, c);
}

static bool has_list(const struct gmod_context *c)
{
	/* The entry may be another context's by now: who comes in asks which. */
	return gmod_may_call(c) && __atomic_load_n(&c->stream, __ATOMIC_RELAXED) && kept_of(c);
}

static bool is_early(void)
{
	static uint64_t first; /* tick that there was something to look at */

	if (!first)
		first = gmod_monotonic_ns();
	return gmod_monotonic_ns() - first < GMOD_EARLY;
}

/* Wherever it has looked of late, or need not, the gather may look less often. */
static bool has_looked(const struct patrol *p)
{
	return p->launched_ns && (!is_needed(p) || (!p->under_way && gmod_monotonic_ns() - p->launched_ns <
									 2 * pause_after(p) + GMOD_MILLISECONDS(5)));
}

void gmod_patrol_tick(void)
{
	bool all = true, some = false;

	for (unsigned i = 0; i < GMOD_CONTEXTS && gmod_on(); i++) {
		struct gmod_context *c = gmod_context_at(i);
		struct patrol *p;

		if (!has_list(c) || is_early())
			continue;
		p = patrol_of(c);
		go_round(p, c);
		some = true;
		all = all && has_looked(p);
	}
	if (some && all)
		gmod_gather_relieve(gmod_monotonic_ns() + GMOD_MILLISECONDS(5));
}

/* Answers come soon; another round has as much time as the monitor has. */
uint64_t gmod_patrol_leisure(void)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < GMOD_CONTEXTS; i++) {
		const struct gmod_context *c = gmod_context_at(i);
		const struct patrol *p = has_list(c) ? &kept_of(c)->monitors : NULL;

		if (!p || !p->launched_ns)
			continue;
		if (p->under_way)
			return GMOD_MILLISECONDS(5);
		if (is_needed(p))
			least = GMOD_PAUSE_MAX;
	}
	return least;
}
