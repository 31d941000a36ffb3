// Loops with a bug, and healthy twins: see global.cu.
#define KERNEL extern "C" __global__ void

KERNEL up(float *a, int n)
{
	for (int i = 0; i < n; i++)
		a[i * 32 + threadIdx.x] = i; // bug
}

KERNEL down(float *a, int n)
{
#pragma unroll 1
	for (int i = n; i >= 0; i--)
		a[i] = i; // bug
}

KERNEL down_right(float *a, int n)
{
#pragma unroll 1
	for (int i = n - 1; i >= 0; i--)
		a[i] = i;
}

KERNEL grid_stride(const float *a, float *b, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		b[i] = a[i]; // bug
}

KERNEL grid_stride_64(const float *a, float *b, long n)
{
	for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		b[i] = a[i + 1]; // bug
}

KERNEL grid_stride_64_right(const float *a, float *b, long n)
{
	for (long i = blockIdx.x * blockDim.x + threadIdx.x; i < n - 1; i += gridDim.x * blockDim.x)
		b[i] = a[i + 1];
}

KERNEL doubling(float *a, int n)
{
	for (int i = 1; i <= n; i *= 2)
		a[i] = i; // bug
}

KERNEL doubling_right(float *a, int n)
{
	for (int i = 1; i < n; i *= 2)
		a[i] = i;
}

KERNEL nested(float *a, int rows, int columns)
{
#pragma unroll 1
	for (int row = threadIdx.x; row < rows; row += blockDim.x)
#pragma unroll 1
		for (int column = 0; column < columns; column++)
			a[row * columns + column] = 1; // bug
}

KERNEL triangle(float *a, int n)
{
#pragma unroll 1
	for (int i = 0; i < n; i++)
#pragma unroll 1
		for (int j = 0; j <= i; j++)
			a[i * n + j + 1] = threadIdx.x; // bug
}

KERNEL triangle_right(float *a, int n)
{
#pragma unroll 1
	for (int i = 0; i < n; i++)
#pragma unroll 1
		for (int j = 0; j < i; j++)
			a[i * n + j + 1] = threadIdx.x;
}

KERNEL pointer_walk(float *a, int n)
{
	float *end = a + n;
#pragma unroll 1
	for (float *p = a; p != end; p++)
		*p = 1; // bug
}

KERNEL stencil(const float *a, float *b, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		b[i] = a[i > 0 ? i - 1 : 0] + a[i] + a[i < n ? i + 1 : i]; // bug
}

KERNEL stencil_right(const float *a, float *b, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		b[i] = a[i > 0 ? i - 1 : 0] + a[i] + a[i < n - 1 ? i + 1 : i];
}

KERNEL ring(float *a, int n)
{ // an index that goes around
	int at = threadIdx.x;
#pragma unroll 1
	for (int i = 0; i < n; i++) {
		a[at] = i; // bug
		at = (at + 5) % 96;
	}
}

KERNEL until_found(const int *a, int *b, int n)
{ // ends by what is in memory
	int i = 0;
	while (a[i] != 7 && i < n) // bug
		i++;
	*b = i;
}

KERNEL until_found_right(const int *a, int *b, int n)
{
	int i = 0;
	while (i < n && a[i] != 7)
		i++;
	*b = i;
}

KERNEL reduced(const float *a, float *b, int top)
{
	__shared__ float part[256];
	int i = threadIdx.x;
	part[i] = a[blockIdx.x * 256 + i];
	__syncthreads();
#pragma unroll 1
	for (int s = top; s > 0; s >>= 1) {
		if (i < s)
			part[i] += part[i + s]; // bug
		__syncthreads();
	}
	if (i == 0)
		b[blockIdx.x] = part[0];
}

KERNEL matrix_product(const float *a, const float *b, float *c, int n)
{
	__shared__ float s[16][16], t[16][16];
	int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
	float sum = 0;
	for (int m = 0; m < n / 16; m++) {
		s[threadIdx.y][threadIdx.x] = a[row * n + m * 16 + threadIdx.x];
		t[threadIdx.y][threadIdx.x] = b[(m * 16 + threadIdx.y) * n + column];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += s[threadIdx.y][k] * t[k][threadIdx.x];
		__syncthreads();
	}
	c[row * n + column] = sum; // bug
}
