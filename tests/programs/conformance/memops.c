/* Words that a stream writes, or waits for: which memory may hold them, and what a capture makes of it. */
#include "conformance.h"

/* First the waits, for what is there, so that none lasts. */
static void memops_of(enum kind kind)
{
	struct memory m = memory_new(kind);
	const char *name = kind_names[kind];
	CUstreamBatchMemOpParams ops[2] = {{0}};

	CK(cuMemsetD8(m.at, 0, 64));
	tk_sync();
	fact(code(cuStreamWaitValue32(NULL, m.at, 0, CU_STREAM_WAIT_VALUE_EQ)), "cuStreamWaitValue32 of %s", name);
	fact(code(cuStreamWaitValue64(NULL, m.at + 8, 0, CU_STREAM_WAIT_VALUE_EQ)), "cuStreamWaitValue64 of %s", name);
	fact(code(cuStreamWriteValue32(NULL, m.at, 1, 0)), "cuStreamWriteValue32 of %s", name);
	fact(code(cuStreamWriteValue64(NULL, m.at + 8, 1, 0)), "cuStreamWriteValue64 of %s", name);
	ops[0].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_32;
	ops[0].writeValue.address = m.at + 16;
	ops[1].writeValue.operation = CU_STREAM_MEM_OP_WRITE_VALUE_64;
	ops[1].writeValue.address = m.at + 24;
	fact(code(cuStreamBatchMemOp(NULL, 2, ops, 0)), "cuStreamBatchMemOp of %s", name);
	tk_sync();
	memory_free(&m);
}

/* Written by the host: two streams could be in each other's way. */
static void waiting_for_a_value(void)
{
	volatile int *flag = tk_flag(), *then = tk_flag();
	CUstream waits = tk_stream();

	tk_sync();
	CK(cuStreamWaitValue32(waits, (CUdeviceptr)flag, 5, CU_STREAM_WAIT_VALUE_GEQ));
	CK(cuStreamWriteValue32(waits, (CUdeviceptr)then, 9, 0));
	tk_sleep_ms(20);
	fact(code(cuStreamQuery(waits)), "asking a stream that waits for a value");
	*flag = 6;
	fact(code(cuStreamSynchronize(waits)), "waiting for it once the value is written");
	fact(number(*then), "what it wrote then");
	CK(cuStreamDestroy(waits));
	CK(cuMemFreeHost((void *)flag));
	CK(cuMemFreeHost((void *)then));
}

static void captured_memops(void)
{
	struct memory m = memory_new(DEVICE);
	CUgraphNodeType type = 77;
	CUgraphNode node;
	CUgraph graph = NULL;
	size_t count = 1;
	CUstream s = tk_stream();

	CK(cuStreamBeginCapture(s, CU_STREAM_CAPTURE_MODE_RELAXED));
	fact(code(cuStreamWriteValue32(s, m.at, 5, 0)), "capturing cuStreamWriteValue32");
	fact(code(cuStreamEndCapture(s, &graph)), "the capture of it");
	if (graph && !cuGraphGetNodes(graph, &node, &count) && count) {
		CK(cuGraphNodeGetType(node, &type));
		fact(number(type), "the type of its node");
	}
	if (graph)
		CK(cuGraphDestroy(graph));
	CK(cuStreamDestroy(s));
	memory_free(&m);
}

void memop_facts(void)
{
	for (enum kind k = 0; k < KINDS; k++)
		memops_of(k);
	waiting_for_a_value();
	captured_memops();
}
