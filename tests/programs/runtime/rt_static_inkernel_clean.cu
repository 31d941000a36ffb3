/* A list and a tree that kernels build and take down again, in a graph too, with malloc and new replaced. */
#include "runtime.cuh"

#define GMOD_REPLACE_DEVICE_MALLOC
#include "include/gmod_device.cuh"

struct node {
	node *next;
	int value;
};

__global__ void rt_push(node **heads, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	for (int k = 0; k < n; k++) {
		node *p = new node;

		if (!p)
			return;
		p->value = k;
		p->next = heads[i];
		heads[i] = p;
	}
}

__global__ void rt_pop(node **heads, unsigned long long *sum)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	while (heads[i]) {
		node *p = heads[i];
		char *copy = (char *)malloc(p->value + 1);

		if (copy)
			copy[p->value] = 1;
		free(copy);
		atomicAdd(sum, (unsigned long long)p->value);
		heads[i] = p->next;
		delete p;
	}
}

int main()
{
	const int threads = 4096;
	unsigned long long *sum, result;
	cudaStream_t stream;
	cudaGraphExec_t run;
	cudaGraph_t graph;
	node **heads;

	RT(cudaMalloc(&heads, threads * sizeof(*heads)));
	RT(cudaMemset(heads, 0, threads * sizeof(*heads)));
	RT(cudaMalloc(&sum, sizeof(*sum)));
	RT(cudaMemset(sum, 0, sizeof(*sum)));
	RT(cudaStreamCreate(&stream));
	RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	rt_push<<<threads / 128, 128, 0, stream>>>(heads, 10);
	rt_pop<<<threads / 128, 128, 0, stream>>>(heads, sum);
	RT(cudaStreamEndCapture(stream, &graph));
	RT(cudaGraphInstantiate(&run, graph, 0));
	for (int i = 0; i < 20; i++)
		RT(cudaGraphLaunch(run, stream));
	RT(cudaStreamSynchronize(stream));
	rt_push<<<threads / 128, 128>>>(heads, 5);
	rt_pop<<<threads / 128, 128>>>(heads, sum);
	RT(cudaMemcpy(&result, sum, sizeof(result), cudaMemcpyDeviceToHost));
	printf("sum %llu\n", result);
}
