/* Stream memory operations: words that a stream writes, or waits for, when it gets there. No hook sees them. */
#include "sim.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MOST_OPS 256

static bool is_wait(const CUstreamBatchMemOpParams *op)
{
	return op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_32 || op->operation == CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

static size_t width_of(const CUstreamBatchMemOpParams *op)
{
	switch (op->operation) {
	case CU_STREAM_MEM_OP_WAIT_VALUE_32:
	case CU_STREAM_MEM_OP_WRITE_VALUE_32:
		return sizeof(cuuint32_t);
	case CU_STREAM_MEM_OP_WAIT_VALUE_64:
	case CU_STREAM_MEM_OP_WRITE_VALUE_64:
		return sizeof(cuuint64_t);
	default:
		return 0; /* a barrier: between simulated work there is one everywhere */
	}
}

/* Any memory the driver knows but managed memory and that of pools. Waiting and writing have their address and flags at
 * one place. */
static CUresult check_op(const CUstreamBatchMemOpParams *op)
{
	CUdeviceptr at = op->writeValue.address;
	unsigned flags = op->writeValue.flags;
	struct block *block;
	bool known;

	if (op->operation == CU_STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
		return CUDA_ERROR_NOT_SUPPORTED; /* the device attribute says so too */
	if (!width_of(op))
		return op->operation == CU_STREAM_MEM_OP_BARRIER ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
	if (is_wait(op) && (flags & CU_STREAM_WAIT_VALUE_FLUSH))
		return CUDA_ERROR_NOT_SUPPORTED;
	if (flags > (is_wait(op) ? CU_STREAM_WAIT_VALUE_NOR : CU_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER))
		return CUDA_ERROR_INVALID_VALUE;
	block = block_find(at);
	if (at % width_of(op) || !block || block->kind == BLOCK_MANAGED || block->kind == BLOCK_POOL ||
	    !block_range_ok(at, width_of(op), &known))
		return CUDA_ERROR_INVALID_VALUE;
	return CUDA_SUCCESS;
}

static CUresult submit(CUcontext ctx, CUstream stream, bool per_thread, const CUstreamBatchMemOpParams *ops,
		       size_t count)
{
	struct work work = {.kind = WORK_MEMOPS, .memops = {.ctx = ctx, .count = count}};
	CUresult r = CUDA_SUCCESS;

	for (size_t i = 0; i < count && !r; i++)
		r = check_op(&ops[i]);
	if (r)
		return r;
	work.memops.list = calloc(count, sizeof(*ops));
	if (!work.memops.list)
		return CUDA_ERROR_OUT_OF_MEMORY;
	memcpy(work.memops.list, ops, count * sizeof(*ops));
	return stream_do(ctx, stream, per_thread, &work);
}

/* Running: called without the lock. */

static cuuint64_t load(const CUstreamBatchMemOpParams *op)
{
	if (width_of(op) == sizeof(cuuint32_t))
		return __atomic_load_n((cuuint32_t *)op->waitValue.address, __ATOMIC_ACQUIRE);
	return __atomic_load_n((cuuint64_t *)op->waitValue.address, __ATOMIC_ACQUIRE);
}

static bool fulfilled(const CUstreamBatchMemOpParams *op)
{
	bool narrow = width_of(op) == sizeof(cuuint32_t);
	cuuint64_t mask = narrow ? UINT32_MAX : UINT64_MAX, top = mask ^ mask >> 1;
	cuuint64_t value = narrow ? op->waitValue.value : op->waitValue.value64, found = load(op);

	switch (op->waitValue.flags) {
	case CU_STREAM_WAIT_VALUE_GEQ:
		return !((found - value) & top);
	case CU_STREAM_WAIT_VALUE_EQ:
		return found == value;
	case CU_STREAM_WAIT_VALUE_AND:
		return (found & value) != 0;
	default:
		return (~(found | value) & mask) != 0;
	}
}

/* Nobody will fulfil anything any more. */
static bool given_up(CUcontext ctx)
{
	bool up;

	sim_lock();
	up = sim.state == SIM_TORN_DOWN || ctx->sticky;
	sim_unlock();
	return up;
}

static void wait_value(const struct work_memops *w, const CUstreamBatchMemOpParams *op)
{
	while (!fulfilled(op) && !given_up(w->ctx))
		nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

static void write_value(const CUstreamBatchMemOpParams *op)
{
	if (width_of(op) == sizeof(cuuint32_t))
		__atomic_store_n((cuuint32_t *)op->writeValue.address, op->writeValue.value, __ATOMIC_RELEASE);
	else
		__atomic_store_n((cuuint64_t *)op->writeValue.address, op->writeValue.value64, __ATOMIC_RELEASE);
}

void run_memops(void *arg)
{
	const struct work_memops *w = arg;

	for (size_t i = 0; i < w->count; i++) {
		if (!width_of(&w->list[i]))
			continue;
		if (is_wait(&w->list[i]))
			wait_value(w, &w->list[i]);
		else
			write_value(&w->list[i]);
	}
}

/* The entry points. */

static CUresult batch(CUcontext ctx, CUstream stream, bool per_thread, const CUstreamBatchMemOpParams *ops,
		      unsigned count, unsigned flags)
{
	if (!count && !flags)
		return CUDA_SUCCESS;
	if (!ops || count > MOST_OPS || flags)
		return CUDA_ERROR_INVALID_VALUE;
	return submit(ctx, stream, per_thread, ops, count);
}

/* The first ABI of each differs in what it needs of the device and its driver's settings, and works the same here. */
ENTRY_TWINS(cuStreamBatchMemOp_v2, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags),
	    batch(c.ctx, stream, c.per_thread, paramArray, count, flags))
ENTRY_TWINS(cuStreamBatchMemOp, _ptsz, NEEDS_CONTEXT,
	    TAKES(CUstream stream, unsigned int count, CUstreamBatchMemOpParams *paramArray, unsigned int flags),
	    batch(c.ctx, stream, c.per_thread, paramArray, count, flags))

/* One operation: of 32 bits the value's other half is not looked at. */
static CUresult one(CUcontext ctx, CUstream stream, bool per_thread, CUstreamBatchMemOpType operation, CUdeviceptr at,
		    cuuint64_t value, unsigned flags)
{
	CUstreamBatchMemOpParams op = {.writeValue = {operation, at, {.value64 = value}, flags, 0}};

	return submit(ctx, stream, per_thread, &op, 1);
}

#define MEM_OP(symbol, type, operation) \
	ENTRY_TWINS(symbol, _ptsz, NEEDS_CONTEXT, \
		    TAKES(CUstream stream, CUdeviceptr at, type value, unsigned int flags), \
		    one(c.ctx, stream, c.per_thread, operation, at, value, flags))

MEM_OP(cuStreamWriteValue32_v2, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
MEM_OP(cuStreamWriteValue64_v2, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)
MEM_OP(cuStreamWaitValue32_v2, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
MEM_OP(cuStreamWaitValue64_v2, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
MEM_OP(cuStreamWriteValue32, cuuint32_t, CU_STREAM_MEM_OP_WRITE_VALUE_32)
MEM_OP(cuStreamWriteValue64, cuuint64_t, CU_STREAM_MEM_OP_WRITE_VALUE_64)
MEM_OP(cuStreamWaitValue32, cuuint32_t, CU_STREAM_MEM_OP_WAIT_VALUE_32)
MEM_OP(cuStreamWaitValue64, cuuint64_t, CU_STREAM_MEM_OP_WAIT_VALUE_64)
