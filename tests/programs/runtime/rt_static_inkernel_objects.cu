/* Objects with constructors and virtual destructors, made and destroyed on the device by new and delete. */
#include "runtime.cuh"

#define GMOD_REPLACE_DEVICE_MALLOC
#include "include/gmod_device.cuh"

__device__ int alive;

struct shape {
	__device__ shape()
	{
		atomicAdd(&alive, 1);
	}
	__device__ virtual ~shape()
	{
		atomicAdd(&alive, -1);
	}
	__device__ virtual int corners() const = 0;
};

struct polygon : shape {
	int n;
	float *at;

	__device__ explicit polygon(int n) : n(n), at(new float[2 * n])
	{
		for (int i = 0; at && i < 2 * n; i++)
			at[i] = (float)i;
	}
	__device__ ~polygon() override
	{
		delete[] at;
	}
	__device__ int corners() const override
	{
		return n;
	}
};

struct circle : shape {
	__device__ int corners() const override
	{
		return 0;
	}
};

__global__ void rt_draw(int rounds, unsigned long long *corners)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int r = 0; r < rounds; r++) {
		shape *s = (i + r) % 3 ? (shape *)new polygon(3 + (i + r) % 10) : (shape *)new circle;

		atomicAdd(corners, (unsigned long long)s->corners());
		delete s;
	}
}

int main()
{
	unsigned long long *corners, sum;
	int left;

	RT(cudaMalloc(&corners, sizeof(*corners)));
	RT(cudaMemset(corners, 0, sizeof(*corners)));
	rt_draw<<<8, 128>>>(20, corners);
	RT(cudaMemcpy(&sum, corners, sizeof(sum), cudaMemcpyDeviceToHost));
	RT(cudaMemcpyFromSymbol(&left, alive, sizeof(left)));
	printf("corners %llu, left %d\n", sum, left);
}
