/*
 * Device buffers under backend=fence: each in a block of its own (lib/buffers/fence.h), with nothing mapped behind its
 * last byte, so that the first access past it is a fault, which the driver's exception dump explains (lib/faults).
 *
 *     │ nothing │ block: N x 2 MiB;     canaries │ user │ slack │ nothing │      the end, as a rule
 *     │ nothing │ user │ canaries                       block   │ nothing │      the start, of some
 *
 * The slack is what fence_align leaves, and has canaries. A store into it, or before the buffer, is found as it is
 * found beside any other buffer, by the gather.
 *
 * An out-of-bounds access by way of NVLink has put a host of eight GPUs out of service. So buffers that peers could
 * reach have no fence: those of devices that let peers in, and those of libraries that hand memory to others.
 */
#include <stdlib.h>
#include <string.h>

#include "lib/base/asked.h"
#include "lib/base/counters.h"
#include "lib/base/facts.h"
#include "lib/base/hash.h"
#include "lib/base/log.h"
#include "lib/base/object.h"
#include "lib/base/origin.h"
#include "lib/base/python.h"
#include "lib/base/sampler.h"
#include "lib/buffers/backend.h"
#include "lib/buffers/fence.h"
#include "lib/buffers/peers.h"
#include "lib/buffers/tensors.h"
#include "lib/context/fault.h"
#include "lib/context/wait.h"
#include "lib/driver/mapping.h"

static _Atomic uint64_t turn;

uint32_t gmod_fence_seed(void)
{
	static _Atomic uint32_t seed;
	uint32_t known = atomic_load_explicit(&seed, memory_order_relaxed), fresh = gmod_options()->fence_seed;

	if (known)
		return known;
	if (!fresh)
		fresh = (uint32_t)(gmod_hash(gmod_monotonic_ns()) >> 33) | 1; /* an option holds 31 bits */
	atomic_compare_exchange_strong_explicit(&seed, &known, fresh, memory_order_relaxed, memory_order_relaxed);
	return atomic_load_explicit(&seed, memory_order_relaxed);
}

/* One in n, by the seed; n is not 0. */
static bool is_drawn(uint64_t number, unsigned n)
{
	return gmod_random(gmod_fence_seed(), number) % n == 0;
}

/* Under MPS a fault ends the other clients, too. */
static unsigned ask_for_fences(int device)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	bool is_shared = gmod_device_attribute(device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED);
	bool is = !is_shared && gmod_mapping_is_possible(device);

	gmod_relaxed_end(mode);
	if (is_shared)
		gmod_log_note(0, "no fences on device %d: under MPS a fault would end the other clients", device);
	return is;
}

static bool works_on(int device)
{
	static struct gmod_asked asked;

	return gmod_ask_once(&asked, device, ask_for_fences);
}

/* ---- who allocates ---- */

/*
 * Libraries that hand the memory that they allocate to other processes, devices or network adapters; and the pool whose
 * segments hold many tensors. Names begin with these.
 */
enum caller { NOBODY, PYTORCH, SHARES };
static const struct {
	const char *name;
	enum caller is;
} callers[] = {{"libnccl", SHARES}, {"libnvshmem", SHARES}, {"libuc", SHARES},
	       {"libmpi", SHARES},  {"libfabric", SHARES},  {"libc10_cuda", PYTORCH}};

static enum caller caller_at(uintptr_t pc)
{
	struct gmod_object o;
	const char *slash, *name;

	if (!gmod_object_at(pc, &o))
		return NOBODY;
	slash = strrchr(o.path, '/');
	name = slash ? slash + 1 : o.path;
	for (size_t i = 0; i < sizeof(callers) / sizeof(*callers); i++)
		if (!strncmp(name, callers[i].name, strlen(callers[i].name)))
			return callers[i].is;
	return NOBODY;
}

/* The greatest of the enum: who shares memory may be called by PyTorch. */
static enum caller caller_of(const struct gmod_stack *s)
{
	enum caller most = NOBODY;

	for (uint32_t i = 0; i < s->depth && most != SHARES; i++) {
		enum caller one = caller_at(s->pc[i] - 1);

		most = one > most ? one : most;
	}
	return most;
}

static void say_segments(void)
{
	static atomic_bool asked;

	if (!gmod_first_time(&asked) || getenv("PYTORCH_NO_CUDA_MEMORY_CACHING"))
		return;
	gmod_log_note(1, "the fences are behind PyTorch's segments, which hold many tensors; with gmod --exact "
			 "--per-tensor they are behind each tensor");
}

