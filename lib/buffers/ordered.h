/*
 * Memory in stream order (cuMemAllocAsync and its kin): a sample of it is guarded where it lies (lib/base/sampler.h).
 *
 *     cuMemAllocAsync            longer by GMOD_REDZONE bytes at least, from the same pool           PENDING
 *     the next kernel, copy or fill in its stream: the redzone is filled directly in front of it     ARMED
 *     something that another stream or the host may wait for comes first                             BARE
 *     cuMemFreeAsync             the redzone is copied to pinned memory directly in front of it
 *
 * The order of the host is not the order of the device: a pool gives the same bytes to the next buffer while the last
 * one's kernels are still to run. So what touches a redzone does so in the stream's order, and the free is never held
 * up: no call waits, and no order comes about that the program did not ask for, but behind a look (below).
 *
 * Why armed there and not at once: whoever waits for an event, a stream or the host behind the allocation, and frees
 * the buffer in another stream, need not wait for what was put into the stream later; our fill would land in the next
 * buffer then. And in the legacy stream an allocation joins no other stream, but a fill does (measured).
 *
 * The copy has landed when its place is no longer as it was filled before. The monitor judges it. A buffer that lives
 * is looked at now and then, by a copy in a stream of our own: only once a wait of the program's has proven that it is
 * armed. The copy takes as long as the device likes, with CUDA_DEVICE_MAX_CONNECTIONS=1 behind kernels of the
 * program's. So nobody waits for it. A free meanwhile goes into its stream behind an event that is behind the copy;
 * cuMemFree, which has no stream, into ours. Modelled in tests/models/ordered.pml.
 */
#ifndef GMOD_LIB_BUFFERS_ORDERED_H
#define GMOD_LIB_BUFFERS_ORDERED_H

#include "lib/base/sampler.h"
#include "lib/context/current.h"
#include "lib/context/teardown.h"
#include "monitor/launches/stream_key.h"
#include "monitor/registry/index.h"

struct gmod_ordered_request {
	size_t size;
	CUmemoryPool pool; /* without from_pool the current one of the stream's device */
	bool from_pool;
	CUstream stream;
	enum gmod_flavour flavour;
	uint64_t site; /* where the program asks for it, gmod_ordered_site() */
	/* Of a range of the program's own pool, that lies there, and so many bytes of a redzone behind it, a multiple
	 * of 4. NULL: memory is to be allocated. */
	const char *name;
	size_t padding;
};

/*
 * Guarded, in *out, if it is its turn. false: the native call decides, and what it gives is to be counted as not
 * covered.
 */
bool gmod_ordered_alloc(const struct gmod_ordered_request *q, CUdeviceptr *out);
CUresult gmod_ordered_native(const struct gmod_ordered_request *q, size_t size, CUdeviceptr *out);

/*
 * A range that gmod_ordered_alloc() has guarded is the program's alone from here on, and looked at in the stream.
 * false: none begins there. Closed is a stream that captures, and the legacy stream beside a capture, which a call
 * there would end: nothing of ours may go into it.
 */
bool gmod_ordered_unguard(uint64_t start, const struct gmod_order *in);
bool gmod_ordered_has_range(uint64_t start);
bool gmod_ordered_is_closed(CUstream stream);

/* A place that allocates, told by who calls, from how deep a stack, for about how much: a walk up the stack takes as
 * long as the budget has for everything. */
uint64_t gmod_ordered_site(const void *caller, const void *frame, size_t size);

/* Of the live: one of lib/buffers/tensors.h, or of these. */
static inline bool gmod_is_of_a_pool(const struct gmod_record *r)
{
	return !atomic_load_explicit(&gmod_record_details(r)->context, memory_order_relaxed);
}

/* found is one of these. stream: NULL for cuMemFree, which has none, and does not wait (measured). */
CUresult gmod_ordered_free(const struct gmod_found *found, const struct gmod_order *in, const char *entry_point);

/* A kernel, copy or fill of the program's is about to go into that stream. */
__attribute__((cold)) void gmod_ordered_arm(const struct gmod_order *in);
/* The same, as an entry point of that flavour was given the stream; nothing where it captures. */
__attribute__((cold)) void gmod_ordered_arm_in(CUstream stream, enum gmod_flavour flavour);

/*
 * Something happens that others may wait for: what is pending stays bare, and what is being armed is so when this
 * returns. To be called before it, or another thread may arm one behind it. By a stream's key: something goes into that
 * one in front of which nothing is armed, or it is waited for. Then what the legacy stream joins by it stays bare, and
 * what is pending in a stream that is waited for. 0: all streams.
 */
__attribute__((cold)) void gmod_ordered_give_up(uint64_t stream, bool waited_for);

static inline void gmod_ordered_passed(void)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.ordered, memory_order_acquire) != 0, 0))
		gmod_ordered_give_up(0, true);
}

static inline void gmod_ordered_joined(CUstream stream, enum gmod_flavour flavour, bool waited_for)
{
	if (__builtin_expect(atomic_load_explicit(&gmod_hot.ordered, memory_order_acquire) != 0, 0))
		gmod_ordered_give_up(gmod_order_of(stream, flavour).key, waited_for);
}

/* The stream is about to be destroyed: its key may be another's soon. */
void gmod_ordered_stream_ends(uint64_t key);

/* Whatever has landed is judged, and each armed buffer looked at, where nothing runs. */
void gmod_ordered_look(void);
/* Looks at the living that have come are judged, without a call of the driver's. */
void gmod_ordered_take_answers(void);
void gmod_ordered_tick(void);
uint64_t gmod_ordered_leisure(void);

extern const struct gmod_context_listener gmod_ordered_of_context;

#endif
