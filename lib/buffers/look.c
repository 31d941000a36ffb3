#include "lib/buffers/look.h"

#include <sched.h>
#include <string.h>

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "lib/buffers/backend.h"
#include "lib/buffers/pages.h"
#include "monitor/registry/sip.h"
#include "monitor/watch/damage.h"

/* ---- pinned memory ---- */

/* Behind the gather's staging memory: room for what is sent and read, as a thread may have a small stack. */
enum { ROOMS = 16, ROOMS_BYTES = ROOMS * sizeof(struct gmod_slack) };
enum { LOOKS_BYTES = (GMOD_LOOKS + GMOD_LOOKS_LIVING + GMOD_LOOKS_CONFIRM) * GMOD_LOOK_BYTES };

_Static_assert(ROOMS <= 64, "a bit for each room");

/*
 * Our own pages where the driver takes them: cuMemHostAlloc needs 1.1 ms, and no other thread gets through to the
 * driver meanwhile (measured on an H200, driver 580). What the driver has given goes with its context: what is read
 * after the end of one has to be ours.
 */
static bool pin_pages(struct gmod_pinned *p, size_t size, bool outlives)
{
	void *pages = p->own;

	if (!pages)
		pages = p->own = gmod_pages(size);
	if ((!pages || !gmod_pages_register(pages, size, CU_MEMHOSTREGISTER_PORTABLE)) &&
	    (outlives || NEXT(cuMemHostAlloc)(&pages, size, CU_MEMHOSTALLOC_PORTABLE) != CUDA_SUCCESS)) {
		gmod_degraded("pinned memory for looks");
		return false;
	}
	atomic_store_explicit(&p->pages, pages, memory_order_relaxed);
	/* What copies were late for is free: they are gone with their context. */
	atomic_store_explicit(&p->taken, 0, memory_order_relaxed);
	return true;
}

static bool pin_for(struct gmod_context *c, struct gmod_pinned *p)
{
	return p == &c->looks ? pin_pages(p, LOOKS_BYTES, true) : pin_pages(p, GMOD_STAGING + ROOMS_BYTES, false);
}

/* Whoever comes while another thread makes them goes without, and so does a context in which the driver refuses. */
uint8_t *gmod_pinned(struct gmod_context *c, struct gmod_pinned *p)
{
	static atomic_flag making = ATOMIC_FLAG_INIT;
	unsigned life = gmod_context_life(c);
	CUstreamCaptureMode mode;

	/* acquire, each: the pages were set before, and whoever had some of them is done with it */
	if (atomic_load_explicit(&p->life, memory_order_acquire) != life &&
	    atomic_load_explicit(&p->refused, memory_order_relaxed) != life &&
	    !atomic_flag_test_and_set_explicit(&making, memory_order_acquire)) {
		mode = gmod_relaxed_begin();
		if (atomic_load_explicit(&p->life, memory_order_acquire) != life)
			/* release: whoever finds the life finds the pages */
			atomic_store_explicit(pin_for(c, p) ? &p->life : &p->refused, life, memory_order_release);
		gmod_relaxed_end(mode);
		atomic_flag_clear_explicit(&making, memory_order_release);
	}
	return atomic_load_explicit(&p->life, memory_order_acquire) == life
		   ? atomic_load_explicit(&p->pages, memory_order_relaxed)
		   : NULL;
}

/* Of other memory the driver makes a copy of its own before it returns. */
static struct gmod_slack *take_room(struct gmod_context *c)
{
	uint8_t *staging = gmod_pinned(c, &c->staging);
	struct gmod_slack *slack;

	for (int i = 0; staging && i < ROOMS; i++)
		/* acquire: whoever had it is done with it */
		if (!(atomic_fetch_or_explicit(&c->staging.taken, UINT64_C(1) << i, memory_order_acquire) >> i & 1))
			return (struct gmod_slack *)(void *)(staging + GMOD_STAGING) + i;
	slack = gmod_map(sizeof(*slack));
	if (!slack)
		gmod_degraded("memory for slack");
	return slack;
}

