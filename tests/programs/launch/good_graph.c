/* A captured graph of fills, kernels and copies, launched and updated many times. */
#include "testkit.h"

int main(void)
{
	static unsigned char host[4000];
	CUgraph graph;
	int right = 0;
	CUdeviceptr p = tk_alloc(sizeof(host));
	CUstream stream = tk_stream();

	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	CK(cuMemsetD8Async(p, 3, sizeof(host), stream));
	tk_flip_on(stream, p, 0, sizeof(host));
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 50);
	CK(cuMemcpyDtoHAsync(host, p, sizeof(host), stream));
	CK(cuStreamSynchronize(stream));
	for (size_t i = 0; i < sizeof(host); i++)
		right += host[i] == (3 ^ 0x5a);
	printf("%d bytes right\n", right);
	CK(cuStreamDestroy(stream));
	CK(cuMemFree(p));
}
