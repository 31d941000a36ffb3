/*
 * One dialect for the test kernels: kernels.cu is CUDA for nvcc (build/gpu/kernels.fatbin) and C for gcc
 * (gcc -x c -shared -fPIC, build/sim/kernels.so), which the simulated driver loads as a module.
 *
 *	GT_KERNEL3(k_flip, char *, p, long long, off, long long, count)
 *	{
 *		...
 *	}
 *
 * is a kernel of three parameters, written as type, name pairs. As C it becomes a function over an array of
 * pointers to its arguments plus a descriptor in the section gt_kernels, which gt_module_kernels() lists:
 * the parameter sizes are what a driver needs to copy the arguments at launch.
 *
 * The simulator runs the threads of a launch one after another, last block last, last thread last: a
 * kernel may wait for the host only in its last thread, and never for another of its own threads.
 */
#pragma once

#ifdef __CUDACC__

#include <assert.h>

#define GT_KERNEL1(name, T1, a1) extern "C" __global__ void name(T1 a1)
#define GT_KERNEL2(name, T1, a1, T2, a2) extern "C" __global__ void name(T1 a1, T2 a2)
#define GT_KERNEL3(name, T1, a1, T2, a2, T3, a3) extern "C" __global__ void name(T1 a1, T2 a2, T3 a3)
#define GT_KERNEL4(name, T1, a1, T2, a2, T3, a3, T4, a4) extern "C" __global__ void name(T1 a1, T2 a2, T3 a3, T4 a4)

typedef uint4 gt_vec16;

#define GT_TID() ((long long)blockIdx.x * blockDim.x + threadIdx.x)
#define GT_THREADS() ((long long)gridDim.x * blockDim.x)
#define GT_ATOMIC_ADD(p, v) atomicAdd(p, v)
#define GT_FENCE() __threadfence_system()

static __device__ inline long long gt_now_ns(void)
{
	long long ns;

	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns));
	return ns;
}

#define GT_PAUSE() __nanosleep(1000)
#define GT_HELPER static __device__ inline
#define GT_FAULTS(what, at, access) access
#define GT_TRAP() __trap()
#define GT_ASSERT_FAILS() assert(0)
#define GT_LOAD_SHARED(at) gt_load_shared((unsigned)(at))

static __device__ inline int gt_load_shared(unsigned at)
{
	int v;

	asm volatile("ld.volatile.shared.s32 %0, [%1];" : "=r"(v) : "r"(at));
	return v;
}

#else /* plain C */

#include <stddef.h>
#include <stdint.h>
#include <time.h>

#define GT_MAX_PARAMS 4

struct gt_thread {
	unsigned grid[3], block[3];               /* dimensions */
	unsigned block_index[3], thread_index[3]; /* where this thread is */
};

struct gt_kernel {
	const char *name;
	void (*run)(const struct gt_thread *self, void *const *args);
	unsigned params;
	unsigned size[GT_MAX_PARAMS]; /* bytes of each parameter */
	const char *file;
	unsigned line; /* of its definition */
};

/*
 * GT_FAULTS(what, at, access): what kind of access to that address a thread makes, and in which line, where a fault is
 * planted. C has neither atomic instructions nor misaligned accesses that fault: the simulated driver is told.
 */
enum gt_fault {
	GT_ACCESS, /* a load, or a store whose warp has left before the fault is noticed */
	GT_STAYS,  /* a store whose warp is still there */
	GT_ADDS,   /* an atomic without an answer */
	GT_MISALIGNED,
	GT_SHARED, /* a load of shared memory, out of range */
	GT_TRAPS,
	GT_ASSERTS
};

#ifdef GT_KERNEL_MODULE /* a kernel file defines it; the driver only wants the types above */

#define GT_DESCRIPTOR(name, count, ...) \
	static void name##_run(const struct gt_thread *gt_self, void *const *args); \
	static const struct gt_kernel name##_kernel = {#name, name##_run, count, {__VA_ARGS__}, __FILE__, __LINE__}; \
	static const struct gt_kernel *const name##_entry __attribute__((used, section("gt_kernels"))) = &name##_kernel

#define GT_KERNEL0(name) \
	static void name(const struct gt_thread *gt_self); \
	GT_DESCRIPTOR(name, 0, 0); \
	static void name##_run(const struct gt_thread *gt_self, void *const *args __attribute__((unused))) \
	{ \
		name(gt_self); \
	} \
	static void name(const struct gt_thread *gt_self __attribute__((unused)))

