// One index expression a kernel. The healthy twin ends with _good, the other with _bad.

extern "C" __global__ void copy_good(int *to, const int *from, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		to[i] = from[i];
}

extern "C" __global__ void copy_bad(int *to, const int *from, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i <= n)
		to[i] = from[i];
}

extern "C" __global__ void strided_good(double *to, int stride, int n)
{
	int i = threadIdx.x * stride;
	if (i < n)
		to[i] = 1.0;
}

extern "C" __global__ void strided_bad(double *to, int stride, int n)
{
	if (threadIdx.x < n)
		to[threadIdx.x * stride] = 1.0;
}

// 65536 * 65536 is 0 in 32 bits; in 64 bits it is past every buffer.
extern "C" __global__ void wrap_good(int *to, unsigned rows, unsigned columns)
{
	unsigned long long i = (unsigned long long)(rows * columns) + threadIdx.x;
	to[i] = 1;
}

extern "C" __global__ void wrap_bad(int *to, unsigned rows, unsigned columns)
{
	unsigned long long i = (unsigned long long)rows * columns + threadIdx.x;
	to[i] = 1;
}

// An unsigned difference below zero is 4294967295.
extern "C" __global__ void before_good(const int *from, int *to)
{
	unsigned i = threadIdx.x;
	to[i] = i ? from[i - 1] : 0;
}

extern "C" __global__ void before_bad(const int *from, int *to)
{
	unsigned i = threadIdx.x;
	to[i] = from[i - 1];
}

extern "C" __global__ void divided_good(short *to, int width, int n)
{
	int i = threadIdx.x;
	to[i / width * width + i % width] = (short)n;
}

extern "C" __global__ void divided_bad(short *to, int width, int n)
{
	int i = threadIdx.x;
	to[i / width * (width + 1) + i % width] = (short)n;
}

extern "C" __global__ void shifted_good(char *to, int bits)
{
	to[(threadIdx.x << bits) >> bits] = 1;
}

extern "C" __global__ void shifted_bad(char *to, int bits)
{
	to[(threadIdx.x << bits) >> (bits - 1)] = 1;
}

extern "C" __global__ void clamped_good(int *to, const int *where, int n)
{
	to[min(max(where[threadIdx.x], 0), n - 1)] = 1;
}

extern "C" __global__ void clamped_bad(int *to, const int *where, int n)
{
	to[max(min(where[threadIdx.x], n), -1)] = 1;
}

extern "C" __global__ void plane_good(float *to, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < width && y < height)
		to[y * width + x] = 1;
}

// The bounds are those of the other axis.
extern "C" __global__ void plane_bad(float *to, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x < height && y < width)
		to[y * width + x] = 1;
}

extern "C" __global__ void volume_good(char *to, int depth)
{
	if (threadIdx.z < depth)
		to[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void volume_bad(char *to, int depth)
{
	if (threadIdx.z <= depth)
		to[(threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x] = 1;
}

extern "C" __global__ void vector_good(float4 *to, int n)
{
	if (threadIdx.x < n / 4)
		to[threadIdx.x] = make_float4(1, 2, 3, 4);
}

extern "C" __global__ void vector_bad(float4 *to, int n)
{
	if (threadIdx.x < (n + 3) / 4)
		to[threadIdx.x] = make_float4(1, 2, 3, 4);
}

// The cast asks for 16 aligned bytes.
extern "C" __global__ void aligned_good(float *to, int start)
{
	*(float4 *)(to + start * 4) = make_float4(1, 2, 3, 4);
}

extern "C" __global__ void aligned_bad(float *to, int start)
{
	*(float4 *)(to + start) = make_float4(1, 2, 3, 4);
}
