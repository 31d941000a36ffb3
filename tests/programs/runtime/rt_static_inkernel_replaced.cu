// expect: heap-buffer-overflow size 80 offset +0
// expect: heap-buffer-overflow size 30 offset +1
// expect: double-free size 24
// expect: invalid-free
// expect: heap-buffer-overflow size 128 offset +0
// expect: heap-buffer-overflow size 8 offset +0
// options: device_free_delay=1000
/* malloc, and all forms of new and delete, go to mallocN and freeN in device code: what is done wrong is found. */
#include "runtime.cuh"

#define GMOD_REPLACE_DEVICE_MALLOC
#include "include/gmod_device.cuh"

struct point {
	double x, y, z;
};

struct alignas(128) line {
	char bytes[128];
};

__global__ void rt_wrong_too(void **out)
{
	line *aligned = new line;
	std::nothrow_t quiet;
	char *text = new (quiet) char[8];

	out[0] = aligned;
	out[1] = text;
	if (!aligned || (size_t)aligned % 128 || !text)
		return;
	((char *)(aligned + 1))[0] ^= 0x5a;
	text[8] ^= 0x5a;
	delete aligned;
	delete[] text;
}

__global__ void rt_wrong(void **out)
{
	double *array = new double[10];
	char *text = (char *)malloc(30);
	point *p = new point;

	out[0] = array;
	out[1] = text;
	if (!array || !text || !p)
		return;
	((char *)(array + 10))[0] ^= 0x5a;
	text[31] ^= 0x5a;
	out[2] = p;
	delete p;
	delete (point *)out[2];
	free(text + 16);
}

int main()
{
	void **out;

	RT(cudaMalloc(&out, 3 * sizeof(*out)));
	rt_wrong<<<1, 1>>>(out);
	rt_wrong_too<<<1, 1>>>(out);
	RT(cudaDeviceSynchronize());
	RT(cudaFree(out));
}
