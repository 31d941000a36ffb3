#include "lib/buffers/tensors.h"

#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "lib/base/lock.h"
#include "lib/base/unwind.h"
#include "lib/buffers/buffer.h"
#include "lib/buffers/fence.h"
#include "lib/buffers/misuse.h"
#include "lib/buffers/ordered_pool.h"
#include "lib/buffers/peers.h"
#include "lib/context/fault.h"
#include "lib/context/primary.h"
#include "lib/context/wait.h"
#include "monitor/launches/activity.h"

enum { POOLS = 64, BLOCKS = 65536, LISTS = 256, NO_STREAM = 0, WAITED }; /* no stream's keys; WAITED: by cuMemFree */

/* sum: what is fenced of its memory, as four attributes say it, from CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT on. */
struct pool {
	_Atomic(CUmemoryPool) handle; /* NULL: it has been destroyed, or there never was one */
	int device;
	_Atomic uint64_t sum[4], threshold; /* relaxed */
};
enum { RESERVED = 0, USED = 2 }; /* each with its high mark behind it */

struct block {
	struct gmod_fenced fenced;
	struct pool *pool;
	_Atomic(struct gmod_record *) record; /* whose it is; NULL: nobody's */
	uint64_t context;                     /* of the allocation, or of the free */
	uint64_t stream, ticks;               /* of the latest free; ticks 0: nobody uses it any more */
	uint32_t next;                        /* in its list: that one's number, from 1; 0: none */
};

static atomic_flag lock = ATOMIC_FLAG_INIT; /* for the lists, and what a kept block says of its free */
static struct pool pools[POOLS];
static struct block blocks[BLOCKS];
static uint32_t kept[LISTS], places; /* lists: kept ones, and numbers that have no block */
static _Atomic uint64_t used_places; /* numbers beyond were never taken */

struct want {
	const struct pool *pool; /* NULL: any */
	uint64_t size, stream, context, keep;
	int device;
};

/* ---- lists ---- */

static uint32_t *list_of(const struct pool *p, uint64_t size)
{
	return &kept[gmod_hash(size + (uint64_t)(p - pools)) % LISTS];
}

/* The first that does, of any the first; NULL: there is none. */
static struct block *take_one(uint32_t *list, bool (*does)(struct block *, const struct want *), const struct want *w)
{
	struct block *b;

	if (!gmod_lock(&lock))
		return NULL;
	while (*list && does && !does(&blocks[*list - 1], w))
		list = &blocks[*list - 1].next;
	b = *list ? &blocks[*list - 1] : NULL;
	*list = b ? b->next : 0;
	gmod_unlock(&lock);
	return b;
}

static void put_first(uint32_t *list, struct block *b)
{
	if (!gmod_lock(&lock))
		return;
	b->next = *list;
	*list = (uint32_t)(b - blocks) + 1;
	gmod_unlock(&lock);
}

static bool is_proven(const struct block *b)
{
	return !b->ticks || gmod_proven(b->context, b->stream, b->ticks) ||
	       (b->stream == WAITED && !gmod_work_outstanding());
}

/* The stream's own, or, of none, what is nobody's any more. */
static bool may_have(struct block *b, const struct want *w)
{
	return b->pool == w->pool && b->fenced.size == w->size && (w->stream ? b->stream == w->stream : is_proven(b));
}

static bool may_go(struct block *b, const struct want *w)
{
	return (w->pool ? b->pool == w->pool && w->pool->sum[RESERVED] - b->fenced.size >= w->keep
			: b->fenced.device == w->device) &&
	       is_proven(b);
}

/* The stream ends, or all of the context. */
static bool leave_stream(struct block *b, const struct want *w)
{
	if (w->stream ? b->stream == w->stream : b->context == w->context) {
		b->ticks = is_proven(b) ? 0 : b->ticks;
		b->stream = NO_STREAM;
	}
	return false;
}

/* ---- pools ---- */

static bool is_fencing(void)
{
	return gmod_on() && gmod_options()->backend == GMOD_OPTION_BACKEND_FENCE;
}

static void add(struct pool *p, unsigned what, uint64_t bytes)
{
	uint64_t now = atomic_fetch_add_explicit(&p->sum[what], bytes, memory_order_relaxed) + bytes;
	uint64_t most = atomic_load_explicit(&p->sum[what + 1], memory_order_relaxed);

	while (now > most && !atomic_compare_exchange_weak_explicit(&p->sum[what + 1], &most, now, memory_order_relaxed,
								    memory_order_relaxed))
		;
}

