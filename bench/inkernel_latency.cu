/*
 * How long a store behind a buffer stays unseen while its kernel runs on, with many live buffers; and what a kernel
 * that allocates and frees takes beside them.
 *
 * The kernel waits for a random time, so that its store falls anywhere between two guard passes, stores, and then says
 * so in pinned memory. The clock runs from when the CPU sees that to when the finding is counted. The kernel goes on
 * until the CPU tells it to end, but no longer than KERNEL_LIMIT_MS.
 */
#include "inkernel.cuh"

enum {
	SIZE = 64,
	TRIALS = 9,
	DEADLINE_MS = 2000,
	KERNEL_LIMIT_MS = 3000,
	DELAY_MOST_US = 5000,
	CHURN_THREADS = 20480,
	CHURN_ROUNDS = 4,
	CHURN_REPEATS = 9,
};

/* Pinned: `stored` is the kernel's, `end` the CPU's. */
struct flags {
	volatile unsigned stored, end;
};

struct result {
	double beside_ms, median_ms, most_ms;
};

struct standing {
	unsigned char **buffer; /* device memory */
	unsigned count;
	cudaStream_t stream;
	uint64_t *out; /* CHURN_THREADS of them */
};

/* ---- kernels ---- */

template <class Memory> static __global__ void latency_stand(unsigned char **buffer, unsigned count)
{
	unsigned i = thread_number();

	if (i < count)
		buffer[i] = (unsigned char *)Memory::get(SIZE);
}

template <class Memory> static __global__ void latency_clear(unsigned char **buffer, unsigned count)
{
	unsigned i = thread_number();

	if (i < count && buffer[i])
		Memory::put(buffer[i]);
}

template <class Memory> static __global__ void latency_churn(uint64_t *out)
{
	unsigned i = thread_number();
	uint64_t sum = 0;

	for (unsigned r = 0; r < CHURN_ROUNDS && sum != NO_MEMORY; r++) {
		uint64_t *p = (uint64_t *)Memory::get(SIZE);

		if (p)
			words_fill(p, SIZE / 8, i + r);
		p = through_memory(p);
		sum = p ? sum + words_sum(p, SIZE / 8) : NO_MEMORY;
		if (p)
			Memory::put(p);
	}
	out[i] = sum;
}

