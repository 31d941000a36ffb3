/*
 * mummer, after MUMmerGPU: finds, for each of many short sequences of DNA, the longest part of it that a reference
 * sequence contains. One thread a query, by binary search in the suffix array of the reference; both of these lie in
 * rows of pitched memory.
 */
#include "coarse.h"

#include <algorithm>
#include <string.h>

enum { REFERENCE = 1 << 18, ROW = 4096, ROWS = REFERENCE / ROW, QUERIES = 1 << 16, LENGTH = 64, BLOCK = 128 };
enum { REPEATS = 64, REPEAT_LENGTH = 500, ERRORS = 32 }; /* one base of so many of a query is read wrong */

struct match {
	uint32_t length, start, position; /* where it starts in the query, and where in the reference */
};

/* What the kernel reads. A query is a column: threads of a warp read their queries side by side. */
struct sequences {
	char *reference, *suffixes, *queries;
	size_t reference_pitch, suffixes_pitch, queries_pitch;
};

/* A state of the suffix automaton of the reference: it tells the CPU what is in there without the suffix array. */
struct state {
	int next[4], link;
	uint32_t length;
};

static std::vector<unsigned char> reference, queries; /* bases, 0 to 3 */
static std::vector<uint32_t> suffixes, expected_length;
static std::vector<struct state> automaton;
static std::vector<struct match> found;

static __device__ unsigned reference_base(const struct sequences &s, unsigned i)
{
	return (unsigned char)s.reference[i / ROW * s.reference_pitch + i % ROW];
}

static __device__ unsigned query_base(const struct sequences &s, unsigned query, unsigned i)
{
	return (unsigned char)s.queries[i * s.queries_pitch + query];
}

static __device__ unsigned suffix(const struct sequences &s, unsigned i)
{
	return ((const uint32_t *)(s.suffixes + i / ROW * s.suffixes_pitch))[i % ROW];
}

/* How many bases of the query, from `start` on, are those of the reference from `position` on. */
static __device__ unsigned equal_bases(const struct sequences &s, unsigned query, unsigned start, unsigned position)
{
	unsigned most = min(LENGTH - start, REFERENCE - position), n = 0;

	while (n < most && query_base(s, query, start + n) == reference_base(s, position + n))
		n++;
	return n;
}

/*
 * Makes *best the longest match at `start`, if that is longer. The suffix with most in common with the query is next to
 * the query's place in their order, and the search looks at both neighbours of that place.
 */
static __device__ void search(const struct sequences &s, unsigned query, unsigned start, struct match *best)
{
	unsigned low = 0, high = REFERENCE;

	while (low < high) {
		unsigned middle = (low + high) / 2, position = suffix(s, middle);
		unsigned n = equal_bases(s, query, start, position);

		if (n > best->length)
			*best = {n, start, position};
		if (start + n == LENGTH)
			return;
		if (position + n == REFERENCE || reference_base(s, position + n) < query_base(s, query, start + n))
			low = middle + 1;
		else
			high = middle;
	}
}

static __global__ void match_queries(struct sequences s, struct match *matches)
{
	unsigned query = blockIdx.x * blockDim.x + threadIdx.x;
	struct match best = {0, 0, 0};

	if (query >= QUERIES)
		return;
	for (unsigned start = 0; start + best.length < LENGTH; start++)
		search(s, query, start, &best);
	matches[query] = best;
}

static bool suffix_less(uint32_t a, uint32_t b)
{
	int order = memcmp(&reference[a], &reference[b], REFERENCE - std::max(a, b));

	return order ? order < 0 : a > b;
}

/* What other sequence the reference repeats makes for long searches. */
static void make_reference(void)
{
	reference.resize(REFERENCE);
	for (unsigned char &base : reference)
		base = random_u64() & 3;
	for (unsigned i = 0; i < REPEATS; i++) {
		unsigned from = random_u64() % (REFERENCE - REPEAT_LENGTH);
		unsigned to = random_u64() % (REFERENCE - REPEAT_LENGTH);

		memmove(&reference[to], &reference[from], REPEAT_LENGTH);
	}
	suffixes.resize(REFERENCE);
	for (unsigned i = 0; i < REFERENCE; i++)
		suffixes[i] = i;
	std::sort(suffixes.begin(), suffixes.end(), suffix_less);
}