static struct pool *find_pool(CUmemoryPool handle)
{
	for (unsigned i = 0; i < POOLS; i++)
		/* acquire: it is as it was made */
		if (atomic_load_explicit(&pools[i].handle, memory_order_acquire) == handle)
			return &pools[i];
	return NULL;
}

void gmod_tensors_pool_made(CUmemoryPool handle, int device)
{
	static atomic_flag making = ATOMIC_FLAG_INIT;
	uint64_t threshold = is_fencing() ? gmod_pool_threshold(handle) : 0;
	struct pool *p = NULL;

	if (!is_fencing() || device < 0 || device >= GMOD_DEVICES || !gmod_lock(&making))
		return;
	for (unsigned i = 0; i < POOLS && !p && !find_pool(handle); i++)
		if (!pools[i].handle && !pools[i].sum[RESERVED])
			p = &pools[i];
	if (p) {
		*p = (struct pool){.device = device, .threshold = threshold};
		atomic_store_explicit(&p->handle, handle, memory_order_release);
	}
	gmod_unlock(&making);
}

void gmod_tensors_let_in(CUmemoryPool handle, int reader)
{
	const struct pool *p = find_pool(handle);

	if (p)
		gmod_peers_let_in(reader, p->device);
}

/* A device's own pool was there before the program, which may have opened it. */
static void meet_pool(CUmemoryPool handle, int device)
{
	CUmemLocation at = {.type = CU_MEM_LOCATION_TYPE_DEVICE};
	CUmemAccess_flags access;

	gmod_tensors_pool_made(handle, device);
	for (; NEXT(cuMemPoolGetAccess)(&access, handle, &at) == CUDA_SUCCESS; at.id++)
		if (access != CU_MEM_ACCESS_FLAGS_PROT_NONE)
			gmod_tensors_let_in(handle, at.id);
}

/* NULL: it is not known to be one of that device, or to be GMOD's to serve. */
static struct pool *pool_of(CUmemoryPool handle, int device)
{
	CUmemoryPool own = NULL;
	struct pool *p;

	if (!handle && NEXT(cuDeviceGetMemPool)(&handle, device) != CUDA_SUCCESS)
		return NULL;
	p = find_pool(handle);
	if (!p && NEXT(cuDeviceGetDefaultMemPool)(&own, device) == CUDA_SUCCESS && own == handle) {
		meet_pool(handle, device);
		p = find_pool(handle);
	}
	return p && p->device == device ? p : NULL;
}

void gmod_tensors_pool_ends(CUmemoryPool handle)
{
	struct pool *p = find_pool(handle);

	gmod_tensors_trim(handle, 0);
	if (p)
		p->handle = NULL;
}

uint64_t gmod_tensors_sum(CUmemoryPool handle, CUmemPool_attribute attribute)
{
	unsigned what = (unsigned)attribute - CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
	struct pool *p = what <= USED + 1 ? find_pool(handle) : NULL;

	return p ? atomic_load_explicit(&p->sum[what], memory_order_relaxed) : 0;
}