/* A late copy still has its pinned room, which stays taken until the context ends. */
static void give_room(struct gmod_context *c, struct gmod_slack *slack, bool is_late)
{
	uintptr_t staging = (uintptr_t)atomic_load_explicit(&c->staging.pages, memory_order_relaxed);
	uintptr_t offset = (uintptr_t)slack - staging - GMOD_STAGING;

	if (slack && (!staging || offset >= ROOMS_BYTES))
		munmap(slack, sizeof(*slack));
	else if (slack && !is_late)
		/* release: whoever has it next comes behind us */
		atomic_fetch_and_explicit(&c->staging.taken, ~(UINT64_C(1) << offset / sizeof(*slack)),
					  memory_order_release);
}

/* ---- a canary that the device fills in ---- */

/* 0xff and 0 are what strays most often. */
void gmod_fill_choose(struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_canary *c = &d->canary[GMOD_TAIL];
	uint64_t end = r->bounds.user + r->bounds.size;
	uint64_t word =
	    gmod_sip_of(gmod_hot.key[0], gmod_hot.key[1], r->bounds.user, r->bounds.size, d->serial, GMOD_TAIL, 3);
	uint8_t byte[8];

	for (int i = 0; i < 8; i++)
		byte[i] = (uint8_t)(1 + (word >> 8 * (end % 4 ? 0 : i % 4)) % 254);
	*c = (struct gmod_canary){.origin = end & ~(uint64_t)7, .repeats = true};
	memcpy(&c->key[0], byte, sizeof(byte));
}

CUresult gmod_fill_ask(const struct gmod_record *r, CUstream stream)
{
	uint64_t from = r->bounds.user + r->bounds.size, size = r->bounds.tail_to - from;
	unsigned word;

	gmod_canary_bytes(&gmod_record_details(r)->canary[GMOD_TAIL], from, from + sizeof(word), &word);
	if (from % 4 == 0)
		return NEXT(cuMemsetD32Async)(from, word, size / 4, stream);
	return NEXT(cuMemsetD8Async)(from, (unsigned char)word, size, stream);
}

/* ---- one look ---- */

/* No byte is what it should be before the copy brings it. */
bool gmod_look_ask(const struct gmod_canary *c, struct gmod_range what, uint8_t *to, CUstream stream)
{
	size_t size = what.to - what.from;

	gmod_canary_bytes(c, what.from, what.to, to);
	for (size_t i = 0; i < size; i++)
		to[i] = (uint8_t)~to[i];
	return !size || NEXT(cuMemcpyDtoHAsync_v2)(to, what.from, size, stream) == CUDA_SUCCESS;
}

/* Is a word of it still the complement? A copy may stop in the middle for as long as the machine likes. */
static bool still_comes(const struct gmod_canary *c, struct gmod_range what, const uint8_t *came)
{
	size_t size = what.to - what.from, word = size < 8 ? size : 8, run = 0;
	uint8_t expected[GMOD_LOOK_BYTES];

	gmod_canary_bytes(c, what.from, what.to, expected);
	for (size_t i = 0; i < size && run < word; i++)
		run = (came[i] ^ expected[i]) == 0xff ? run + 1 : 0;
	return run == word;
}

/* The last of it first, for all of it takes its time. */
static bool is_intact(const struct gmod_canary *c, struct gmod_range what, const uint8_t *came)
{
	uint64_t end = what.to - what.from > GMOD_LINE ? what.to - GMOD_LINE : what.from;
	struct gmod_diff diff = {0};

	return gmod_canary_compare(c, end, what.to, came + (end - what.from), &diff) &&
	       gmod_canary_compare(c, what.from, what.to, came, &diff);
}

enum gmod_look_answer gmod_look_answer(const struct gmod_canary *c, struct gmod_range what, const uint8_t *from,
				       uint8_t *bytes, struct gmod_diff *diff)
{
	const volatile uint8_t *arriving = from;

	for (size_t i = 0; i < what.to - what.from; i++)
		bytes[i] = arriving[i];
	*diff = (struct gmod_diff){0};
	if (gmod_canary_compare(c, what.from, what.to, bytes, diff))
		return GMOD_LOOK_INTACT;
	return still_comes(c, what, bytes) ? GMOD_LOOK_COMES : GMOD_LOOK_CHANGED;
}

bool gmod_look_is_coming(enum gmod_look_answer answer, uint64_t *changed_ns)
{
	if (answer != GMOD_LOOK_CHANGED)
		return answer == GMOD_LOOK_COMES;
	if (!*changed_ns)
		*changed_ns = gmod_monotonic_ns();
	return gmod_monotonic_ns() - *changed_ns < GMOD_LOOK_SETTLES;
}

