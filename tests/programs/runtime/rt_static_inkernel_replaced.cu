// expect: heap-buffer-overflow size 80 offset +0
// expect: heap-buffer-overflow size 30 offset +1
// expect: double-free size 24
// expect: invalid-free
// options: device_free_delay=1000
/* malloc, new and delete of device code go to mallocN and freeN: what is done wrong with them is found. */
#include "runtime.cuh"

#define GMOD_REPLACE_DEVICE_MALLOC
#include "include/gmod_device.cuh"

struct point {
	double x, y, z;
};

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
	RT(cudaDeviceSynchronize());
	RT(cudaFree(out));
}