void gmod_tensors_set(CUmemoryPool handle, CUmemPool_attribute attribute, const void *value)
{
	unsigned what = (unsigned)attribute - CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT;
	struct pool *p = find_pool(handle);

	if (p && attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		p->threshold = *(const cuuint64_t *)value;
	else if (p && (what == RESERVED + 1 || what == USED + 1))
		p->sum[what] = p->sum[what - 1];
}

/* ---- unmapping ---- */

/* A fault that is told late would find the driver at work on what is gone. */
static bool unmap_kept(const struct want *w)
{
	bool any = false;
	struct block *b;

	for (unsigned i = 0; i < LISTS; i++)
		while ((b = take_one(&kept[i], may_go, w))) {
			if (!any)
				gmod_fault_probe(NULL);
			if (gmod_has_faulted()) {
				put_first(&kept[i], b);
				return false;
			}
			any = true;
			gmod_fence_unmap(&b->fenced);
			add(b->pool, RESERVED, -b->fenced.size);
			put_first(&places, b);
		}
	return any;
}

bool gmod_tensors_give_way(int device)
{
	bool any = unmap_kept(&(struct want){.device = device});

	return gmod_fence_trim(device) || any;
}

bool gmod_tensors_make_room(const CUmemAllocationProp *asked)
{
	struct gmod_context *c = gmod_on() ? gmod_context_owner() : NULL;
	uint64_t began = gmod_ticks();
	int device;

	if (!c)
		return false;
	device = asked ? asked->location.id : c->device;
	if (gmod_tensors_give_way(device))
		return true;
	if (!atomic_load_explicit(&used_places, memory_order_relaxed) || gmod_has_faulted() || !gmod_context_wait(c))
		return false;
	gmod_prove_context(gmod_handle(c->handle), began);
	return gmod_tensors_give_way(device);
}

void gmod_tensors_trim(CUmemoryPool handle, uint64_t keep)
{
	const struct pool *p = find_pool(handle);

	if (p)
		unmap_kept(&(struct want){.pool = p, .keep = keep});
}

void gmod_tensors_settle(void)
{
	for (unsigned i = 0; i < POOLS; i++)
		if (pools[i].handle)
			unmap_kept(&(struct want){.pool = &pools[i], .keep = pools[i].threshold});
}

/* ---- buffers ---- */

static struct block *block_of(const struct gmod_record *r)
{
	return &blocks[gmod_record_details(r)->own];
}

static void let_in(const struct gmod_record *r, uint64_t devices)
{
	gmod_fence_close(&block_of(r)->fenced, devices);
}

static const struct gmod_backend tensors = {.name = "fence", .open = let_in};

bool gmod_is_tensor(const struct gmod_record *r)
{
	return gmod_record_details(r)->backend == &tensors;
}

CUmemoryPool gmod_tensor_pool(const struct gmod_record *r)
{
	return atomic_load_explicit(&block_of(r)->pool->handle, memory_order_relaxed);
}

static struct block *map_block(struct pool *p, uint64_t size)
{
	struct block *b = take_one(&places, NULL, NULL);
	uint64_t fresh = b ? 0 : atomic_fetch_add_explicit(&used_places, 1, memory_order_relaxed);

	if (fresh >= BLOCKS)
		return NULL;
	b = b ? b : &blocks[fresh];
	*b = (struct block){.fenced = {.size = size, .device = p->device}, .pool = p};
	if (gmod_fence_take(&b->fenced, gmod_tensors_give_way)) {
		add(p, RESERVED, size);
		return b;
	}
	put_first(&places, b);
	return NULL;
}

static void keep_block(struct block *b)
{
	atomic_store_explicit(&b->record, NULL, memory_order_relaxed);
	put_first(list_of(b->pool, b->fenced.size), b);
}

/* A thread's own stream has a key that may be another thread's later. */
static uint64_t key_of(const struct gmod_order *in)
{
	return in->stream == CU_STREAM_PER_THREAD ? NO_STREAM : in->key;
}

static struct block *take_block(const struct gmod_ordered_request *q, struct pool *p, uint64_t size)
{
	struct gmod_order in = gmod_order_of(q->stream, q->flavour);
	struct want w = {.pool = p, .size = size, .stream = key_of(&in)};
	struct block *b = w.stream ? take_one(list_of(p, size), may_have, &w) : NULL;

	w.stream = NO_STREAM;
	if (!b)
		b = take_one(list_of(p, size), may_have, &w);
	return b ? b : map_block(p, size);
}

/* The record says whose block it is. What lies in that beside the user's bytes has no canaries. */
static bool fence_in(const struct gmod_ordered_request *q, struct gmod_context *c, struct pool *p,
		     struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_request plain = {.memory = GMOD_MEM_DEVICE, .size = q->size, .context = c};
	struct gmod_place place;
	uint64_t size = gmod_fence_place(q->size, 0, &place);
	struct block *b;

	d->backend = &tensors;
	gmod_unwind(&d->stack, gmod_options()->stack_depth);
	if (!size || !gmod_fence_wants(c->device, q->size, &d->stack, q->site))
		return false;
	/* As in lib/buffers/buffer.c: probes fill it. */
	if (atomic_load_explicit(&gmod_hot.keeper, memory_order_relaxed) == GMOD_KEEPER_READY && c->stream)
		gmod_context_buffer(c, &c->filled);
	b = take_block(q, p, size);
	if (!b)
		return false;
	plain.own = (uint64_t)(b - blocks);
	gmod_fence_place(q->size, b->fenced.at, &place);
	gmod_buffer_describe(r, &plain, &place);
	d->context = NULL;
	b->context = gmod_handle(c->handle);
	atomic_store_explicit(&b->record, r, memory_order_relaxed);
	if (!gmod_index_publish(r)) {
		gmod_degraded("index");
		b->stream = NO_STREAM;
		keep_block(b);
		return false;
	}
	gmod_peers_published(r);
	add(p, USED, q->size);
	return true;
}

static bool alloc_fenced(const struct gmod_ordered_request *q, CUdeviceptr *out)
{
	struct gmod_context *c = gmod_context_current();
	/* To ask about a pool would end a capture of this thread's. */
	bool may =
	    c && !atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) && gmod_backend_fence.works(c->device);
	struct pool *p = may ? pool_of(q->pool, c->device) : NULL;
	struct gmod_record *r;

	gmod_count(&gmod_counters.fence_spared, c && !p);
	if (!p || gmod_has_faulted() || gmod_stream_owner(gmod_explicit(q->stream, q->flavour)) != c->handle ||
	    !(r = gmod_record_claim()))
		return false;
	if (!fence_in(q, c, p, r)) {
		gmod_record_abandon(r);
		return false;
	}
	*out = r->bounds.user;
	gmod_count(&gmod_counters.ordered, 1);
	gmod_count(&gmod_counters.ordered_bytes, q->size);
	gmod_count(&gmod_counters.ordered_fenced, 1);
	gmod_count(&gmod_counters.ordered_fenced_bytes, q->size);
	return true;
}

