#include "device/findings.h"

#include <string.h>

#include "include/gmod/device_ring.h"
#include "lib/base/log.h"
#include "lib/base/deadline.h"
#include "lib/base/facts.h"
#include "monitor/report/report.h"
#include "monitor/launches/suspects.h"

#define STUCK GMOD_MILLISECONDS(50)

static const enum gmod_class classes[] = {
    [GMOD_DEVICE_OVERFLOW] = GMOD_HEAP_BUFFER_OVERFLOW, [GMOD_DEVICE_UNDERFLOW] = GMOD_HEAP_BUFFER_UNDERFLOW,
    [GMOD_DEVICE_USE_AFTER_FREE] = GMOD_USE_AFTER_FREE, [GMOD_DEVICE_DOUBLE_FREE] = GMOD_DOUBLE_FREE,
    [GMOD_DEVICE_INVALID_FREE] = GMOD_INVALID_FREE,
};

static struct gmod_kernel_thread kernel_thread(uint64_t who)
{
	return (struct gmod_kernel_thread){who != GMOD_WHO_UNKNOWN, who >> 12, (uint32_t)who & 4095};
}

static void describe_buffer(struct gmod_finding *out, const struct gmod_context *c, const struct gmod_device_finding *f)
{
	out->buffer.base = f->user;
	out->buffer.size = f->size;
	out->buffer.device = c->device;
	out->buffer.memory = GMOD_MEM_KERNEL;
	out->buffer.allocated_by = kernel_thread(f->owner);
	out->buffer.backend = gmod_options()->device_heap == GMOD_OPTION_HEAP_NATIVE ? "native heap" : "slab heap";
}

/* Bytes of the window from the first changed one on, and how many of them differ; beyond the window all do. */
static void describe_bytes(struct gmod_finding *out, const struct gmod_device_finding *f)
{
	const uint8_t *observed = (const uint8_t *)f->observed, *expected = (const uint8_t *)f->expected;
	uint64_t skip = f->first - f->window_at;

	out->extent = f->last - f->first + 1;
	for (uint64_t i = 0; i < out->extent; i++) {
		if (skip + i >= GMOD_WINDOW) {
			out->changed += out->extent - i;
			break;
		}
		out->observed[out->observed_count++] = observed[skip + i];
		out->changed += observed[skip + i] != expected[skip + i];
	}
}

static void describe_corruption(struct gmod_finding *out, const struct gmod_heap *h,
				const struct gmod_device_finding *f)
{
	out->offset = (int64_t)f->first;
	if (f->class_ == GMOD_DEVICE_OVERFLOW)
		out->offset -= (int64_t)f->size;
	out->intact_ns = h->intact.ns;
	out->seen_ns = gmod_now().ns;
	describe_bytes(out, f);
	gmod_suspects_find(out, &(struct gmod_window){.intact = h->intact.ticks}, NULL);
}

static void describe_free(struct gmod_finding *out, const struct gmod_device_finding *f)
{
	out->entry_point = "freeN";
	out->address = f->user;
	out->called_by = kernel_thread(f->caller);
	if (f->class_ == GMOD_DEVICE_INVALID_FREE)
		out->buffer = (struct gmod_buffer_facts){.memory = GMOD_MEM_KERNEL};
}

static void report(const struct gmod_context *c, const struct gmod_heap *h, const struct gmod_device_finding *f)
{
	struct gmod_finding out = {.class = classes[f->class_], .status = GMOD_FINAL};

	gmod_report_pending_begin();
	out.id = gmod_finding_next_id();
	describe_buffer(&out, c, f);
	if (gmod_is_corruption(out.class))
		describe_corruption(&out, h, f);
	else
		describe_free(&out, f);
	gmod_report(&out);
	gmod_report_pending_end();
}

/*
 * Nothing of it is used before the seal is found good, and the numbers are checked even then: a kernel can read the
 * key, and changed bytes lie in a buffer or its canaries.
 */
static bool is_sane(const struct gmod_heap *h, const struct gmod_device_finding *f)
{
	return f->seal == gmod_finding_seal((const gmod_u64 *)h->key, f) && f->class_ >= GMOD_DEVICE_OVERFLOW &&
	       f->class_ <= GMOD_DEVICE_INVALID_FREE && f->first - f->window_at < 8 && f->size < GMOD_SIZE_LIMIT &&
	       -GMOD_HEAD_SIZE <= (int64_t)f->first && (int64_t)f->first <= (int64_t)f->last &&
	       (int64_t)f->last < (int64_t)(f->size + GMOD_TAIL_MAX);
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
	if (!is_sane(h, &f))
		return false;
	took(h);
	report(h->context, h, &f);
	return true;
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
	return now - h->stuck_ns > STUCK;
}

/* The next slot's number has been overwritten, or what the ring says of itself: the heap's own count tells. */
static bool pass_over(struct gmod_heap *h)
{
	uint64_t findings, due = h->due;

	h->stuck_ns = 0;
	if (!gmod_heap_read(h, h->header + offsetof(struct gmod_device_heap, findings), &findings, sizeof(findings)))
		return false;
	if (findings - h->taken > GMOD_RING_SLOTS) {
		/* No number that there can be: it has been overwritten, and with it no finding gets one any more. */
		say_damaged();
		findings = h->taken;
		h->owed = gmod_heap_write(h, h->header + offsetof(struct gmod_device_heap, findings), &findings,
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
