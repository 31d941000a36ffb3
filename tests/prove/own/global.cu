// Kernels with a bug, and healthy twins, in memory that the host allocates: cases.py says how each is launched.
// The line of a bug ends with "bug".
#include <cstdint>
#define KERNEL extern "C" __global__ void

KERNEL guard(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = 1; // bug
}

KERNEL guard_off_by_one(float *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i <= n)
		a[i] = 1; // bug
}

KERNEL early_return(const float *a, float *b, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	b[i] = a[i + 1]; // bug
}

KERNEL before_start(const float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		b[i] = a[i - 1]; // bug
}

KERNEL before_start_checked(const float *a, float *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i > 0 && i < n)
		b[i] = a[i - 1];
}

KERNEL wrap32(char *a, int n)
{ // 32-bit product
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i * 16] = 1; // bug
}

KERNEL wrap64(char *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[(size_t)i * 16] = 1;
}

KERNEL unsigned_difference(float *a, unsigned n)
{ // i - 4 turns over
	unsigned i = threadIdx.x;
	if (i < n)
		a[(size_t)(i - 4)] = 1; // bug
}

KERNEL unsigned_difference_checked(float *a, unsigned n)
{
	unsigned i = threadIdx.x;
	if (i - 4 < n)
		a[(size_t)(i - 4)] = 1;
}

KERNEL stride(float *a, int n, int step)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * step;
	if (i < n)
		a[i] = 1; // bug
}

struct Matrix {
	float *to;
	int rows, columns;
};

KERNEL by_value(Matrix m)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row < m.rows && column < m.columns)
		m.to[row * m.columns + column] = 2; // bug
}

KERNEL transposed(const float *a, float *b, int rows, int columns)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row < rows && column < columns)
		b[row * rows + column] = a[row * columns + column]; // bug
}

KERNEL transposed_right(const float *a, float *b, int rows, int columns)
{
	int row = blockIdx.y * blockDim.y + threadIdx.y, column = blockIdx.x * blockDim.x + threadIdx.x;
	if (row < rows && column < columns)
		b[column * rows + row] = a[row * columns + column];
}

KERNEL cube(float *a, int x, int y, int z)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
	    k = blockIdx.z * blockDim.z + threadIdx.z;
	if (i < x && j < y && k <= z)
		a[(k * y + j) * x + i] = 1; // bug
}

KERNEL cube_right(float *a, int x, int y, int z)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, j = blockIdx.y * blockDim.y + threadIdx.y,
	    k = blockIdx.z * blockDim.z + threadIdx.z;
	if (i < x && j < y && k < z)
		a[(k * y + j) * x + i] = 1;
}

KERNEL vectors(float4 *a, int n)
{ // n floats, told as if there were a multiple of 4
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i * 4 < n)
		a[i] = make_float4(1, 2, 3, 4); // bug
}

KERNEL misaligned(float *a, int n)
{
	int i = threadIdx.x;
	if (i + 4 < n)
		*(float4 *)(a + i) = make_float4(1, 2, 3, 4); // bug
}

KERNEL aligned(float *a, int n)
{
	int i = threadIdx.x * 4;
	if (i + 4 <= n)
		*(float4 *)(a + i) = make_float4(1, 2, 3, 4);
}

KERNEL divided(int *a, int n, int width)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i / width * 8 + i % width] = i; // bug
}

KERNEL magic(int *a, const int *b, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] = b[i / 7]; // bug
}

KERNEL magic_of_signed(int *a, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x) - 100;
	if (i < n)
		a[i / 10 + 9] = 1; // bug
}

KERNEL modulo(int *a, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i % 13] = i; // bug
}

KERNEL shifts(int *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[(i >> 3 << 2) + (i & 7)] = 1; // bug
}

KERNEL masked(int *a)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	a[i & 0x7f] = 1; // bug
}

KERNEL exclusive(int *a, int bit)
{
	a[threadIdx.x ^ 64] = bit; // bug
}

KERNEL clamped(const float *a, float *b, int n)
{
	int i = threadIdx.x;
	b[i] = a[min(max(i - 3, 0), n)]; // bug
}

KERNEL clamped_right(const float *a, float *b, int n)
{
	int i = threadIdx.x;
	b[i] = a[min(max(i - 3, 0), n - 1)];
}

KERNEL selected(const float *a, float *b, int n)
{
	int i = threadIdx.x, j = i < n ? i : n;
	b[i] = a[j]; // bug
}

KERNEL selected_right(const float *a, float *b, int n)
{
	int i = threadIdx.x, j = i < n ? i : 0;
	b[i] = a[j];
}

KERNEL one_of_two(float *a, float *b, int n)
{
	float *to = threadIdx.x < n ? a + threadIdx.x : b + threadIdx.x;
	*to = 1; // bug
}

KERNEL counted(int *counts, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		atomicAdd(counts + i % 32, 1); // bug
}

KERNEL exchanged(unsigned long long *a, int n)
{
	int i = threadIdx.x;
	if (i <= n)
		a[i + 1] = atomicCAS(a + i, 1ull, 2ull); // bug
}

KERNEL bytes(uint8_t *a, unsigned short n)
{
	unsigned char i = threadIdx.x + 250; // of 8 bits
	if (i < n)
		a[i] = 1; // bug
}

KERNEL predicated(float *a, const float *b, int n)
{
	int i = threadIdx.x;
	float x = 0;
	if (i < n)
		x = b[i]; // bug
	a[i] = x;
}

KERNEL from_memory(const int *index, float *a, int n)
{ // undecided
	int i = threadIdx.x;
	if (i < n)
		a[index[i]] = 1;
}

KERNEL guard_from_memory(const int *length, float *a)
{ // undecided
	int i = threadIdx.x;
	if (i < *length)
		a[i] = 1;
}

KERNEL checked_from_memory(const int *index, float *a, int n)
{
	int i = threadIdx.x;
	if (i < n) {
		unsigned j = index[i];
		if (j < n)
			a[j] = 1; // bug
	}
}

KERNEL linked(float **rows, int n)
{ // undecided
	if (threadIdx.x < n)
		rows[threadIdx.x][threadIdx.x] = 1;
}