/*
 * As monitor/report/view.c makes it of a report: the same in each run of the same program. Of Python the lines alone,
 * for a report does not have the interpreter's frames.
 */
static uint64_t hash_of(const struct gmod_stack *s)
{
	const struct gmod_python *python = gmod_python_stack(s->python);
	uint64_t h = GMOD_HASH_START;
	struct gmod_object o;

	for (uint32_t i = 0; i < s->depth && !python; i++)
		if (gmod_object_at(s->pc[i] - 1, &o)) {
			uint64_t offset = s->pc[i] - 1 - o.bias;

			h = gmod_hash_bytes(h, &offset, sizeof(offset));
		}
	for (uint64_t i = 0; python && i < python->depth; i++)
		h = gmod_hash_bytes(h, &python->frame[i].line, sizeof(python->frame[i].line));
	return h;
}

/* ---- the places of option fence_sites ---- */

static _Atomic uint64_t met; /* a bit for each place of an allocation that can have a fence */

static bool next_site(const char **at, uint64_t *site)
{
	char *end;
	bool is_there;

	*site = strtoull(*at, &end, 16);
	is_there = end != *at;
	*at = end + (*end == ',');
	return is_there;
}

static bool is_named(uint64_t site)
{
	const char *at = gmod_options()->fence_sites;
	uint64_t one;

	for (uint64_t bit = 1; next_site(&at, &one); bit <<= 1)
		if (one == site) {
			atomic_fetch_or_explicit(&met, bit, memory_order_relaxed);
			return true;
		}
	return false;
}

void gmod_fence_say_unmet(void)
{
	static char unmet[1024]; /* the caller may have little stack */
	const char *at = gmod_options()->fence_sites;
	struct gmod_text t;
	uint64_t one;

	gmod_text_init(&t, unmet, sizeof(unmet));
	for (uint64_t bit = 1; bit && next_site(&at, &one); bit <<= 1)
		if (!(atomic_load_explicit(&met, memory_order_relaxed) & bit))
			gmod_text_fmt(&t, "%s0x%llx",
				      t.len ? ", " : "fence_sites where nothing was allocated that can have a fence: ",
				      (unsigned long long)one);
	if (t.len && gmod_options()->backend == GMOD_OPTION_BACKEND_FENCE)
		gmod_log_note(1, "%s", unmet);
}

/* A framework that uses one device alone may have opened its memory to all that it sees. */
static void say_peers(int device)
{
	static atomic_bool said;
	char gpu[64] = ""; /* the device's number depends on which ones are hidden already */
	struct gmod_text t;

	if (!gmod_first_time(&said))
		return;
	gmod_text_init(&t, gpu, sizeof(gpu));
	gmod_text_gpu(&t, device);
	gmod_log_note(0,
		      "no fence behind what is allocated on device %d from now on: another device may access it; "
		      "CUDA_VISIBLE_DEVICES hides the others if it names %s",
		      device, *gpu ? gpu : "this one alone");
}

/* A place in stream order allocates often, and its stack takes long to be looked at: the lowest bit is the answer. */
static enum caller caller_from(const struct gmod_stack *s, uint64_t site)
{
	static _Atomic uint64_t seen[1024];
	_Atomic uint64_t *at = &seen[(site >> 1) % 1024];
	uint64_t known = atomic_load_explicit(at, memory_order_relaxed);
	enum caller caller;

	if (site && (known | 1) == site)
		return known & 1 ? SHARES : NOBODY;
	caller = caller_of(s);
	if (site)
		atomic_store_explicit(at, site - (caller != SHARES), memory_order_relaxed);
	return caller;
}

bool gmod_fence_wants(int device, size_t size, const struct gmod_stack *s, uint64_t site)
{
	enum caller caller = caller_from(s, site);
	bool is_everywhere = !*gmod_options()->fence_sites, is_here = !is_everywhere && is_named(hash_of(s));
	bool peers = gmod_peers_use(device);

	if (peers)
		say_peers(device);
	if (peers || atomic_load_explicit(&gmod_hot.captures, memory_order_relaxed) || caller == SHARES) {
		gmod_count(&gmod_counters.fence_spared, 1);
		return false;
	}
	if (caller == PYTORCH && !site)
		say_segments();
	return is_everywhere || is_here || size >= GMOD_LARGE;
}

