/*
 * What making graphs executable costs the calling thread: run it without and with GMOD, and the difference is what GMOD
 * adds, which asks the driver for the kernel of each node.
 *
 *	figure_graph_cost [nodes [rounds]]
 *
 * The graph is a chain of so many kernels, of a few kinds in turn. A round makes it executable, updates that from the
 * same graph, and destroys it. Prints ns a node, the median of the rounds, for making and for updating.
 */
#include "kernel_node.h"
#include "sorted.h"

#define MAX_ROUNDS 10000
#define MAX_NODES 60000 /* the most that GMOD looks at is 65536 */

enum { KINDS = 4 };

static double instantiate_ns[MAX_ROUNDS], update_ns[MAX_ROUNDS];
static CUdeviceptr buffer;

static CUgraph chain(int nodes)
{
	long long off = 0, count = 0;
	int value = 0;
	CUDA_KERNEL_NODE_PARAMS kinds[KINDS] = {
	    kernel_node("k_flip", TK_ARGS(&buffer, &off, &count)),
	    kernel_node("k_fill", TK_ARGS(&buffer, &off, &count, &value)),
	    kernel_node("k_stride", TK_ARGS(&buffer, &off, &count, &count)),
	    kernel_node("k_spin_ms", TK_ARGS(&value)),
	};
	CUgraphNode node = NULL;
	CUgraph graph;

	CK(cuGraphCreate(&graph, 0));
	for (int i = 0; i < nodes; i++)
		CK(cuGraphAddKernelNode(&node, graph, node ? &node : NULL, node ? 1 : 0, &kinds[i % KINDS]));
	return graph;
}

static void one_round(int round, CUgraph graph, int nodes)
{
	CUgraphExecUpdateResultInfo info;
	double begin = tk_ms(), made, updated;
	CUgraphExec exec;

	CK(cuGraphInstantiate(&exec, graph, 0));
	made = tk_ms();
	CK(cuGraphExecUpdate(exec, graph, &info));
	updated = tk_ms();
	CK(cuGraphExecDestroy(exec));
	instantiate_ns[round] = (made - begin) * 1e6 / nodes;
	update_ns[round] = (updated - made) * 1e6 / nodes;
}

int main(int argc, char **argv)
{
	int nodes = argc > 1 ? atoi(argv[1]) : 2000, rounds = argc > 2 ? atoi(argv[2]) : 50;
	CUgraph graph;

	REQUIRE(nodes > 0 && nodes <= MAX_NODES && rounds > 0 && rounds <= MAX_ROUNDS);
	tk_start();
	CK(cuMemAlloc(&buffer, 1000));
	graph = chain(nodes);
	for (int round = 0; round < rounds; round++)
		one_round(round, graph, nodes);
	CK(cuGraphDestroy(graph));
	printf("nodes=%d rounds=%d instantiate_ns=%.1f update_ns=%.1f\n", nodes, rounds,
	       sorted(instantiate_ns, (size_t)rounds)[rounds / 2], sorted(update_ns, (size_t)rounds)[rounds / 2]);
}
