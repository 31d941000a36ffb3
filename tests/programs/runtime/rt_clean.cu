// case: rt_shared_clean
// case: rt_static_clean
/* An everyday program over the runtime: arrays, streams, events, a graph, pinned and managed memory, a reset. */
#include "runtime.cuh"

static void round_trip(int n)
{
	float *p = make_array(n), *host, *managed;
	cudaGraphExec_t exec;
	cudaGraph_t graph;
	cudaStream_t stream;
	cudaEvent_t event;

	RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	RT(cudaEventCreate(&event));
	RT(cudaMallocHost(&host, n * sizeof(float)));
	RT(cudaMallocManaged(&managed, n * sizeof(float)));
	memset(managed, 0, n * sizeof(float));
	RT(cudaMemsetAsync(p, 0, n * sizeof(float), stream));
	RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	rt_fill<<<(n + 127) / 128, 128, 0, stream>>>(p, n);
	RT(cudaStreamEndCapture(stream, &graph));
	RT(cudaGraphInstantiate(&exec, graph, 0));
	RT(cudaGraphLaunch(exec, stream));
	rt_fill<<<(n + 127) / 128, 128, 0, stream>>>(managed, n);
	RT(cudaMemcpyAsync(host, p, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
	RT(cudaEventRecord(event, stream));
	RT(cudaEventSynchronize(event));
	printf("%d: last %g, managed %g\n", n, host[n - 1], managed[n - 1]);
	RT(cudaGraphExecDestroy(exec));
	RT(cudaGraphDestroy(graph));
	RT(cudaStreamDestroy(stream));
	RT(cudaEventDestroy(event));
	RT(cudaFree(managed));
	RT(cudaFreeHost(host));
	RT(cudaFree(p));
}

int main()
{
	for (int n = 1; n < 100000; n = n * 3 + 1)
		round_trip(n);
	RT(cudaDeviceReset());
	round_trip(777);
}
