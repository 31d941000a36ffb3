// Kernels that fault on purpose, one for each way, and two that do not.
// Build: nvcc -fatbin -arch=sm_90 -lineinfo -o kernels.fatbin kernels.cu
#include <cassert>
#include <cstdint>

#define KERNEL extern "C" __global__ void

__device__ uint64_t nanoseconds()
{
	uint64_t t;

	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
	return t;
}

KERNEL fine(int *)
{
}

KERNEL spin(uint64_t ns)
{
	uint64_t start = nanoseconds();

	while (nanoseconds() - start < ns)
		;
}

KERNEL bandwidth(const float4 *from, float4 *to, uint64_t n, int times)
{
	for (int k = 0; k < times; k++)
		for (uint64_t i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
			to[i] = from[i];
}

// The address is the first one behind the mapping. One thread of the grid stores there and is gone at once.
KERNEL store_one(int *past)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		*past = 42;
}

KERNEL store_many(int *past)
{
	past[blockIdx.x * blockDim.x + threadIdx.x] = 42;
}

// The warp is still there when the fault arrives.
KERNEL store_stay(int *past)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		*past = 42;
	uint64_t start = nanoseconds();
	while (nanoseconds() - start < 5000000)
		;
}

KERNEL load_one(int *past)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		past[-1] = past[0];
}

KERNEL load_many(int *past)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	past[-1 - i] = past[i];
}

KERNEL add_one(int *past)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		atomicAdd(past, 1);
}

KERNEL trap(int *)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		asm volatile("trap;");
}

KERNEL breakpoint(int *)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		asm volatile("brkpt;");
}

KERNEL assertion(int *past)
{
	assert(past == nullptr || threadIdx.x != 7);
}

KERNEL misaligned(int *past)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		*(volatile int *)((char *)past - 63) = 1;
}

KERNEL shared_range(int *)
{
	if (blockIdx.x == 3 && threadIdx.x == 7)
		asm volatile("st.shared.u32 [%0], %0;" ::"r"(0x1000000));
}

KERNEL local_range(int *past)
{
	uint32_t at = 0x1000000 + threadIdx.x * 4;
	int v;

	if (blockIdx.x == 3 && threadIdx.x == 7) {
		asm volatile("ld.local.u32 %0, [%1];" : "=r"(v) : "r"(at));
		past[-1] = v;
	}
}

// A generic atomic on an address in the local window.
KERNEL address_space(int *past)
{
	int here = threadIdx.x;

	if (blockIdx.x == 3 && threadIdx.x == 7)
		asm volatile("atom.global.add.u32 %0, [%1], 1;" : "=r"(here) : "l"(&here));
	past[-1] = here;
}

__device__ __noinline__ int deeper(int n, volatile int *p)
{
	volatile int room[64];

	room[n & 63] = n;
	return n == -1 ? 0 : deeper(n + 1, p) + room[*p & 63];
}

KERNEL stack(int *past)
{
	past[-1] = deeper(0, past - 2);
}

KERNEL call_nowhere(int *past)
{
	void (*nowhere)(int *) = (void (*)(int *))((uint64_t)past[-1] + 0x10);

	if (blockIdx.x == 3 && threadIdx.x == 7)
		nowhere(past);
}

KERNEL call_data(int *past)
{
	void (*data)(int *) = (void (*)(int *))(past - 1024);

	if (blockIdx.x == 3 && threadIdx.x == 7)
		data(past);
}

// Its first instruction is overwritten in the image by run.py.
KERNEL illegal(int *past)
{
	past[-1] = 1;
}

// The shared memory of a block of the cluster that does not exist.
KERNEL cluster(int *past)
{
	__shared__ int word;
	uint32_t mine = __cvta_generic_to_shared(&word), theirs;
	int v;

	asm volatile("mapa.shared::cluster.u32 %0, %1, 5;" : "=r"(theirs) : "r"(mine));
	asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(v) : "r"(theirs));
	past[-1] = v;
}

// Asynchronous copies: the copy unit faults rather than a warp.
KERNEL async_load(int *past)
{
	__shared__ int4 word;
	uint32_t to = __cvta_generic_to_shared(&word);

	if (blockIdx.x == 3 && threadIdx.x == 7) {
		asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(past));
		asm volatile("cp.async.wait_all;");
		past[-1] = word.x;
	}
}

KERNEL bulk_load(int *past)
{
	__shared__ alignas(128) int tile[256];
	__shared__ uint64_t bar;
	uint32_t to = __cvta_generic_to_shared(tile), b = __cvta_generic_to_shared(&bar);

	if (blockIdx.x != 3 || threadIdx.x != 7)
		return;
	asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(b));
	asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 1024;" ::"r"(b));
	asm volatile(
	    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 1024, [%2];" ::"r"(to),
	    "l"(past), "r"(b));
	uint64_t start = nanoseconds();
	while (nanoseconds() - start < 5000000)
		;
	past[-1] = tile[3];
}

KERNEL bulk_store(int *past)
{
	__shared__ alignas(128) int tile[256];
	uint32_t from = __cvta_generic_to_shared(tile);

	if (blockIdx.x != 3 || threadIdx.x != 7)
		return;
	asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 1024;" ::"l"(past), "r"(from));
	asm volatile("cp.async.bulk.commit_group;");
	asm volatile("cp.async.bulk.wait_group 0;");
}
