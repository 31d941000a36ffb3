// case: rt_shared_graph_overflow
// case: rt_static_graph_overflow
// case: rt_per_thread_graph_overflow
// expect: heap-buffer-overflow size 4000 offset +2 in make_array
// suspect: rt_fill
/* A graph captured through the CUDA runtime. Its kernel is launched nowhere else: only the graph's node knows it. */
#include "runtime.cuh"

int main()
{
	float *p = make_array(1000);
	cudaStream_t stream;
	cudaGraph_t graph;
	cudaGraphExec_t exec;

	RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	rt_fill<<<8, 128, 0, stream>>>(p, 1001);
	RT(cudaStreamEndCapture(stream, &graph));
	RT(cudaGraphInstantiate(&exec, graph, 0));
	RT(cudaGraphLaunch(exec, stream));
	RT(cudaStreamSynchronize(stream));
	RT(cudaGraphExecDestroy(exec));
	RT(cudaGraphDestroy(graph));
	RT(cudaFree(p));
}
