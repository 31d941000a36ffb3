#include "lib/buffers/accounts.h"

struct accounts {
	_Atomic uint64_t in_flight; /* being allocated now: decided on, not yet taken from the device's free memory */
	_Atomic uint64_t overdraft; /* left to the native allocator beyond what was free */
	_Atomic uint64_t freed;     /* of managed device buffers, so far */
	_Atomic uint64_t unplaced;  /* of live buffers, not moved to the device */
};

static struct accounts accounts[GMOD_CONTEXTS];

static struct accounts *of(const struct gmod_context *c)
{
	return &accounts[gmod_context_index(c)];
}

/*
 * The driver takes device memory for managed buffers in chunks and keeps some when they are freed: what it calls free
 * was up to 96 MiB less than what a buffer could get (measured on an H200 with 64 MiB to 8 GiB at a time, and with
 * 4000 x 1 MiB). Where it is that close, the native allocator decides, so that the answer is the native one; so it
 * does for small buffers, which may fit into a chunk that is there although nothing is free. But it would make room by
 * evicting managed buffers, without end: what is asked of it beyond what is free is kept to that amount in all, and to
 * what has been freed at all.
 */
static bool draw_over(struct accounts *a, uint64_t shortage)
{
	uint64_t before = atomic_fetch_add_explicit(&a->overdraft, shortage, memory_order_relaxed);
	uint64_t freed = atomic_load_explicit(&a->freed, memory_order_relaxed);

	if (before + shortage <= (freed < GMOD_MANAGED_SPARE ? freed : GMOD_MANAGED_SPARE))
		return true;
	atomic_fetch_sub_explicit(&a->overdraft, shortage, memory_order_relaxed);
	return false;
}

enum gmod_answer gmod_accounts_answer(struct gmod_request *q, size_t size, size_t spare)
{
	struct accounts *a = of(q->context);
	size_t available = 0, total = 0;
	uint64_t before = atomic_fetch_add_explicit(&a->in_flight, size, memory_order_relaxed);
	uint64_t taken = before + atomic_load_explicit(&a->unplaced, memory_order_relaxed);

	q->reserved += size;
	if (NEXT(cuMemGetInfo_v2)(&available, &total) != CUDA_SUCCESS)
		return GMOD_LEAVES_NATIVE;
	available = available > taken ? available - taken : 0;
	if (size <= available && available - size >= spare) {
		atomic_store_explicit(&a->overdraft, 0, memory_order_relaxed);
		return GMOD_ACCEPTS;
	}
	return size <= available || draw_over(a, size - available) ? GMOD_LEAVES_NATIVE : GMOD_HAS_NO_MEMORY;
}

void gmod_accounts_settle(struct gmod_request *q)
{
	atomic_fetch_sub_explicit(&of(q->context)->in_flight, q->reserved, memory_order_relaxed);
	q->reserved = 0;
}

/*
 * What the driver moves by itself later on is then in its accounts and in ours: less seems free than is, never more.
 */
void gmod_accounts_unplaced(const struct gmod_context *c, uint64_t bytes)
{
	atomic_fetch_add_explicit(&of(c)->unplaced, bytes, memory_order_relaxed);
}

void gmod_accounts_freed(const struct gmod_context *c, uint64_t size, uint64_t unplaced)
{
	atomic_fetch_add_explicit(&of(c)->freed, size, memory_order_relaxed);
	atomic_fetch_sub_explicit(&of(c)->unplaced, unplaced, memory_order_relaxed);
}

uint64_t gmod_accounts_pending(const struct gmod_context *c)
{
	return atomic_load_explicit(&of(c)->unplaced, memory_order_relaxed) +
	       atomic_load_explicit(&of(c)->in_flight, memory_order_relaxed);
}

void gmod_accounts_gone(struct gmod_context *c)
{
	atomic_store_explicit(&of(c)->overdraft, 0, memory_order_relaxed);
	atomic_store_explicit(&of(c)->freed, 0, memory_order_relaxed);
}