static __device__ inline uint64_t device_ns(void)
{
	uint64_t ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

static __global__ void latency_overflow(unsigned char *const *buffer, unsigned victim, uint64_t delay_ns,
					struct flags *flags)
{
	uint64_t begin = device_ns();

	while (device_ns() - begin < delay_ns)
		;
	((volatile unsigned char *)buffer[victim])[SIZE] ^= 0x5a;
	__threadfence_system();
	flags->stored = 1;
	while (!flags->end && device_ns() - begin < KERNEL_LIMIT_MS * 1000000ull)
		__nanosleep(1000);
}

/* ---- trials ---- */

/* Milliseconds from the store to the finding; less than 0: none. */
static double wait_for_finding(const struct flags *flags, unsigned before)
{
	double end = now_ms() + DEADLINE_MS, stored;

	while (!flags->stored)
		if (now_ms() > end)
			return -1;
	stored = now_ms();
	while (gmod_findings() == before)
		if (now_ms() > end)
			return -1;
	return now_ms() - stored;
}

static double trial(const struct standing *s, unsigned victim, uint64_t delay_ns, struct flags *flags)
{
	unsigned before = gmod_findings();
	double late;

	flags->stored = flags->end = 0;
	latency_overflow<<<1, 1, 0, s->stream>>>(s->buffer, victim, delay_ns, flags);
	CUDA(cudaGetLastError());
	late = wait_for_finding(flags, before);
	flags->end = 1;
	CUDA(cudaStreamSynchronize(s->stream));
	return late;
}

static bool trials(const struct standing *s, struct result *r)
{
	unsigned stretch = s->count / TRIALS;
	struct flags *flags;
	double late[TRIALS];

	CUDA(cudaHostAlloc(&flags, sizeof(*flags), cudaHostAllocMapped));
	for (unsigned t = 0; t < TRIALS; t++) {
		/* anywhere in its stretch, so that no buffer is hit twice */
		unsigned victim = t * stretch + (unsigned)(mix(s->count + t) % stretch);

		late[t] = trial(s, victim, mix(t) % (DELAY_MOST_US * 1000ull), flags);
		if (late[t] < 0)
			return fail("latency: trial %u with %u buffers: no finding within 2 s", t + 1, s->count);
	}
	r->median_ms = median(late, TRIALS);
	r->most_ms = late[TRIALS - 1];
	CUDA(cudaFreeHost(flags));
	return true;
}

/* ---- beside ---- */

static bool churn_is_right(const struct standing *s)
{
	static uint64_t out[CHURN_THREADS];

	CUDA(cudaMemcpy(out, s->out, sizeof(out), cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < CHURN_THREADS; i++) {
		uint64_t expected = 0;

		for (unsigned r = 0; r < CHURN_ROUNDS; r++)
			for (unsigned k = 0; k < SIZE / 8; k++)
				expected += mix(mix(i + r + k) ^ k);
		if (out[i] != expected)
			return fail(
			    "latency: thread %u of the kernel beside %u buffers read something else than it wrote", i,
			    s->count);
	}
	return true;
}

template <class Memory> static bool churn(const struct standing *s, struct result *r)
{
	double took[CHURN_REPEATS], begin;

	for (int i = -1; i < CHURN_REPEATS; i++) { /* the first does not count */
		begin = now_ms();
		latency_churn<Memory><<<CHURN_THREADS / BLOCK, BLOCK, 0, s->stream>>>(s->out);
		CUDA(cudaGetLastError());
		CUDA(cudaStreamSynchronize(s->stream));
		if (i >= 0)
			took[i] = now_ms() - begin;
		if (!churn_is_right(s))
			return false;
	}
	r->beside_ms = median(took, CHURN_REPEATS);
	return true;
}

/* ---- all of it ---- */

template <class Memory> static bool measure(const struct standing *s, bool watched, struct result *r)
{
	unsigned blocks = (s->count + BLOCK - 1) / BLOCK;
	struct gmod_device_stats stats = {};
	bool ok;

	latency_stand<Memory><<<blocks, BLOCK, 0, s->stream>>>(s->buffer, s->count);
	CUDA(cudaStreamSynchronize(s->stream));
	if (watched && !gmod_quiet(s->count, &stats))
		return fail("latency: %llu live buffers where %u were allocated",
			    (unsigned long long)stats.live_buffers, s->count);
	ok = churn<Memory>(s, r) && (!watched || trials(s, r));
	latency_clear<Memory><<<blocks, BLOCK, 0, s->stream>>>(s->buffer, s->count);
	CUDA(cudaStreamSynchronize(s->stream));
	if (ok && watched && !gmod_quiet(0, &stats))
		return fail("latency: the heap is not empty 10 s after the kernels");
	return ok;
}

bool latency_measure(enum memory memory, unsigned buffers)
{
	struct standing s = {NULL, buffers, NULL, NULL};
	struct result r = {};
	bool ok;

	if (buffers < TRIALS)
		return fail("latency: wants %d buffers at least", TRIALS);
	CUDA(cudaStreamCreateWithFlags(&s.stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc(&s.buffer, buffers * sizeof(*s.buffer)));
	CUDA(cudaMalloc(&s.out, CHURN_THREADS * sizeof(*s.out)));
	ok = memory == MEMORY_GMOD ? measure<memory_gmod>(&s, true, &r) : measure<memory_cuda>(&s, false, &r);
	CUDA(cudaFree(s.out));
	CUDA(cudaFree(s.buffer));
	CUDA(cudaStreamDestroy(s.stream));
	if (ok && memory == MEMORY_GMOD)
		printf("buffers=%u beside_ms=%.5f trials=%d median_ms=%.4f max_ms=%.4f\n", buffers, r.beside_ms, TRIALS,
		       r.median_ms, r.most_ms);
	else if (ok)
		printf("buffers=%u beside_ms=%.5f\n", buffers, r.beside_ms);
	return ok;
}
