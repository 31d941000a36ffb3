/*
 * Programs for gmod prove --sweep: each is healthy with the numbers that tests/scripts/sweep.sh gives it, and has a bug
 * with others. The twin of each, NAME-good, is healthy with all.
 *
 *   cases NAME NUMBER...
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define BLOCK 256

__global__ void fill(float *out, int n, bool good)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (!good || i < n)
		out[i] = 1; /* BUG rest */
}

__global__ void fours(float4 *out, int n, bool good)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < (good ? n / 4 : (n + 3) / 4))
		out[i] = make_float4(1, 2, 3, 4); /* BUG fours */
}

__global__ void stencil(const float *in, float *out, int n, int radius, bool good)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= n)
		return;
	for (int k = 0; k <= radius; k++)
		if (!good || i + k < n + 16)
			sum += in[i + k]; /* BUG halo */
	out[i] = sum;
}

__global__ void rows(float *out, int width, int height, int pitch)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;

	if (x < width && y < height)
		out[y * pitch + x] = 1; /* BUG pitch */
}

__global__ void sums(float *out)
{
	extern __shared__ float part[];

	part[threadIdx.x] = threadIdx.x; /* BUG shared */
	__syncthreads();
	if (threadIdx.x == 0)
		out[blockIdx.x] = part[0];
}

__global__ void transpose(const float *in, float *out, int width, int height, bool good)
{
	int x = blockIdx.x * 16 + threadIdx.x, y = blockIdx.y * 16 + threadIdx.y;

	if (x < width && y < height)
		out[good ? x * height + y : x * width + y] = in[y * width + x]; /* BUG transpose */
}

__global__ void scan(float *data, int step, int n, int padded, bool good)
{
	int i = (blockIdx.x * blockDim.x + threadIdx.x) * step * 2 + 2 * step - 1;

	if (i < (good ? n : padded))
		data[i] += data[i - step]; /* BUG scan */
}

__global__ void batches(float *out, int n, int batch, bool good)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, b = blockIdx.y;

	if (i < n && (!good || b < batch))
		out[b * n + i] = 1; /* BUG batches */
}

__global__ void depths(float *out, int depth, bool good)
{
	float kept[8];
	float sum = 0;

	for (int k = 0; k < depth; k++)
		if (!good || k < 8)
			((volatile float *)kept)[k] = threadIdx.x * k; /* BUG local */
	for (int k = 0; k < 8; k++)
		sum += ((volatile float *)kept)[k];
	out[threadIdx.x] = sum;
}

__global__ void wraps(const int *in, int *out, size_t n, bool good)
{
	size_t i = ((size_t)blockIdx.x * blockDim.x + threadIdx.x) * 4, rest = n - i;

	if (rest < 4 || (good && i >= n)) {
		for (size_t k = i; k < n; k++)
			out[k] = in[k];
	} else {
		*(int4 *)(out + i) = *(const int4 *)(in + i); /* BUG wraps */
	}
}

__global__ void strides(float *out, int n, int stride, bool good)
{
	for (int i = threadIdx.x * stride; i < n; i += blockDim.x * stride)
		for (int k = 0; k < stride; k++)
			if (!good || i + k < n)
				out[i + k] = 1; /* BUG strides */
}

__global__ void unrolled(const float *in, float *out, int n, bool good)
{
	float sum = 0;

	for (int i = threadIdx.x * 4; i < n; i += blockDim.x * 4)
		for (int k = 0; k < 4; k++)
			if (!good || i + k < n)
				sum += in[i + k]; /* BUG unrolled */
	out[threadIdx.x] = sum;
}

template <typename T> static T *room(size_t n)
{
	T *at = nullptr;

	if (cudaMalloc(&at, n * sizeof(T)) != cudaSuccess)
		exit(3);
	return at;
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	int n = argc > 2 ? atoi(argv[2]) : 0, m = argc > 3 ? atoi(argv[3]) : 0;
	bool good = strstr(name, "-good");
	auto is = [&](const char *word) { return !strncmp(name, word, strlen(word)); };

	if (n < 1 || n > 1 << 20)
		return 2;
	if (is("rest"))
		fill<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(room<float>(n), n, good);
	else if (is("fours"))
		fours<<<(n + BLOCK * 4 - 1) / (BLOCK * 4), BLOCK>>>((float4 *)room<float>(n), n, good);
	else if (is("halo"))
		stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(room<float>(n + 16), room<float>(n), n, m, good);
	else if (is("pitch"))
		rows<<<dim3((n + 31) / 32, m), 32>>>(room<float>((size_t)n * m), n, m, good ? n : (n + 31) / 32 * 32);
	else if (is("shared"))
		sums<<<1, n, good ? n * 4 : 1024>>>(room<float>(1));
	else if (is("transpose"))
		transpose<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(room<float>((size_t)n * m),
										room<float>((size_t)n * m), n, m, good);
	else if (is("scan"))
		for (int padded = 1, step = 1; padded < n || step < padded; padded < n ? padded *= 2 : step *= 2)
			scan<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(room<float>(n), step, n, padded, good);
	else if (is("batches"))
		batches<<<dim3((n + BLOCK - 1) / BLOCK, (m + 1) / 2 * 2), BLOCK>>>(room<float>((size_t)n * m), n, m,
										   good);
	else if (is("local"))
		depths<<<1, 32>>>(room<float>(32), n, good);
	else if (is("wraps"))
		wraps<<<(n + BLOCK * 4 - 1) / (BLOCK * 4), BLOCK>>>(room<int>(n), room<int>(n), n, good);
	else if (is("strides"))
		strides<<<1, 64>>>(room<float>(n), n, m < 1 ? 1 : m, good);
	else if (is("unrolled"))
		unrolled<<<1, 64>>>(room<float>(n), room<float>(64), n, good);
	else
		return 2;
	return cudaDeviceSynchronize() == cudaSuccess ? 0 : 1;
}
