// under managed: differs: words in stream order are refused
/* Every wait, query, record and memory operation, by both of its default streams. */
#include "every.h"

static CUdeviceptr p;
static CUstream stream;
static CUevent event;

static void streams(void)
{
	CUstream gone;

	BOTH(cuStreamSynchronize, _ptsz, stream);
	BOTH(cuStreamSynchronize, _ptsz, NULL);
	BOTH(cuStreamQuery, _ptsz, stream);
	BOTH(cuStreamQuery, _ptsz, NULL);
	tk_spin(stream, 60);
	BOTH(cuStreamQuery, _ptsz, stream);
	SAY(cuCtxSynchronize);
	SAY(cuCtxSynchronize_v2, tk_context);
	CK(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
	SAY(cuStreamDestroy, gone);
	CK(cuStreamCreate(&gone, CU_STREAM_NON_BLOCKING));
	SAY(cuStreamDestroy_v2, gone);
	SAY(cuStreamDestroy, NULL);
}

static void ask(void)
{
	SAY(cuEventSynchronize, event);
	SAY(cuEventQuery, event);
	BOTH(cuStreamWaitEvent, _ptsz, stream, event, 0);
	BOTH(cuStreamWaitEvent, _ptsz, NULL, event, 0);
}

static void events(void)
{
	CUipcEventHandle handle;
	CUevent shared, opened, gone;

	SAY(cuEventRecord, event, stream);
	ask();
	SAY(cuEventRecord, event, NULL);
	ask();
	SAY(cuEventRecord_ptsz, event, NULL);
	ask();
	SAY(cuEventRecordWithFlags, event, stream, 0);
	ask();
	SAY(cuEventRecordWithFlags, event, NULL, 0);
	ask();
	SAY(cuEventRecordWithFlags_ptsz, event, NULL, 0);
	ask();
	tk_spin(stream, 60);
	SAY(cuEventRecord, event, stream);
	SAY(cuEventQuery, event);
	ask();
	SAY(cuCtxRecordEvent, tk_context, event);
	ask();
	SAY(cuCtxSynchronize);
	CK(cuEventCreate(&shared, CU_EVENT_INTERPROCESS | CU_EVENT_DISABLE_TIMING));
	SAY(cuIpcGetEventHandle, &handle, shared);
	/* Natively not in the process that made it, and both say the same. */
	if (SAY(cuIpcOpenEventHandle, &opened, handle) == CUDA_SUCCESS)
		SAY(cuEventDestroy, opened);
	CK(cuEventCreate(&gone, 0));
	SAY(cuGreenCtxRecordEvent, NULL, gone);
	BOTH(cuSignalExternalSemaphoresAsync, _ptsz, NULL, NULL, 0, stream);
	BOTH(cuWaitExternalSemaphoresAsync, _ptsz, NULL, NULL, 0, stream);
	BOTH(cuGraphicsMapResources, _ptsz, 0, NULL, stream);
	BOTH(cuGraphicsUnmapResources, _ptsz, 0, NULL, stream);
	SAY(cuEventDestroy, gone);
	SAY(cuEventDestroy_v2, shared);
}

static void say_words(void)
{
	unsigned word[6];

	CK(cuCtxSynchronize());
	CK(cuMemcpyDtoH(word, p, sizeof(word)));
	for (int i = 0; i < 6; i++)
		printf("%x%c", word[i], i < 5 ? ' ' : '\n');
	CK(cuMemsetD8(p, 0, 1000));
	CK(cuCtxSynchronize());
}

/* A write, and where that went well a wait for what was written, in the same stream. */
#define WORD(bits, abi, in, at, value, how) \
	do { \
		if (SAY(cuStreamWriteValue##bits##abi, in, at, value, 0) == CUDA_SUCCESS) \
			SAY(cuStreamWaitValue##bits##abi, in, at, value, how); \
		say_words(); \
	} while (0)
#define WORDS(bits, abi) \
	WORD(bits, abi, stream, p + 8, 0x1234567, CU_STREAM_WAIT_VALUE_EQ); \
	WORD(bits, abi##_ptsz, NULL, p + 16, 0x7654321, CU_STREAM_WAIT_VALUE_GEQ)

static void words(void)
{
	CUstreamBatchMemOpParams ops[2] = {
	    {.writeValue = {CU_STREAM_MEM_OP_WRITE_VALUE_32, p, {.value = 77}, 0, 0}},
	    {.waitValue = {CU_STREAM_MEM_OP_WAIT_VALUE_32, p, {.value = 77}, CU_STREAM_WAIT_VALUE_EQ, 0}},
	};

	WORDS(32, );
	WORDS(32, _v2);
	WORDS(64, );
	WORDS(64, _v2);
	BOTH(cuStreamBatchMemOp, _ptsz, stream, 2, ops, 0);
	say_words();
	BOTH(cuStreamBatchMemOp_v2, _ptsz, stream, 2, ops, 0);
	say_words();
}

static void calls(void)
{
	streams();
	events();
	words();
}

int main(void)
{
	p = tk_alloc(1000);
	CK(cuMemsetD8(p, 0, 1000));
	tk_sync();
	stream = tk_stream();
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	every_way(calls);
}