#define GT_KERNEL1(name, T1, a1) \
	static void name(const struct gt_thread *gt_self, T1 a1); \
	GT_DESCRIPTOR(name, 1, sizeof(T1)); \
	static void name##_run(const struct gt_thread *gt_self, void *const *args) \
	{ \
		name(gt_self, *(T1 *)args[0]); \
	} \
	static void name(const struct gt_thread *gt_self __attribute__((unused)), T1 a1)

#define GT_KERNEL2(name, T1, a1, T2, a2) \
	static void name(const struct gt_thread *gt_self, T1 a1, T2 a2); \
	GT_DESCRIPTOR(name, 2, sizeof(T1), sizeof(T2)); \
	static void name##_run(const struct gt_thread *gt_self, void *const *args) \
	{ \
		name(gt_self, *(T1 *)args[0], *(T2 *)args[1]); \
	} \
	static void name(const struct gt_thread *gt_self __attribute__((unused)), T1 a1, T2 a2)

#define GT_KERNEL3(name, T1, a1, T2, a2, T3, a3) \
	static void name(const struct gt_thread *gt_self, T1 a1, T2 a2, T3 a3); \
	GT_DESCRIPTOR(name, 3, sizeof(T1), sizeof(T2), sizeof(T3)); \
	static void name##_run(const struct gt_thread *gt_self, void *const *args) \
	{ \
		name(gt_self, *(T1 *)args[0], *(T2 *)args[1], *(T3 *)args[2]); \
	} \
	static void name(const struct gt_thread *gt_self __attribute__((unused)), T1 a1, T2 a2, T3 a3)

#define GT_KERNEL4(name, T1, a1, T2, a2, T3, a3, T4, a4) \
	static void name(const struct gt_thread *gt_self, T1 a1, T2 a2, T3 a3, T4 a4); \
	GT_DESCRIPTOR(name, 4, sizeof(T1), sizeof(T2), sizeof(T3), sizeof(T4)); \
	static void name##_run(const struct gt_thread *gt_self, void *const *args) \
	{ \
		name(gt_self, *(T1 *)args[0], *(T2 *)args[1], *(T3 *)args[2], *(T4 *)args[3]); \
	} \
	static void name(const struct gt_thread *gt_self __attribute__((unused)), T1 a1, T2 a2, T3 a3, T4 a4)

typedef struct __attribute__((aligned(16))) {
	unsigned x, y, z, w;
} gt_vec16;

#define GT_TID() ((long long)gt_self->block_index[0] * gt_self->block[0] + gt_self->thread_index[0])
#define GT_THREADS() ((long long)gt_self->grid[0] * gt_self->block[0])
#define GT_ATOMIC_ADD(p, v) GT_FAULTS(GT_ADDS, p, __atomic_fetch_add(p, v, __ATOMIC_RELAXED))
#define GT_FENCE() __atomic_thread_fence(__ATOMIC_SEQ_CST)

static inline long long gt_now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static inline void gt_pause(void)
{
	nanosleep(&(struct timespec){.tv_nsec = 20000}, NULL);
}

#define GT_PAUSE() gt_pause()
#define GT_HELPER static inline

/* Set by the driver when it loads the module. */
__attribute__((weak, visibility("default"))) void (*gt_faults)(enum gt_fault what, uintptr_t at, unsigned line);

#define GT_FAULTS(what, at, access) ((gt_faults ? gt_faults(what, (uintptr_t)(at), __LINE__) : (void)0), access)
#define GT_TRAP() ((void)0)
#define GT_ASSERT_FAILS() ((void)0)
#define GT_LOAD_SHARED(at) 0

extern const struct gt_kernel *const __start_gt_kernels[] __attribute__((visibility("hidden")));
extern const struct gt_kernel *const __stop_gt_kernels[] __attribute__((visibility("hidden")));

/* What the driver looks for in a module: its kernels, and how many there are. */
__attribute__((weak, visibility("default"))) const struct gt_kernel *const *gt_module_kernels(size_t *count)
{
	*count = __stop_gt_kernels - __start_gt_kernels;
	return __start_gt_kernels;
}

#endif /* GT_KERNEL_MODULE */
#endif /* plain C */
