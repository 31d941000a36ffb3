/*
 * Buffers of 1 byte to 64 KiB that come and go, from kernels on four streams at once. A thread has a few places, which
 * outlive its kernel; each round it picks one, frees the buffer there, or allocates one if there is none. A buffer
 * carries marks at both ends, which are looked at before it is freed. At the end the program and the guard have to
 * agree about what is live, and when that is freed too, the heap has to be empty.
 */
#include <vector>

#include "inkernel.cuh"

enum {
	STREAMS = 4,
	PLACES = 4,      /* of a thread */
	ROUNDS = 64,     /* of a kernel */
	LAUNCHES = 4,    /* a stream, between two looks at the clock */
	MARK = 4,        /* bytes at each end */
	SMALL_BITS = 10, /* seven of eight buffers are smaller than 1 KiB, */
	LARGE_BITS = 16, /* the others have up to 64 KiB */
	LIMIT_MS = 60000,
};

struct place {
	unsigned char *p;
	unsigned size, mark;
};

struct count {
	unsigned long long got, freed, failed, bad;
};

struct crowd {
	unsigned blocks; /* of each stream */
	cudaStream_t stream[STREAMS];
	struct place *place; /* PLACES for each thread of all streams */
	struct count *count;
};

/* ---- kernels ---- */

static __device__ inline unsigned char mark_byte(const struct place *place, unsigned at)
{
	return (unsigned char)(place->mark >> at % 4 * 8);
}

static __device__ void mark_ends(const struct place *place)
{
	for (unsigned i = 0; i < MARK && i < place->size; i++) {
		place->p[i] = mark_byte(place, i);
		place->p[place->size - 1 - i] = mark_byte(place, place->size - 1 - i);
	}
}

static __device__ bool ends_are_marked(const struct place *place)
{
	const volatile unsigned char *p = place->p;
	bool good = true;

	for (unsigned i = 0; i < MARK && i < place->size; i++) {
		good &= p[i] == mark_byte(place, i);
		good &= p[place->size - 1 - i] == mark_byte(place, place->size - 1 - i);
	}
	return good;
}

/* Each power of two is as likely as the next. */
static __device__ unsigned pick_size(uint64_t random)
{
	bool large = random % 8 == 0;
	unsigned bits = (unsigned)(random >> 8) % (large ? LARGE_BITS : SMALL_BITS);

	return (1u << bits) + (unsigned)(random >> 16) % (1u << bits) + large;
}

template <class Memory> static __device__ void place_fill(struct place *place, uint64_t random, struct count *c)
{
	place->size = pick_size(random);
	place->mark = (unsigned)(random >> 32);
	place->p = (unsigned char *)Memory::get(place->size);
	if (place->p)
		mark_ends(place);
	c->got += place->p != NULL;
	c->failed += place->p == NULL;
}

template <class Memory> static __device__ void place_empty(struct place *place, struct count *c)
{
	c->bad += !ends_are_marked(place);
	c->freed++;
	Memory::put(place->p);
	place->p = NULL;
}

static __device__ void count_add(struct count *sum, const struct count *c)
{
	atomicAdd(&sum->got, c->got);
	atomicAdd(&sum->freed, c->freed);
	atomicAdd(&sum->failed, c->failed);
	atomicAdd(&sum->bad, c->bad);
}

template <class Memory>
static __global__ void stress_churn(struct place *places, unsigned rounds, uint64_t seed, struct count *count)
{
	struct count c = {0, 0, 0, 0};
	uint64_t random = mix(seed + thread_number());

	for (unsigned r = 0; r < rounds; r++) {
		struct place *place = &places[(random >> 40) % PLACES * thread_count() + thread_number()];

		if (place->p)
			place_empty<Memory>(place, &c);
		else
			place_fill<Memory>(place, random, &c);
		random = mix(random);
	}
	count_add(count, &c);
}

template <class Memory> static __global__ void stress_end(struct place *places, struct count *count)
{
	struct count c = {0, 0, 0, 0};

	for (unsigned k = 0; k < PLACES; k++) {
		struct place *place = &places[k * thread_count() + thread_number()];

		if (place->p)
			place_empty<Memory>(place, &c);
	}
	count_add(count, &c);
}

/* ---- the host's part ---- */

static unsigned places_of_stream(const struct crowd *c)
{
	return c->blocks * BLOCK * PLACES;
}

static struct place *first_place(const struct crowd *c, unsigned stream)
{
	return c->place + (size_t)stream * places_of_stream(c);
}

static void crowd_make(struct crowd *c, unsigned blocks)
{
	size_t size = (size_t)STREAMS * blocks * BLOCK * PLACES * sizeof(struct place);

	c->blocks = blocks;
	CUDA(cudaMalloc(&c->place, size));
	CUDA(cudaMemset(c->place, 0, size));
	CUDA(cudaMalloc(&c->count, sizeof(*c->count)));
	CUDA(cudaMemset(c->count, 0, sizeof(*c->count)));
	for (unsigned s = 0; s < STREAMS; s++)
		CUDA(cudaStreamCreateWithFlags(&c->stream[s], cudaStreamNonBlocking));
	CUDA(cudaDeviceSynchronize());
}

static void crowd_destroy(struct crowd *c)
{
	for (unsigned s = 0; s < STREAMS; s++)
		CUDA(cudaStreamDestroy(c->stream[s]));
	CUDA(cudaFree(c->count));
	CUDA(cudaFree(c->place));
}

static struct count crowd_count(const struct crowd *c)
{
	struct count sum;

