/*
 * bfs: breadth-first search over a random directed graph, level by level as in Rodinia (Che et al. 2009): one kernel
 * goes along the edges of the frontier, a second one makes what it reached the next frontier and tells the host, by a
 * flag that is copied each level, whether there is any. The result is each node's distance from node 0.
 */
#include "coarse.h"

/* Some 70 MiB, more than the cache: see pns. */
enum { NODES = 2 << 20, BLOCK = 256, MOST_RANDOM_EDGES = 10 };

/* The edges of node i are to[first[i]] ... to[first[i + 1] - 1]. */
static std::vector<unsigned> first, to;
static std::vector<int> expected, found;

struct bfs_search {
	unsigned *first, *to;
	uint8_t *frontier, *reached, *visited;
	int *cost, *more;
};

static __global__ void bfs_start(struct bfs_search s)
{
	unsigned node = blockIdx.x * blockDim.x + threadIdx.x;

	if (node >= NODES)
		return;
	s.frontier[node] = s.visited[node] = node == 0;
	s.reached[node] = 0;
	s.cost[node] = node == 0 ? 0 : -1;
}

/* Threads that reach the same node write the same values. */
static __global__ void bfs_expand(struct bfs_search s)
{
	unsigned node = blockIdx.x * blockDim.x + threadIdx.x;

	if (node >= NODES || !s.frontier[node])
		return;
	s.frontier[node] = 0;
	for (unsigned e = s.first[node]; e < s.first[node + 1]; e++) {
		unsigned other = s.to[e];

		if (s.visited[other])
			continue;
		s.cost[other] = s.cost[node] + 1;
		s.reached[other] = 1;
	}
}

static __global__ void bfs_advance(struct bfs_search s)
{
	unsigned node = blockIdx.x * blockDim.x + threadIdx.x;

	if (node >= NODES || !s.reached[node])
		return;
	s.reached[node] = 0;
	s.frontier[node] = s.visited[node] = 1;
	*s.more = 1;
}

/* A node leads to the one after it, so that each can be reached, and to 0 ... MOST_RANDOM_EDGES random ones. */
static void make_graph(void)
{
	first.resize(NODES + 1);
	to.clear();
	random_seed(1);
	for (unsigned node = 0; node < NODES; node++) {
		unsigned edges = random_u64() % (MOST_RANDOM_EDGES + 1);

		first[node] = to.size();
		to.push_back((node + 1) % NODES);
		while (edges--)
			to.push_back(random_u64() % NODES);
	}
	first[NODES] = to.size();
}

static void prepare(void)
{
	std::vector<unsigned> queue = {0};

	make_graph();
	found.assign(NODES, -2); /* what no kernel writes */
	expected.assign(NODES, -1);
	expected[0] = 0;
	queue.reserve(NODES);
	for (size_t at = 0; at < queue.size(); at++) {
		unsigned node = queue[at];

		for (unsigned e = first[node]; e < first[node + 1]; e++) {
			if (expected[to[e]] >= 0)
				continue;
			expected[to[e]] = expected[node] + 1;
			queue.push_back(to[e]);
		}
	}
}

static void search_once(struct bfs_search s)
{
	unsigned blocks = blocks_for(NODES, BLOCK);
	int more;

	bfs_start<<<blocks, BLOCK, 0, main_stream>>>(s);
	do {
		more = 0;
		copy(s.more, &more, sizeof(more), cudaMemcpyHostToDevice);
		bfs_expand<<<blocks, BLOCK, 0, main_stream>>>(s);
		bfs_advance<<<blocks, BLOCK, 0, main_stream>>>(s);
		copy(&more, s.more, sizeof(more), cudaMemcpyDeviceToHost);
	} while (more);
}

static void work(unsigned rounds)
{
	struct bfs_search s;

	s.first = copy_in(first);
	s.to = copy_in(to);
	s.frontier = device_array<uint8_t>(NODES);
	s.reached = device_array<uint8_t>(NODES);
	s.visited = device_array<uint8_t>(NODES);
	s.cost = device_array<int>(NODES);
	s.more = device_array<int>(1);
	run_rounds(rounds, [&] { search_once(s); });
	copy_out(found, s.cost);
}

static uint64_t check(void)
{
	uint64_t wrong = 0;

	for (unsigned node = 0; node < NODES; node++)
		wrong += found[node] != expected[node];
	return wrong;
}

const struct program bfs = {"bfs", 2000, 1, prepare, work, check};