static bool is_wanted(const struct gmod_request *q)
{
	struct gmod_stack s;

	gmod_unwind(&s, gmod_options()->stack_depth);
	return gmod_fence_wants(q->context->device, q->size, &s, 0);
}

/* ---- a buffer ---- */

static size_t end_alignment(void)
{
	size_t is = GMOD_DEVICE_ALIGNMENT;

	while (is > gmod_options()->fence_align)
		is /= 2;
	return is;
}

/* Who looks for one overflow, by its place, wants each buffer's end there. */
static bool lies_at_start(void)
{
	int side = gmod_options()->fence_side;
	uint64_t number = atomic_fetch_add_explicit(&turn, 1, memory_order_relaxed);

	return side == GMOD_OPTION_FENCE_START ||
	       (side == GMOD_OPTION_FENCE_SOME && !*gmod_options()->fence_sites && is_drawn(number, 8));
}

size_t gmod_fence_place(size_t size, uint64_t at, struct gmod_place *out)
{
	return gmod_layout_fenced_at(size, end_alignment(), at && lies_at_start(), at, out);
}

static enum gmod_answer alloc_buffer(struct gmod_request *q, struct gmod_place *place)
{
	struct gmod_fenced b = {.size = gmod_fence_place(q->size, 0, place), .device = q->context->device};

	if (q->memory != GMOD_MEM_DEVICE || !q->context->stream || !b.size)
		return GMOD_DECLINES;
	gmod_count(&gmod_counters.fence_spared, !works_on(b.device));
	if (!works_on(b.device) || !is_wanted(q) || !gmod_fence_take(&b, gmod_tensors_give_way))
		return GMOD_DECLINES;
	gmod_fence_place(q->size, b.at, place);
	q->own = b.size;
	return GMOD_ACCEPTS;
}

static struct gmod_fenced block_of(const struct gmod_record *r)
{
	const struct gmod_details *d = gmod_record_details(r);

	return (struct gmod_fenced){d->raw, d->own, d->device};
}

static void arm_buffer(const struct gmod_request *q, struct gmod_record *r)
{
	(void)r;
	gmod_count(&gmod_counters.fenced, 1);
	gmod_count(&gmod_counters.fenced_bytes, q->size);
}

/* The first of each place that allocates, and one in fence_uaf of the rest. */
static bool is_to_fault(const struct gmod_details *d)
{
	static _Atomic uint64_t seen[64]; /* a bit for each place, as far as 12 bits tell them apart */
	unsigned one_in = gmod_options()->fence_uaf;
	uint64_t site = gmod_hash(hash_of(&d->stack)), bit = UINT64_C(1) << (site >> 52 & 63);

	if (!one_in)
		return false;
	return !(atomic_fetch_or_explicit(&seen[site >> 58], bit, memory_order_relaxed) & bit) ||
	       is_drawn(d->serial, one_in);
}

/* For a context that is gone, too: natively its memory is the device's again. */
static void lose_buffer(struct gmod_record *r)
{
	struct gmod_fenced b = block_of(r);

	gmod_fence_unmap(&b);
}

/* A fault of the buffer that is told late would find the driver at work on what is gone. */
static CUresult free_buffer(struct gmod_record *r)
{
	struct gmod_details *d = gmod_record_details(r);
	struct gmod_context *c = d->context;
	bool visited = gmod_context_visit_begin(c);
	/* By all work: fills and copies, too, of which GMOD does not always know. */
	CUresult result = d->at_rest ? CUDA_SUCCESS : gmod_context_answer_of_free(c);
	struct gmod_fenced b = block_of(r);

	if (result == CUDA_SUCCESS)
		gmod_fault_probe(atomic_load_explicit(&c->handle, memory_order_relaxed));
	gmod_context_visit_end(visited);
	if (result != CUDA_SUCCESS || gmod_has_faulted())
		return result;
	if (is_to_fault(d))
		gmod_fence_unmap(&b);
	else
		gmod_fence_idle(&b);
	return CUDA_SUCCESS;
}

static void let_in(const struct gmod_record *r, uint64_t devices)
{
	struct gmod_fenced b = block_of(r);

	gmod_fence_close(&b, devices);
}

const struct gmod_backend gmod_backend_fence = {
    .name = "fence",
    .says = "fence, nothing mapped behind the buffers",
    .choices = 1 << GMOD_OPTION_BACKEND_FENCE,
    .alloc = alloc_buffer,
    .arm = arm_buffer,
    .free = free_buffer,
    .lose = lose_buffer,
    .works = works_on,
    .open = let_in,
};