bool gmod_tensors_alloc(const struct gmod_ordered_request *q, CUdeviceptr *out)
{
	struct gmod_cancel cancel = gmod_cancel_begin();
	bool done = alloc_fenced(q, out);

	gmod_cancel_end(cancel);
	return done;
}

/* The end of a context that has no entry, and with it of its streams, would go unseen. */
static void note_free(struct block *b, const struct gmod_order *in)
{
	CUcontext owner = in ? gmod_stream_owner(in->stream) : gmod_current_owner().context;
	const struct gmod_context *c = gmod_context_of(owner);

	b->context = gmod_handle(owner);
	b->stream = in ? NO_STREAM : WAITED;
	if (c && in && gmod_fence_take_place(&b->fenced, c->device, in->stream))
		b->stream = key_of(in);
	b->ticks = gmod_ticks();
}

/* The index first: another thread may have the block as soon as it is kept. */
static void release(struct gmod_record *r)
{
	struct block *b = block_of(r);

	gmod_index_remove(r->bounds.head_from, r->bounds.tail_to, r->position);
	add(b->pool, USED, -r->bounds.size);
	gmod_record_retire(r);
	keep_block(b);
}

CUresult gmod_tensors_free(const struct gmod_found *found, const struct gmod_order *in, const char *entry_point)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	struct gmod_cancel cancel;

	/* A graph frees what it has allocated, and nothing else. */
	if (in && gmod_is_captured(in->stream, GMOD_LEGACY))
		return result;
	cancel = gmod_cancel_begin();
	if (gmod_record_begin_release(found->record, found->word)) {
		gmod_misuse_remember_free(found->record);
		note_free(block_of(found->record), in);
		release(found->record);
		result = CUDA_SUCCESS;
	} else {
		gmod_misuse_free(found->bounds.user, found, entry_point, result);
	}
	gmod_cancel_end(cancel);
	return result;
}

/* ---- ends ---- */

static void leave(const struct want *w)
{
	for (unsigned i = 0; i < LISTS && is_fencing(); i++)
		take_one(&kept[i], leave_stream, w);
}

void gmod_tensors_stream_ends(uint64_t key)
{
	leave(&(struct want){.stream = key});
}

static void lose_buffers(uint64_t context)
{
	uint64_t end = atomic_load_explicit(&used_places, memory_order_relaxed);
	struct gmod_stack at; /* walked once: there may be many buffers */

	gmod_unwind(&at, gmod_options()->stack_depth);
	for (uint32_t i = 0; i < end && i < BLOCKS; i++) {
		struct gmod_record *r = atomic_load_explicit(&blocks[i].record, memory_order_relaxed);
		uint64_t word = r && blocks[i].context == context ? gmod_record_live(r) : 0;

		if (!word || !gmod_is_tensor(r) || block_of(r) != &blocks[i] || !gmod_record_begin_release(r, word))
			continue;
		gmod_misuse_remember_end(r, &at);
		release(r);
	}
}

/* What is left of its work is proven next. */
static void commit(struct gmod_context *c)
{
	uint64_t context = gmod_handle(c->handle);

	if (gmod_primary_is(c->handle))
		lose_buffers(context);
	leave(&(struct want){.context = context});
}

const struct gmod_context_listener gmod_tensors_of_context = {.on = {[GMOD_CONTEXT_COMMIT] = commit}};
