// Kernels of which each faults at one line, the one that is marked "fault: WHAT BYTES". run.py has a dump made of each.
// past: the first address behind a mapping; words before it: 0x55. The grid is (4, 2), a block (32, 2).
// Build: nvcc -fatbin -arch=sm_90 -lineinfo -o places.fatbin places.cu
#include <cstdint>

#define KERNEL extern "C" __global__ void

namespace
{

struct pair {
	float *values;
	int count;
};

__device__ int at()
{
	return (blockIdx.y * gridDim.x + blockIdx.x) * blockDim.x * blockDim.y + threadIdx.y * blockDim.x + threadIdx.x;
}

__device__ __forceinline__ float inlined(const float *p, int i)
{
	return p[i] * 2.0f; // fault: inline_load 4
}

__device__ __noinline__ float called(const float *p, int i)
{
	return p[i] * 2.0f; // fault: called_load 4
}

} // namespace

KERNEL fine(int *)
{
}

// The last thread of all reads one element too far.
KERNEL load(float *past, int n)
{
	float *p = past - n;
	int i = at() + 1;

	p[i - 1] = p[i]; // fault: load 4
}

KERNEL load_loop(float *past, int n)
{
	float *p = past - n;
	float sum = 0;

	for (int i = at(); i <= n; i += gridDim.x * gridDim.y * blockDim.x * blockDim.y)
		sum += p[i]; // fault: load_loop 4
	p[at()] = sum;
}

KERNEL load_wide(float *past, int n)
{
	float4 *p = (float4 *)past - n / 4;
	float4 v = p[at()]; // fault: load_wide 16

	past[-1 - at()] = v.x + v.y + v.z + v.w;
}

KERNEL load_narrow(char *past, int n)
{
	char *p = past - n;

	p[at()] = p[at() + 1] + 1; // fault: load_narrow 1
}

KERNEL load_double(double *past, int n)
{
	double *p = past - n;
	int i = at();

	p[i] = p[i + 1] * 2; // fault: load_double 8
}

KERNEL inline_load(float *past, int n)
{
	float *p = past - n;

	p[at()] = inlined(p, at() + 1);
}

KERNEL called_load(float *past, int n)
{
	float *p = past - n;

	p[at()] = called(p, at() + 1);
}

KERNEL load_readonly(const float *__restrict__ past, float *__restrict__ out, int n)
{
	const float *p = past - n;

	out[at()] = __ldg(p + at() + 1); // fault: load_readonly 4
}

KERNEL load_matrix(float *past, int n)
{
	int width = 32 * 4, height = n / width;
	const float *m = past - n;
	int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y + height - 3;
	float v = m[row * width + column]; // fault: load_matrix 4

	past[-1 - at()] = v;
}

KERNEL load_far(float *past, int n)
{
	int i = (at() + 1) * 0x2000000;

	past[-1 - at()] = past[i]; // fault: load_far 4
}

KERNEL load_null(float *past, int n)
{
	const float *p = n ? (const float *)(uint64_t)(at() * 4) : past;

	past[-1 - at()] = *p; // fault: load_null 4
}

KERNEL load_table(const struct pair *table, int n)
{
	const struct pair *t = table - 1;
	float v = t->values[at() + 1]; // fault: load_table 4

	t->values[-1 - at()] = v;
}

KERNEL load_generic(float *past, int n)
{
	__shared__ float here[64];
	float *p = n & 1 ? here : past - n;

	here[threadIdx.x] = 1;
	__syncthreads();
	past[-1 - at()] = p[at() + 1]; // fault: load_generic 4
}

KERNEL store(float *past, int n)
{
	float *p = past - n;

	p[at() + 1] = 3; // fault: store 4
}

KERNEL store_wide(float *past, int n)
{
	float4 *p = (float4 *)past - n / 4;

	p[at()] = make_float4(1, 2, 3, 4); // fault: store_wide 16
}

KERNEL store_before(float *past, int n)
{
	float *p = past - n;
	int i = at();

	p[i - (i == 77 ? 1 << 28 : 0)] = 1; // fault: store_before 4
}

// The warps wait, so that the dump finds them.
KERNEL store_stay(float *past, int n)
{
	float *p = past - n;
	uint64_t start, now;

	p[at() + 1] = 3; // fault: store_stay 4
	asm volatile("mov.u64 %0, %globaltimer;" : "=l"(start));
	do
		asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
	while (now - start < 5000000);
}

KERNEL add(int *past, int n)
{
	int *p = past - n;

	atomicAdd(&p[at() + 1], 3); // fault: add 4
}

KERNEL add_answer(int *past, int n)
{
	int *p = past - n;

	p[at()] = atomicAdd(&p[at() + 1], 3); // fault: add_answer 4
}

KERNEL exchange(unsigned long long *past, int n)
{
	unsigned long long *p = past - n;

	p[at()] = atomicCAS(&p[at() + 1], 5ull, 6ull); // fault: exchange 8
}

KERNEL misaligned(char *past, int n)
{
	char *p = past - 4 * n;

	*(int *)(p + 3 * at()) = 1; // fault: misaligned 4
}

KERNEL shared_range(int *past, int n)
{
	__shared__ int here[64];

	here[threadIdx.x] = n;
	__syncthreads();
	past[-1 - at()] = here[threadIdx.x + n * 0x10000]; // fault: shared_range 4
}

KERNEL trap(int *past, int n)
{
	if (past[-1 - at()] == n)
		past[-2] = 1;
	if (at() == 70)
		__trap(); // fault: trap 0
}

template <class T, int N> __global__ void scaled(T *past, int n)
{
	T *p = past - n;
	T sum = 0;

#pragma unroll
	for (int k = 0; k < N; k++)
		sum += p[at() + k]; // fault: scaled 4
	p[at()] = sum;
}

template __global__ void scaled<float, 4>(float *past, int n);

// Between the load and its first use there is a loop, of as many rounds as n says.
KERNEL load_branches(float *past, int n)
{
	float *p = past - n + at(), v;

	asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p + 1)); // fault: load_branches 4
#pragma unroll 1
	for (int k = 0; k < n % 5; k++)
		asm volatile("nanosleep.u32 1;");
	asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(v));
}
