/*
 * concurrent-kernels, after the CUDA sample concurrentKernels: kernels of one thread, each on a stream of its own, spin
 * for so many clock cycles, and one more adds up, after events of all the others, how many these were. Each hashes
 * its number too, which is known beforehand. The results go to pinned host memory.
 */
#include "coarse.h"

#include <string.h>

enum { KERNELS = 16, SUM = KERNELS, WARP = 32, CYCLES = 1000000, HASHES = 1000 };

struct slot {
	uint64_t cycles, hash;
};

static struct slot found[KERNELS + 1]; /* the last one: the sums */
static uint64_t expected_hash[KERNELS];

/* xorshift (Marsaglia 2003). */
static __host__ __device__ uint64_t hash_of(unsigned number)
{
	uint64_t v = number + 1;

	for (int i = 0; i < HASHES; i++) {
		v ^= v << 13;
		v ^= v >> 7;
		v ^= v << 17;
	}
	return v;
}

static __global__ void spin(struct slot *slot, unsigned number)
{
	long long begin = clock64(), passed;

	slot->hash = hash_of(number);
	do
		passed = clock64() - begin;
	while (passed < CYCLES);
	slot->cycles = (uint64_t)passed;
}

/* One warp. */
static __global__ void sum(struct slot *slots)
{
	struct slot s = {0, 0};

	for (unsigned i = threadIdx.x; i < KERNELS; i += WARP) {
		s.cycles += slots[i].cycles;
		s.hash += slots[i].hash;
	}
	for (int distance = WARP / 2; distance; distance /= 2) {
		s.cycles += __shfl_down_sync(~0u, s.cycles, distance);
		s.hash += __shfl_down_sync(~0u, s.hash, distance);
	}
	if (threadIdx.x == 0)
		slots[SUM] = s;
}

static void prepare(void)
{
	memset(found, 0xff, sizeof(found));
	for (unsigned i = 0; i < KERNELS; i++)
		expected_hash[i] = hash_of(i);
}

/* The events are waited for when all kernels are in their streams: else a kernel may queue up behind a wait. */
static void run_round(struct slot *slots, struct slot *host, const cudaStream_t *streams, const cudaEvent_t *done)
{
	for (unsigned i = 0; i < KERNELS; i++) {
		spin<<<1, 1, 0, streams[i]>>>(slots + i, i);
		CUDA(cudaEventRecord(done[i], streams[i]));
	}
	for (unsigned i = 0; i < KERNELS; i++)
		CUDA(cudaStreamWaitEvent(streams[SUM], done[i], 0));
	sum<<<1, WARP, 0, streams[SUM]>>>(slots);
	CUDA(cudaGetLastError());
	CUDA(cudaMemcpyAsync(host, slots, sizeof(found), cudaMemcpyDeviceToHost, streams[SUM]));
	CUDA(cudaStreamSynchronize(streams[SUM]));
}

static void work(unsigned rounds)
{
	struct slot *slots = device_array<struct slot>(KERNELS + 1);
	struct slot *host = (struct slot *)host_alloc(sizeof(found));
	cudaStream_t streams[KERNELS + 1];
	cudaEvent_t done[KERNELS];

	for (cudaStream_t &stream : streams)
		CUDA(cudaStreamCreate(&stream));
	for (cudaEvent_t &event : done)
		CUDA(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	fill(slots, 0xff, sizeof(found));
	CUDA(cudaStreamSynchronize(main_stream)); /* not all streams wait for it */
	run_rounds(rounds, [&] { run_round(slots, host, streams, done); });
	memcpy(found, host, sizeof(found));
	for (cudaEvent_t event : done)
		CUDA(cudaEventDestroy(event));
	for (cudaStream_t stream : streams)
		CUDA(cudaStreamDestroy(stream));
}

/* No two rounds spin alike: a sum of cycles that was made before all kernels were done would not be that of these. */
static uint64_t check(void)
{
	struct slot expected_sum = {0, 0};
	uint64_t wrong = 0;

	for (unsigned i = 0; i < KERNELS; i++) {
		/* A spin of a million times what it should be is no count of cycles, but memory never written. */
		wrong += found[i].cycles < CYCLES || found[i].cycles / CYCLES > 1000000;
		wrong += found[i].hash != expected_hash[i];
		expected_sum.cycles += found[i].cycles;
		expected_sum.hash += expected_hash[i];
	}
	wrong += found[SUM].cycles != expected_sum.cycles;
	wrong += found[SUM].hash != expected_sum.hash;
	return wrong;
}

const struct program concurrent_kernels = {"concurrent-kernels", 2200, 4, prepare, work, check};
