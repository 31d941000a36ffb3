#include "device/findings.h"

#include "device/verdict.h"
#include "include/gmod/device_entry.h"

#include <string.h>

#include "include/gmod/device_ring.h"
#include "lib/base/log.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "lib/base/map.h"
#include "monitor/launches/activity.h"
#include "monitor/report/report.h"
#include "monitor/launches/suspects.h"
#include "monitor/watch/monitor.h"

/* A finding whose number is there and it is not. The kernel may be at it, for as long as others have the device. The
 * end of the process does not wait so long. */
#define STUCK GMOD_SECONDS(1)
#define STUCK_AT_REST GMOD_MILLISECONDS(50)

static struct gmod_kernel_thread kernel_thread(uint64_t who)
{
	who &= GMOD_WHO_UNKNOWN;
	return (struct gmod_kernel_thread){who != GMOD_WHO_UNKNOWN, who >> 10, (uint32_t)who & 1023};
}

static void describe_buffer(struct gmod_finding *out, const struct gmod_context *c, const struct gmod_device_finding *f)
{
	out->buffer.base = f->user;
	out->buffer.size = gmod_entry_size(f->word);
	out->buffer.device = c->device;
	out->buffer.memory = GMOD_MEM_KERNEL;
	out->buffer.allocated_by = kernel_thread(f->owner);
	out->buffer.backend = "slab heap";
}

static void describe_corruption(struct gmod_finding *out, const struct gmod_heap *h, const struct gmod_verdict *v)
{
	out->class = v->class;
	out->offset = v->first - (v->class == GMOD_HEAP_BUFFER_OVERFLOW ? (int64_t)v->size : 0);
	out->extent = (uint64_t)(v->last - v->first + 1);
	out->changed = v->changed;
	out->observed_count = v->count;
	memcpy(out->observed, v->observed, v->count);
	memcpy(out->expected, v->expected, v->count);
	out->intact_ns = h->intact.ns;
	out->seen_ns = gmod_now().ns;
	gmod_suspects_find(out, &(struct gmod_window){.intact = h->intact.ticks}, NULL);
}

static void describe_free(struct gmod_finding *out, const struct gmod_device_finding *f)
{
	out->entry_point = "freeN";
	out->address = f->user;
	out->called_by = kernel_thread(f->caller);
	out->class = f->class_ == GMOD_DEVICE_DOUBLE_FREE ? GMOD_DOUBLE_FREE : GMOD_INVALID_FREE;
	if (f->class_ == GMOD_DEVICE_INVALID_FREE)
		out->buffer = (struct gmod_buffer_facts){.memory = GMOD_MEM_KERNEL};
}

static void report(const struct gmod_context *c, const struct gmod_heap *h, const struct gmod_device_finding *f)
{
	const size_t room = GMOD_SUSPECTS_MAX * sizeof(struct gmod_suspect);
	struct gmod_finding out = {.status = GMOD_FINAL};
	struct gmod_verdict v;

	if (f->class_ == GMOD_DEVICE_VOID || (f->class_ == GMOD_DEVICE_CORRUPT && !gmod_device_judge(h->key, f, &v)))
		return;
	gmod_report_pending_begin();
	out.id = gmod_finding_next_id();
	out.suspect = gmod_map(room);
	out.suspect_room = out.suspect ? GMOD_SUSPECTS_MAX : 0;
	describe_buffer(&out, c, f);
	if (f->class_ == GMOD_DEVICE_CORRUPT)
		describe_corruption(&out, h, &v);
	else
		describe_free(&out, f);
	gmod_report(&out);
	gmod_report_pending_end();
	if (out.suspect)
		munmap(out.suspect, room);
}

static void say_damaged(void)
{
	static atomic_bool said;

	if (gmod_degraded_first(&said))
		gmod_log_note(0, "findings of the device heap have been overwritten by the program: some are lost");
}

static void took(struct gmod_heap *h)
{
	h->taken++;
	h->stuck_ns = 0;
	__atomic_store_n(&h->ring->taken, h->taken, __ATOMIC_RELEASE);
}

/* The next finding, as the ring says; false: it is not there. */
static bool take_next(struct gmod_heap *h)
{
	const struct gmod_device_finding *slot = &h->ring->slot[h->taken % GMOD_RING_SLOTS];
	struct gmod_device_finding f;

	/* acquire: the finding that the number says is there */
	if (__atomic_load_n(&slot->sequence, __ATOMIC_ACQUIRE) != h->taken + 1)
		return false;
	memcpy(&f, slot, sizeof(f));
	/* A number that somebody else has put there: the finding itself may be yet to come. */
	if (!gmod_device_finding_is_sane(h->key, &f))
		return false;
	took(h);
	report(h->context, h, &f);
	return true;
}

static uint64_t patience(const struct gmod_heap *h)
{
	bool may_come = h->under_way || gmod_work_outstanding();

	return may_come && !gmod_monitor_stopping() ? STUCK : STUCK_AT_REST;
}

/* Does the ring say for a while already that there should be more? */
static bool is_stuck(struct gmod_heap *h)
{
	uint64_t now;

	if (__atomic_load_n(&h->ring->said, __ATOMIC_RELAXED) == h->taken) {
		h->stuck_ns = 0;
		return false;
	}
	now = gmod_monotonic_ns();
	if (!h->stuck_ns)
		h->stuck_ns = now;
	return now - h->stuck_ns > patience(h);
}

/* The next slot's number has been overwritten, or what the ring says of itself: the heap's own count tells. */
static bool pass_over(struct gmod_heap *h)
{
	uint64_t findings, due = h->due;

	h->stuck_ns = 0;
	if (!gmod_heap_read(h, h->state + offsetof(struct gmod_heap_state, findings), &findings, sizeof(findings)))
		return false;
	if (findings - h->taken > GMOD_RING_SLOTS) {
		/* No number that there can be: it has been overwritten, and with it no finding gets one any more. */
		say_damaged();
		findings = h->taken;
		h->owed = gmod_heap_write(h, h->state + offsetof(struct gmod_heap_state, findings), &findings,
					  sizeof(findings));
	}
	h->due = findings;
	if (findings == h->taken) {
		__atomic_store_n(&h->ring->said, h->taken, __ATOMIC_RELAXED);
		return false;
	}
	/* What has got its number since may be on its way. */
	if (due <= h->taken)
		return is_stuck(h);
	say_damaged();
	/* Up to the next one that can be read, or the last. */
	do
		took(h);
	while (h->taken < due && !take_next(h));
	return true;
}

void gmod_findings_take(struct gmod_heap *h)
{
	/* The device goes by this number, which is as exposed as all the others. */
	__atomic_store_n(&h->ring->taken, h->taken, __ATOMIC_RELEASE);
	for (int i = 0; i < GMOD_RING_SLOTS && (take_next(h) || (is_stuck(h) && pass_over(h))); i++)
		;
}
