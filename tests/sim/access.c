/*
 * What a kernel may touch: the page tables of the devices. A chunk of device memory is its device's, and that of those
 * who have enabled access to their peer; a mapping is that of the devices that cuMemSetAccess named. Other memory is
 * the host's: what the driver has given out all devices see, of the program's own what is registered. Where nothing is,
 * the kernel faults, as it does by itself where pages are missing.
 */
#include "sim.h"

#include <sys/mman.h>

/* A word a chunk: devices that may read it, that may write it, and whose peers may do both. */
enum { READS = 0, WRITES = 16, PEERS = 32 };
_Static_assert(SIM_MAX_DEVICES <= 16, "a bit a device");

static uint64_t *chunks;

static __thread const struct work_kernel *running __attribute__((tls_model("initial-exec")));
static __thread uintptr_t stack_top __attribute__((tls_model("initial-exec")));

bool access_create(void)
{
	chunks = mmap(NULL, sim_device_arena.size / SIM_CHUNK * sizeof(*chunks), PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return chunks != MAP_FAILED;
}

static bool in_arena(const struct arena *arena, uintptr_t at)
{
	return at - arena->base < arena->size;
}

static uint64_t *chunk_of(uintptr_t at)
{
	return &chunks[(at - sim_device_arena.base) / SIM_CHUNK];
}

static uint64_t rights_of(uintptr_t at)
{
	return __atomic_load_n(chunk_of(at), __ATOMIC_RELAXED);
}

/* Takes some rights to all chunks of a range, and gives others. */
static void change(uintptr_t at, size_t bytes, uint64_t take, uint64_t give)
{
	for (uintptr_t chunk = at / SIM_CHUNK * SIM_CHUNK; chunk < at + bytes; chunk += SIM_CHUNK)
		__atomic_store_n(chunk_of(chunk), (rights_of(chunk) & ~take) | give, __ATOMIC_RELAXED);
}

/* Of a graph's memory peers see nothing here. */
void access_open(uintptr_t at, size_t bytes, int device, bool alone)
{
	access_take(at, bytes);
	if (alone)
		access_give(at, bytes, device, true, true);
	else
		change(at, bytes, 0, 1ull << (PEERS + device));
}

void access_give(uintptr_t at, size_t bytes, int device, bool reads, bool writes)
{
	change(at, bytes, 1ull << (READS + device) | 1ull << (WRITES + device),
	       (uint64_t)reads << (READS + device) | (uint64_t)writes << (WRITES + device));
}

void access_take(uintptr_t at, size_t bytes)
{
	if (in_arena(&sim_device_arena, at))
		change(at, bytes, ~0ull, 0);
}

/* What any device may do. */
int access_protection(uintptr_t at)
{
	uint64_t rights = rights_of(at);

	return (rights >> READS & 0xffff ? PROT_READ : 0) | (rights >> WRITES & 0xffff ? PROT_WRITE : 0);
}

static bool device_may(CUcontext ctx, uintptr_t at, bool write)
{
	uint64_t rights = rights_of(at);
	CUcontext whose = ctx->owner ? ctx->owner : ctx;

	return rights >> ((write ? WRITES : READS) + ctx->device) & 1 ||
	       (rights >> PEERS & __atomic_load_n(&whose->peers, __ATOMIC_RELAXED));
}

/* Whole pages are registered. */
static bool is_let_in(uintptr_t at)
{
	const struct block *block;
	bool let_in;

	sim_lock();
	block = block_overlap(at / sim.page * sim.page, sim.page);
	let_in = block && (block->kind == BLOCK_REGISTERED || block->kind == BLOCK_GLOBAL);
	sim_unlock();
	return let_in;
}

static bool may(uintptr_t at, bool write)
{
	if (in_arena(&sim_host_arena, at))
		return true; /* whether something is there, its pages say */
	return (in_arena(&sim_device_arena, at) && device_may(running->ctx, at, write)) || is_let_in(at);
}

/* A kernel's arguments, and its local memory, which is the stack of who runs it. */
static bool is_its_own(uintptr_t at)
{
	if (at - (uintptr_t)running < sizeof(*running) || (at >= (uintptr_t)&at && at < stack_top))
		return true;
	for (unsigned i = 0; i < running->code->params; i++)
		if (running->large[i] && at - (uintptr_t)running->large[i] < running->code->size[i])
			return true;
	return false;
}

/* Called by kernels, see checked.h. */
void access_check(uintptr_t at, size_t bytes, int write)
{
	fault_expect(at, bytes, write);
	if (running && !is_its_own(at) && !(may(at, write) && may(at + bytes - 1, write)))
		fault_now();
}

/* Accesses of this thread are that kernel's from now on. Its threads' frames lie below the top of the stack. */
void access_begin(const struct work_kernel *kernel, const void *top)
{
	running = kernel;
	stack_top = (uintptr_t)top;
}
