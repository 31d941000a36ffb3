// Loops that end one step too late, or do not.

extern "C" __global__ void grid_stride_good(int *to, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
		to[i] = i;
}

extern "C" __global__ void grid_stride_bad(int *to, int n)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n + 2; i += gridDim.x * blockDim.x)
		to[i] = i;
}

extern "C" __global__ void down_good(int *to, int n)
{
#pragma unroll 1
	for (int i = n - 1; i >= 0; i--)
		to[i] = i;
}

extern "C" __global__ void down_bad(int *to, int n)
{
#pragma unroll 1
	for (int i = n - 1; i >= -1; i--)
		to[i] = i;
}

extern "C" __global__ void doubling_good(int *to, int n)
{
#pragma unroll 1
	for (int i = 1; i < n; i *= 2)
		to[i] = i;
}

extern "C" __global__ void doubling_bad(int *to, int n)
{
#pragma unroll 1
	for (int i = 1; i <= n; i *= 2)
		to[i] = i;
}

extern "C" __global__ void nested_good(int *to, int rows, int columns)
{
#pragma unroll 1
	for (int row = 0; row < rows; row++)
#pragma unroll 1
		for (int column = 0; column <= row && column < columns; column++)
			to[row * columns + column] = 1;
}

extern "C" __global__ void nested_bad(int *to, int rows, int columns)
{
#pragma unroll 1
	for (int row = 0; row < rows; row++)
#pragma unroll 1
		for (int column = 0; column <= row; column++)
			to[row * columns + column] = 1;
}

extern "C" __global__ void early_good(int *to, int n)
{
	if (threadIdx.x >= n)
		return;
	to[threadIdx.x] = 1;
	if (threadIdx.x + 1 >= n)
		return;
	to[threadIdx.x + 1] = 2;
}

extern "C" __global__ void early_bad(int *to, int n)
{
	if (threadIdx.x >= n)
		return;
	to[threadIdx.x] = 1;
	to[threadIdx.x + 1] = 2;
}

extern "C" __global__ void search_good(const int *sorted, int *found, int n, int key)
{
	int low = 0, high = n;
#pragma unroll 1
	while (low < high) {
		int middle = (low + high) / 2;
		if (sorted[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	*found = low;
}

// With a key above all elements it reads the one behind the last.
extern "C" __global__ void search_bad(const int *sorted, int *found, int n, int key)
{
	int low = 0, high = n;
#pragma unroll 1
	while (low <= high) {
		int middle = (low + high) / 2;
		if (sorted[middle] < key)
			low = middle + 1;
		else
			high = middle - 1;
	}
	*found = low;
}
