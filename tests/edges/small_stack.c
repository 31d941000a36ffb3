/* A thread with a small stack finds the damage: a report takes its memory elsewhere. */
#include "make_buffer.h"

enum { STACK = 64 << 10 };

static void *work(void *unused TK_UNUSED)
{
	CUgraphExec exec;
	CUgraph graph;
	CUdeviceptr p;

	CK(cuCtxSetCurrent(tk_context));
	p = make_buffer(1000);
	tk_flip(p, 1000, 1);
	CK(cuMemFree(p));
	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	return NULL;
}

int main(void)
{
	pthread_attr_t attributes;
	pthread_t thread;

	tk_start();
	tk_kernel("k_flip");
	REQUIRE(!pthread_attr_init(&attributes));
	REQUIRE(!pthread_attr_setstacksize(&attributes, STACK));
	REQUIRE(!pthread_create(&thread, &attributes, work, NULL));
	tk_end_thread(thread);
	puts("done");
}
