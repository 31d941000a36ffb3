/*
 * Words written and waited for in stream order. Past the end of a buffer lies memory of ours that the driver would take
 * them on: they are refused there, as natively.
 */
#include "lib/buffers/misuse.h"
#include "lib/hooks/refuse.h"

/* Waits and writes have their address in the same place; the other operations have none. */
static uint64_t address_of(const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return op->waitValue.address;
	default:
		return 0;
	}
}

static size_t width_of(const CUstreamBatchMemOpParams *op)
{
	return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64 || op->operation == CU_STREAM_MEM_OP_WRITE_VALUE_64
		   ? sizeof(cuuint64_t)
		   : sizeof(cuuint32_t);
}

bool gmod_refuses_words(const CUstreamBatchMemOpParams *ops, size_t count, const char *entry_point)
{
	for (size_t i = 0; ops && i < count; i++)
		if (gmod_misuse_refuses(address_of(&ops[i]), width_of(&ops[i]), entry_point))
			return true;
	return false;
}
