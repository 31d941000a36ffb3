#include "lib/buffers/slack.h"

#include <sched.h>
#include <string.h>

#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "lib/buffers/backend.h"
#include "monitor/watch/damage.h"

/* ---- room: the thread may have a small stack, and a mapping takes its time ---- */

enum { ROOMS = GMOD_SLACK_PINNED / 2 / sizeof(struct gmod_slack) };

_Static_assert(ROOMS <= 64, "a bit for each room");

static struct gmod_slack pageable[ROOMS];
static struct gmod_rooms others = {.slack = pageable}; /* the driver has a copy of its own of what is sent from there */

static struct gmod_slack *first_of(const struct gmod_rooms *rooms)
{
	return atomic_load_explicit(&rooms->slack, memory_order_relaxed);
}

static struct gmod_slack *take_of(struct gmod_rooms *rooms, unsigned life)
{
	/* acquire: they are pinned, and whoever had one is done with it */
	bool are_there = atomic_load_explicit(&rooms->life, memory_order_acquire) == life;

	for (int i = 0; are_there && i < ROOMS; i++)
		if (!(atomic_fetch_or_explicit(&rooms->taken, UINT64_C(1) << i, memory_order_acquire) >> i & 1))
			return first_of(rooms) + i;
	return NULL;
}

static struct gmod_slack *take(struct gmod_rooms *rooms, const struct gmod_context *c)
{
	struct gmod_slack *slack = take_of(rooms, gmod_context_life(c));

	if (!slack)
		slack = take_of(&others, 0);
	if (!slack)
		slack = gmod_map(sizeof(*slack));
	if (!slack)
		gmod_degraded("memory for slack");
	return slack;
}

static bool is_of(const struct gmod_rooms *rooms, const struct gmod_slack *slack)
{
	const struct gmod_slack *first = first_of(rooms);

	return first && slack >= first && slack < first + ROOMS;
}

static void give(struct gmod_rooms *rooms, struct gmod_slack *slack)
{
	struct gmod_rooms *of = is_of(&others, slack) ? &others : rooms;

	if (is_of(of, slack))
		/* release: see take_of() */
		atomic_fetch_and_explicit(&of->taken, ~(UINT64_C(1) << (slack - first_of(of))), memory_order_release);
	else if (slack)
		munmap(slack, sizeof(*slack));
}

static void have(struct gmod_rooms *rooms, const struct gmod_context *c, struct gmod_slack *slack)
{
	if (!first_of(rooms))
		atomic_store_explicit(&rooms->slack, slack, memory_order_relaxed);
	/* What copies were late for is free: they are gone with their context. */
	atomic_store_explicit(&rooms->taken, 0, memory_order_relaxed);
	/* release: see take_of() */
	atomic_store_explicit(&rooms->life, gmod_context_life(c), memory_order_release);
}

void gmod_slack_pinned(struct gmod_context *c, void *pages)
{
	struct gmod_slack *slack = pages;

	have(&c->to_send, c, slack);
	have(&c->to_read, c, slack + ROOMS);
}

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
static bool send(const struct gmod_context *c, struct gmod_range to, const uint8_t *bytes)
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

static void note_late(struct gmod_context *c, bool is)
{
	_Atomic uint64_t *since = &c->late_since;

	if (!is)
		atomic_store_explicit(since, 0, memory_order_relaxed);
	else if (!atomic_load_explicit(since, memory_order_relaxed))
		atomic_store_explicit(since, gmod_monotonic_ns(), memory_order_relaxed);
}

static bool send_slack(const struct gmod_context *c, const struct gmod_bounds *b, const struct gmod_slack *slack)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool ok = send(c, gmod_whole_slack(b, GMOD_HEAD), slack->head) &&
		  send(c, gmod_whole_slack(b, GMOD_TAIL), slack->tail);

	gmod_relaxed_end(mode);
	if (!ok)
		gmod_degraded("cuMemcpy2DAsync");
	return ok;
}