CUevent gmod_event_behind(CUstream stream)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	CUevent e = NULL;

	if (NEXT(cuEventCreate)(&e, CU_EVENT_DISABLE_TIMING) == CUDA_SUCCESS &&
	    NEXT(cuEventRecord)(e, stream) != CUDA_SUCCESS) {
		NEXT(cuEventDestroy_v2)(e);
		e = NULL;
	}
	gmod_relaxed_end(mode);
	return e;
}

/* The stream may be the default one of the context that is current. */
void gmod_look_precede(const struct gmod_context *c, CUstream stream)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool visited = gmod_context_visit_begin(c);
	CUevent asked = gmod_event_behind(c->stream);

	gmod_context_visit_end(visited);
	if (!asked || NEXT(cuStreamWaitEvent)(stream, asked, 0) != CUDA_SUCCESS) {
		gmod_degraded("coming behind a look");
		NEXT(cuStreamSynchronize)(c->stream);
	}
	/* Waits for it that are in a stream stay. */
	if (asked)
		NEXT(cuEventDestroy_v2)(asked);
	gmod_relaxed_end(mode);
}

/* ---- all canaries of a buffer ---- */

bool gmod_slack_is_far(const struct gmod_record *r)
{
	const struct gmod_backend *b = gmod_record_details(r)->backend;

	return !b->sees_body && gmod_has_slack(&r->bounds);
}

/* ---- to the device ---- */

static CUresult send_halves(const struct gmod_context *c, uint64_t to, const void *bytes, size_t half)
{
	CUDA_MEMCPY2D two_rows = {
	    .srcMemoryType = CU_MEMORYTYPE_HOST,
	    .srcHost = bytes,
	    .srcPitch = half,
	    .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	    .dstDevice = to,
	    .dstPitch = half,
	    .WidthInBytes = half,
	    .Height = 2,
	};

	return NEXT(cuMemcpy2DAsync_v2)(&two_rows, c->stream);
}

/*
 * As two rows: these go through the copy engine. A fill, and a small copy in one piece, wait for the program's kernels
 * where all streams share one way to the device (CUDA_DEVICE_MAX_CONNECTIONS=1): 19 ms beside a kernel of 20 ms that
 * another one waits for, where two rows take 20 us; and they wait for the turn of this process where others use the
 * device as well (measured on an H200 and an H100). What has an odd length goes twice.
 */
static bool send_canary(const struct gmod_context *c, struct gmod_range to, const uint8_t *bytes)
{
	size_t half = (to.to - to.from) / 2, odd = (to.to - to.from) % 2;

	if (!half)
		return !odd || NEXT(cuMemcpyHtoDAsync_v2)(to.from, bytes, odd, c->stream) == CUDA_SUCCESS;
	return send_halves(c, to.from, bytes, half) == CUDA_SUCCESS &&
	       (!odd || send_halves(c, to.from + odd, bytes + odd, half) == CUDA_SUCCESS);
}

/*
 * Kernels the program launches next are not ordered behind our stream: the canaries have to be there first, or one of
 * them may stray there unseen. The copies take 7 to 30 us, also on a device full of kernels or beside large copies
 * (measured on an H200). Behind a kernel that was first launched, and so loaded, while another one ran they wait for
 * that one, which may wait for the program: an allocation gives up after some 2 ms. On a busy machine others get the
 * CPU first, who may be what moves the copies on.
 */
static bool wait_a_little(const struct gmod_context *c)
{
	enum { YIELDS = 100, NAPS = 30 };
	uint64_t unlimited = UINT64_MAX;
	CUresult r;

	for (int i = 0; (r = NEXT(cuStreamQuery)(c->stream)) == CUDA_ERROR_NOT_READY && i < YIELDS + NAPS; i++)
		if (i < YIELDS)
			sched_yield();
		else
			gmod_nap(&unlimited, GMOD_MILLISECONDS(1) / 50);
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_READY)
		gmod_degraded("cuStreamQuery");
	return r == CUDA_SUCCESS;
}

/* The next would be late, too: nobody waits any more, and no more copies come behind those that are stuck. */
bool gmod_slack_is_held_up(const struct gmod_context *c)
{
	uint64_t since = atomic_load_explicit(&c->late_since, memory_order_relaxed);

	return since && gmod_monotonic_ns() - since >= GMOD_MILLISECONDS(50) && !gmod_stream_is_idle(c->stream);
}

