#include "lib/buffers/ordered_pool.h"

#include "lib/base/facts.h"
#include "lib/base/lock.h"
#include "lib/base/log.h"

/* Of pools that live. */
static _Atomic(CUmemoryPool) left_alone[32];
static _Atomic unsigned left_alone_count;
static atomic_bool too_many;
static atomic_flag lock = ATOMIC_FLAG_INIT; /* for who writes them */

void gmod_pool_made(CUmemoryPool pool, bool leave_alone)
{
	unsigned n, i;

	gmod_pool_ends(pool);
	if (!leave_alone || !gmod_lock(&lock))
		return;
	n = atomic_load_explicit(&left_alone_count, memory_order_relaxed);
	for (i = 0; i < n && left_alone[i]; i++)
		;
	if (i < 32) {
		left_alone[i] = pool;
		atomic_store_explicit(&left_alone_count, i == n ? n + 1 : n, memory_order_release);
	} else if (!atomic_exchange(&too_many, true)) {
		gmod_log_note(1, "more than 32 pools at a time that GMOD leaves alone: memory in stream order stays "
				 "unguarded now");
	}
	gmod_unlock(&lock);
}

bool gmod_pool_ends(CUmemoryPool pool)
{
	unsigned n = atomic_load_explicit(&left_alone_count, memory_order_acquire);
	bool was_left_alone = false;

	for (unsigned i = 0; pool && i < n; i++) {
		CUmemoryPool ended = pool;

		was_left_alone |= atomic_compare_exchange_strong(&left_alone[i], &ended, NULL);
	}
	return was_left_alone;
}

bool gmod_pool_is_left_alone(const struct gmod_context *c, CUmemoryPool pool)
{
	unsigned n = atomic_load_explicit(&left_alone_count, memory_order_acquire);

	if (!n)
		return false;
	if (!pool && NEXT(cuDeviceGetMemPool)(&pool, c->device) != CUDA_SUCCESS)
		return true;
	for (unsigned i = 0; i < n; i++)
		if (left_alone[i] == pool)
			return true;
	return atomic_load_explicit(&too_many, memory_order_relaxed);
}

bool gmod_pool_reaches(const struct gmod_context *c, CUmemoryPool pool)
{
	CUmemLocation here = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = c->device};
	CUmemAccess_flags access = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;

	return (!pool || NEXT(cuMemPoolGetAccess)(&access, pool, &here) == CUDA_SUCCESS) &&
	       access == CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
}

bool gmod_pool_gave_device_memory(CUdeviceptr at)
{
	CUpointer_attribute what[] = {CU_POINTER_ATTRIBUTE_MEMORY_TYPE, CU_POINTER_ATTRIBUTE_IS_MANAGED};
	unsigned type = 0, managed = 0;
	void *data[] = {&type, &managed};
	CUresult r = NEXT(cuPointerGetAttributes)(2, what, data, at);

	if (r != CUDA_SUCCESS)
		gmod_degraded("cuPointerGetAttributes");
	return r == CUDA_SUCCESS && type == CU_MEMORYTYPE_DEVICE && !(managed & 1);
}

uint64_t gmod_pool_threshold(CUmemoryPool pool)
{
	cuuint64_t bytes = 0;

	if (NEXT(cuMemPoolGetAttribute)(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &bytes) != CUDA_SUCCESS)
		gmod_degraded("cuMemPoolGetAttribute");
	return bytes;
}