bool gmod_slack_write(struct gmod_record *r, struct gmod_slack **sent)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_context *c = d->context;
	bool is_far = gmod_slack_is_far(r);

	*sent = is_far ? take(&c->to_send, c) : NULL;
	if (is_far && !*sent)
		return false;
	gmod_canary_place(d->canary, gmod_hot.key, d->serial, &r->bounds, gmod_record_lines(r), *sent);
	return !is_far || send_slack(c, &r->bounds, *sent);
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
	note_late(c, !are_there);
	gmod_relaxed_end(mode);
	/* A late copy still reads its pinned room, which stays taken until the context ends. */
	if (are_there || !is_of(&c->to_send, sent))
		give(&c->to_send, sent);
	return are_there;
}

/* ---- from the device ---- */

static bool is_intact(const struct gmod_record *r, enum gmod_side side, struct gmod_range range, const uint8_t *bytes)
{
	struct gmod_diff diff = {0};

	return gmod_canary_compare(&gmod_record_details(r)->canary[side], range.from, range.to, bytes, &diff);
}

/* No byte is what it should be before the copy brings it. */
static bool ask(const struct gmod_record *r, enum gmod_side side, uint8_t *to)
{
	const struct gmod_details *d = gmod_record_details(r);
	const struct gmod_context *c = d->context;
	struct gmod_range range = gmod_whole_slack(&r->bounds, side);
	size_t size = range.to - range.from;
	uint64_t word;

	gmod_canary_bytes(&d->canary[side], range.from, range.to, to);
	for (size_t i = 0; i < size; i += sizeof(word)) {
		memcpy(&word, to + i, sizeof(word));
		word = ~word;
		memcpy(to + i, &word, sizeof(word));
	}
	return !size || NEXT(cuMemcpyDtoHAsync_v2)(to, range.from, size, c->stream) == CUDA_SUCCESS;
}

/*
 * In pinned memory the bytes are there 2 us before the driver would say so, and 3 before it would have brought them to
 * other memory (measured on an H100). What is no canary after a while may be changed, or still on its way.
 */
static bool comes_intact(const struct gmod_record *r, const struct gmod_slack *slack)
{
	struct gmod_range head = gmod_whole_slack(&r->bounds, GMOD_HEAD);
	struct gmod_range tail = gmod_whole_slack(&r->bounds, GMOD_TAIL), end = tail;
	uint64_t began = gmod_monotonic_ns();

	/* The last of it first, for all of it takes its time. */
	if (end.to - end.from > GMOD_LINE)
		end.from = end.to - GMOD_LINE;
	do
		if (is_intact(r, GMOD_TAIL, end, slack->tail + (end.from - tail.from)) &&
		    is_intact(r, GMOD_TAIL, tail, slack->tail) && is_intact(r, GMOD_HEAD, head, slack->head))
			return true;
	while (gmod_monotonic_ns() - began < GMOD_MILLISECONDS(1) / 20);
	return false;
}

struct gmod_slack *gmod_slack_ask(const struct gmod_record *r)
{
	struct gmod_context *c = gmod_record_details(r)->context;
	struct gmod_slack *slack = take(&c->to_read, c);
	CUstreamCaptureMode mode;
	bool ok;

	if (!slack)
		return NULL;
	mode = gmod_relaxed_begin();
	ok = ask(r, GMOD_HEAD, slack->head) && ask(r, GMOD_TAIL, slack->tail);
	/* One of two may be on its way to room that would be somebody else's. */
	if (!ok)
		NEXT(cuStreamSynchronize)(c->stream);
	gmod_relaxed_end(mode);
	if (ok)
		return slack;
	gmod_degraded("cuMemcpyDtoHAsync");
	gmod_slack_done(r, slack);
	return NULL;
}

bool gmod_slack_came(const struct gmod_record *r, const struct gmod_slack *slack)
{
	const struct gmod_context *c = gmod_record_details(r)->context;
	CUstreamCaptureMode mode;
	CUresult result;

	/* Of what is found intact a finding says that it was put back. */
	if (comes_intact(r, slack))
		return gmod_damage_pending();
	mode = gmod_relaxed_begin();
	result = NEXT(cuStreamSynchronize)(c->stream);
	gmod_relaxed_end(mode);
	if (result != CUDA_SUCCESS)
		gmod_degraded("cuStreamSynchronize");
	return result == CUDA_SUCCESS;
}

void gmod_slack_done(const struct gmod_record *r, struct gmod_slack *slack)
{
	struct gmod_context *c = gmod_record_details(r)->context;

	give(&c->to_read, slack);
}
