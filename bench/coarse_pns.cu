/*
 * pns: many simulations of one Petri net, after Parboil's. The places are a grid that is closed at its edges; the
 * transition at a place takes a token from it and one from its right neighbour, and puts one in each of the two places
 * below them. Each thread tries random transitions, which fire where both tokens are there, and keeps the marking of
 * its simulation in global memory; what happened in each comes back, and the sum of that over blocks.
 */
#include "coarse.h"

/*
 * The marking takes 64 MiB, more than the cache: a quarter of that fits into it or not by where it lies, and the same
 * kernels then took up to 9 % more or less time (H200, by 2 MiB that were allocated before).
 */
enum { WIDTH = 8, PLACES = WIDTH * WIDTH, SIMULATIONS = 1 << 18, STEPS = 250, BLOCK = 256, MOST_TOKENS = 7 };

struct pns_outcome {
	unsigned fired, most, empty; /* transitions; most tokens of a place at any time; places empty at the end */
};

static std::vector<unsigned> marking, seeds;
static std::vector<struct pns_outcome> expected, found, found_sums;

/* xorshift32 (Marsaglia 2003); never 0. */
static __host__ __device__ unsigned next_random(unsigned state)
{
	state ^= state << 13;
	state ^= state >> 17;
	return state ^ state << 5;
}

static __host__ __device__ struct pns_outcome sum(struct pns_outcome a, struct pns_outcome b)
{
	return {a.fired + b.fired, a.most > b.most ? a.most : b.most, a.empty + b.empty};
}

/* Place p has tokens[p * stride] tokens. */
static __host__ __device__ struct pns_outcome simulate(unsigned *tokens, size_t stride, unsigned random)
{
	struct pns_outcome o = {};

	for (int step = 0; step < STEPS; step++) {
		unsigned here, right, *below, *below_right;

		random = next_random(random);
		here = (uint64_t)random * PLACES >> 32;
		right = here / WIDTH * WIDTH + (here + 1) % WIDTH;
		if (!tokens[here * stride] || !tokens[right * stride])
			continue;
		below = &tokens[(here + WIDTH) % PLACES * stride];
		below_right = &tokens[(right + WIDTH) % PLACES * stride];
		tokens[here * stride]--;
		tokens[right * stride]--;
		++*below;
		++*below_right;
		o = sum(o, {1, *below > *below_right ? *below : *below_right, 0});
	}
	for (int p = 0; p < PLACES; p++)
		o.empty += !tokens[p * stride];
	return o;
}

static __global__ void pns_start(const unsigned *marking, unsigned *tokens)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	tokens[i] = marking[i / SIMULATIONS];
}

/* A place's tokens in all simulations are next to each other. */
static __global__ void pns_simulate(unsigned *tokens, const unsigned *seeds, struct pns_outcome *outcomes)
{
	unsigned i = blockIdx.x * BLOCK + threadIdx.x;

	outcomes[i] = simulate(tokens + i, SIMULATIONS, seeds[i]);
}

static __global__ void pns_sum(const struct pns_outcome *outcomes, struct pns_outcome *sums)
{
	__shared__ struct pns_outcome part[BLOCK];
	unsigned t = threadIdx.x;

	part[t] = outcomes[blockIdx.x * BLOCK + t];
	for (unsigned half = BLOCK / 2; half; half /= 2) {
		__syncthreads();
		if (t < half)
			part[t] = sum(part[t], part[t + half]);
	}
	if (!t)
		sums[blockIdx.x] = part[0];
}

static void prepare(void)
{
	random_seed(4);
	marking.resize(PLACES);
	for (unsigned &tokens : marking)
		tokens = random_u64() % (MOST_TOKENS + 1);
	seeds.resize(SIMULATIONS);
	for (unsigned &seed : seeds)
		seed = random_u64() | 1; /* the generator stays at 0 */
	expected.clear();
	for (unsigned seed : seeds) {
		std::vector<unsigned> tokens = marking;

		expected.push_back(simulate(tokens.data(), 1, seed));
	}
	/* What comes of no simulation. */
	found.assign(SIMULATIONS, {UINT32_MAX, UINT32_MAX, UINT32_MAX});
	found_sums.assign(SIMULATIONS / BLOCK, {UINT32_MAX, UINT32_MAX, UINT32_MAX});
}

static void work(unsigned rounds)
{
	unsigned *start = copy_in(marking), *seed = copy_in(seeds);
	unsigned *tokens = device_array<unsigned>((size_t)PLACES * SIMULATIONS);
	struct pns_outcome *outcomes = device_array<struct pns_outcome>(SIMULATIONS);
	struct pns_outcome *sums = device_array<struct pns_outcome>(SIMULATIONS / BLOCK);

	run_rounds(rounds, [&] {
		pns_start<<<PLACES * SIMULATIONS / BLOCK, BLOCK, 0, main_stream>>>(start, tokens);
		pns_simulate<<<SIMULATIONS / BLOCK, BLOCK, 0, main_stream>>>(tokens, seed, outcomes);
		pns_sum<<<SIMULATIONS / BLOCK, BLOCK, 0, main_stream>>>(outcomes, sums);
	});
	copy_out(found, outcomes);
	copy_out(found_sums, sums);
}

static bool differ(struct pns_outcome a, struct pns_outcome b)
{
	return a.fired != b.fired || a.most != b.most || a.empty != b.empty;
}

static uint64_t check(void)
{
	struct pns_outcome all_expected = {}, all_found = {};
	uint64_t wrong = 0;

	for (int i = 0; i < SIMULATIONS; i++) {
		wrong += differ(found[i], expected[i]);
		all_expected = sum(all_expected, expected[i]);
	}
	for (const struct pns_outcome &o : found_sums)
		all_found = sum(all_found, o);
	return wrong + differ(all_found, all_expected);
}

const struct program pns = {"pns", 160, 1, prepare, work, check};