bool gmod_slack_write(struct gmod_record *r, struct gmod_slack **sent)
{
	struct gmod_details *d = gmod_record_details(r);
	const struct gmod_bounds *b = &r->bounds;
	struct gmod_context *c = d->context;
	bool is_far = gmod_slack_is_far(r), ok;
	CUstreamCaptureMode mode;

	*sent = is_far ? take_room(c) : NULL;
	if (is_far && !*sent)
		return false;
	gmod_canary_place(d->canary, gmod_hot.key, d->serial, b, gmod_record_lines(r), *sent);
	if (!is_far)
		return true;
	mode = gmod_relaxed_begin();
	ok = send_canary(c, gmod_whole_slack(b, GMOD_HEAD), (*sent)->head) &&
	     send_canary(c, gmod_whole_slack(b, GMOD_TAIL), (*sent)->tail);
	gmod_relaxed_end(mode);
	if (!ok)
		gmod_degraded("cuMemcpy2DAsync");
	return ok;
}

bool gmod_slack_arrives(const struct gmod_record *r, struct gmod_slack *sent)
{
	struct gmod_context *c = gmod_record_details(r)->context;
	CUstreamCaptureMode mode;
	bool are_there;

	if (!sent)
		return true;
	mode = gmod_relaxed_begin();
	are_there = wait_a_little(c);
	if (are_there)
		atomic_store_explicit(&c->late_since, 0, memory_order_relaxed);
	else if (!atomic_load_explicit(&c->late_since, memory_order_relaxed))
		atomic_store_explicit(&c->late_since, gmod_monotonic_ns(), memory_order_relaxed);
	gmod_relaxed_end(mode);
	give_room(c, sent, !are_there);
	return are_there;
}

/* ---- from the device ---- */

struct gmod_slack *gmod_slack_ask(const struct gmod_record *r)
{
	const struct gmod_canary *canary = gmod_record_details(r)->canary;
	struct gmod_context *c = gmod_record_details(r)->context;
	struct gmod_slack *slack = take_room(c);
	CUstreamCaptureMode mode;
	bool ok;

	if (!slack)
		return NULL;
	mode = gmod_relaxed_begin();
	ok = gmod_look_ask(&canary[GMOD_HEAD], gmod_whole_slack(&r->bounds, GMOD_HEAD), slack->head, c->stream) &&
	     gmod_look_ask(&canary[GMOD_TAIL], gmod_whole_slack(&r->bounds, GMOD_TAIL), slack->tail, c->stream);
	/* One of two may be on its way to room that would be somebody else's. */
	if (!ok)
		NEXT(cuStreamSynchronize)(c->stream);
	gmod_relaxed_end(mode);
	if (ok)
		return slack;
	gmod_degraded("cuMemcpyDtoHAsync");
	give_room(c, slack, false);
	return NULL;
}

/*
 * In pinned memory the bytes are there 2 us before the driver would say so, and 3 before it would have brought them to
 * other memory (measured on an H100). What is no canary after a while may be changed, or still on its way.
 */
bool gmod_slack_came(const struct gmod_record *r, const struct gmod_slack *slack)
{
	const struct gmod_canary *canary = gmod_record_details(r)->canary;
	const struct gmod_context *c = gmod_record_details(r)->context;
	struct gmod_range head = gmod_whole_slack(&r->bounds, GMOD_HEAD),
			  tail = gmod_whole_slack(&r->bounds, GMOD_TAIL);
	uint64_t began = gmod_monotonic_ns();
	CUstreamCaptureMode mode;
	CUresult result;

	do
		/* Of what is found intact a finding says that it was put back. */
		if (is_intact(&canary[GMOD_TAIL], tail, slack->tail) &&
		    is_intact(&canary[GMOD_HEAD], head, slack->head))
			return gmod_damage_pending();
	while (gmod_monotonic_ns() - began < GMOD_MILLISECONDS(1) / 20);
	mode = gmod_relaxed_begin();
	result = NEXT(cuStreamSynchronize)(c->stream);
	gmod_relaxed_end(mode);
	if (result != CUDA_SUCCESS)
		gmod_degraded("cuStreamSynchronize");
	return result == CUDA_SUCCESS;
}

void gmod_slack_done(const struct gmod_record *r, struct gmod_slack *slack)
{
	give_room(gmod_record_details(r)->context, slack, false);
}