static void make_queries(void)
{
	queries.resize((size_t)LENGTH * QUERIES);
	for (unsigned query = 0; query < QUERIES; query++) {
		unsigned position = random_u64() % (REFERENCE - LENGTH);

		for (unsigned i = 0; i < LENGTH; i++) {
			uint64_t r = random_u64();

			queries[(size_t)i * QUERIES + query] = r % ERRORS ? reference[position + i] : r >> 62;
		}
	}
}

/* Adds a base to the sequence of the automaton (Blumer et al. 1985), of which `last` is the state; its new state. */
static int automaton_add(int last, unsigned base)
{
	int added = (int)automaton.size(), p = last, q, copy;

	automaton.push_back({{-1, -1, -1, -1}, 0, automaton[last].length + 1});
	for (; p >= 0 && automaton[p].next[base] < 0; p = automaton[p].link)
		automaton[p].next[base] = added;
	if (p < 0)
		return added;
	q = automaton[p].next[base];
	automaton[added].link = q;
	if (automaton[q].length == automaton[p].length + 1)
		return added;
	copy = (int)automaton.size();
	automaton.push_back(automaton[q]);
	automaton[copy].length = automaton[p].length + 1;
	automaton[q].link = automaton[added].link = copy;
	for (; p >= 0 && automaton[p].next[base] == q; p = automaton[p].link)
		automaton[p].next[base] = copy;
	return added;
}

static uint32_t longest_match(unsigned query)
{
	uint32_t length = 0, longest = 0;
	int at = 0;

	for (unsigned i = 0; i < LENGTH; i++) {
		unsigned base = queries[(size_t)i * QUERIES + query];

		while (at && automaton[at].next[base] < 0) {
			at = automaton[at].link;
			length = automaton[at].length;
		}
		if (automaton[at].next[base] >= 0) {
			at = automaton[at].next[base];
			length++;
		}
		longest = std::max(longest, length);
	}
	return longest;
}

static void prepare(void)
{
	int last = 0;

	random_seed(3);
	make_reference();
	make_queries();
	automaton.reserve(2 * REFERENCE);
	automaton.push_back({{-1, -1, -1, -1}, -1, 0});
	for (unsigned char base : reference)
		last = automaton_add(last, base);
	expected_length.resize(QUERIES);
	for (unsigned query = 0; query < QUERIES; query++)
		expected_length[query] = longest_match(query);
	found.assign(QUERIES, {UINT32_MAX, UINT32_MAX, UINT32_MAX});
}

static char *copy_in(const void *data, size_t width, size_t rows, size_t *pitch)
{
	char *p = (char *)device_alloc_pitched(width, rows, pitch);

	copy_rows(p, *pitch, data, width, width, rows, cudaMemcpyHostToDevice);
	return p;
}

static void work(unsigned rounds)
{
	struct match *matches = device_array<struct match>(QUERIES);
	struct sequences s;

	s.reference = copy_in(reference.data(), ROW, ROWS, &s.reference_pitch);
	s.suffixes = copy_in(suffixes.data(), ROW * sizeof(uint32_t), ROWS, &s.suffixes_pitch);
	s.queries = copy_in(queries.data(), QUERIES, LENGTH, &s.queries_pitch);
	run_rounds(rounds, [&] { match_queries<<<blocks_for(QUERIES, BLOCK), BLOCK, 0, main_stream>>>(s, matches); });
	CUDA(cudaGetLastError());
	copy_out(found, matches);
}

/* The match is as long as the longest there is, and it is one. */
static bool match_is_right(unsigned query)
{
	struct match m = found[query];

	if (m.length != expected_length[query] || m.start > LENGTH - m.length || m.position > REFERENCE - m.length)
		return false;
	for (uint32_t i = 0; i < m.length; i++)
		if (queries[(size_t)(m.start + i) * QUERIES + query] != reference[m.position + i])
			return false;
	return true;
}

static uint64_t check(void)
{
	uint64_t wrong = 0;

	for (unsigned query = 0; query < QUERIES; query++)
		wrong += !match_is_right(query);
	return wrong;
}

const struct program mummer = {"mummer", 1000, 2, prepare, work, check};