	CUDA(cudaDeviceSynchronize());
	CUDA(cudaMemcpy(&sum, c->count, sizeof(sum), cudaMemcpyDeviceToHost));
	return sum;
}

/* What the program holds: buffers, and their bytes. */
static void crowd_held(const struct crowd *c, uint64_t *buffers, uint64_t *bytes)
{
	std::vector<struct place> place((size_t)STREAMS * places_of_stream(c));

	*buffers = *bytes = 0;
	CUDA(cudaMemcpy(place.data(), c->place, place.size() * sizeof(place[0]), cudaMemcpyDeviceToHost));
	for (const struct place &p : place) {
		*buffers += p.p != NULL;
		*bytes += p.p ? p.size : 0;
	}
}

template <class Memory> static void crowd_run(const struct crowd *c, unsigned launches, unsigned rounds, uint64_t seed)
{
	for (unsigned i = 0; i < launches * STREAMS; i++) {
		unsigned s = i % STREAMS;

		stress_churn<Memory>
		    <<<c->blocks, BLOCK, 0, c->stream[s]>>>(first_place(c, s), rounds, mix(seed + i), c->count);
		CUDA(cudaGetLastError());
	}
}

/* Freed so many, or out of time. */
template <class Memory> static struct count churn(const struct crowd *c, uint64_t pairs)
{
	double end = now_ms() + LIMIT_MS;
	struct count sum = {0, 0, 0, 0};

	for (uint64_t turn = 1; sum.freed < pairs && now_ms() < end; turn++) {
		crowd_run<Memory>(c, LAUNCHES, ROUNDS, turn << 32);
		sum = crowd_count(c);
	}
	return sum;
}

struct result {
	struct count sum;
	double ms;
	uint64_t held, held_bytes;
	struct gmod_device_stats after; /* when all is freed */
};

/* Program and guard count the same while buffers are live. */
static bool agree(const struct crowd *c, struct result *r)
{
	struct gmod_device_stats stats = {};

	crowd_held(c, &r->held, &r->held_bytes);
	if (gmod_quiet(r->held, &stats) && stats.live_bytes == r->held_bytes)
		return true;
	return fail(
	    "stress: the program holds %llu buffers of %llu bytes, the guard counts %llu of %llu, and %llu freed ones",
	    (unsigned long long)r->held, (unsigned long long)r->held_bytes, (unsigned long long)stats.live_buffers,
	    (unsigned long long)stats.live_bytes, (unsigned long long)stats.waiting_buffers);
}

static bool is_empty(struct result *r)
{
	if (gmod_quiet(0, &r->after))
		return true;
	return fail("stress: when all is freed %llu buffers are live, and %llu freed ones not released",
		    (unsigned long long)r->after.live_buffers, (unsigned long long)r->after.waiting_buffers);
}

static bool is_right(const struct count *sum)
{
	if (sum->bad)
		return fail("stress: %llu buffers had lost their marks", sum->bad);
	if (sum->got != sum->freed)
		return fail("stress: %llu buffers allocated, %llu freed", sum->got, sum->freed);
	if (gmod_findings())
		return fail("stress: %u findings in a correct program", gmod_findings());
	return true;
}

static void print_stats(const struct result *r)
{
	const struct gmod_device_stats *s = &r->after;

	printf(" held=%llu heap_mib=%llu peak_mib=%llu passes=%llu", (unsigned long long)r->held,
	       (unsigned long long)s->heap_bytes >> 20, (unsigned long long)s->peak_bytes >> 20,
	       (unsigned long long)s->passes);
}

template <class Memory> static void all_freed(const struct crowd *c, struct result *r)
{
	for (unsigned s = 0; s < STREAMS; s++)
		stress_end<Memory><<<c->blocks, BLOCK, 0, c->stream[s]>>>(first_place(c, s), c->count);
	CUDA(cudaGetLastError());
	r->sum = crowd_count(c);
}

template <class Memory> static bool run(const struct crowd *c, uint64_t pairs, bool watched, struct result *r)
{
	bool agreed;

	/* The heap is there with the first launch. */
	crowd_run<Memory>(c, 1, 1, 0);
	CUDA(cudaDeviceSynchronize());
	if (watched && !gmod_look(&r->after))
		return fail("stress: there is no heap, or the guard is kept out");
	r->ms = now_ms();
	r->sum = churn<Memory>(c, pairs);
	r->ms = now_ms() - r->ms;
	if (r->sum.freed < pairs)
		return fail("stress: only %llu pairs in %d s", r->sum.freed, LIMIT_MS / 1000);
	pairs = r->sum.freed;
	agreed = !watched || agree(c, r);
	all_freed<Memory>(c, r);
	if (!is_right(&r->sum) || (watched && !is_empty(r)) || !agreed)
		return false;
	printf("pairs=%llu seconds=%.3f pairs_per_s=%.4g failed=%llu", (unsigned long long)pairs, r->ms / 1e3,
	       (double)pairs / r->ms * 1e3, r->sum.failed);
	if (watched)
		print_stats(r);
	printf("\n");
	return true;
}

bool stress(enum memory memory, uint64_t pairs, unsigned blocks)
{
	struct result r = {};
	struct crowd c;
	bool ok;

	crowd_make(&c, blocks);
	ok = memory == MEMORY_GMOD ? run<memory_gmod>(&c, pairs, true, &r) : run<memory_cuda>(&c, pairs, false, &r);
	crowd_destroy(&c);
	return ok;
}
