// case: bad_cooperative cooperative => suspect: k_coop
// case: bad_launch_ex launch_ex
// case: bad_library_kernel library_kernel
// case: bad_graph_kernel_node node_added_by_hand
// case: bad_graph_launch captured
// case: bad_enumerated_function enumerated_function => needs: cuModuleEnumerateFunctions
// case: bad_enumerated_kernel enumerated_kernel => needs: cuLibraryEnumerateKernels
// case: bad_graph_captured_kernel captured_kernel => needs: cuFuncGetName
// expect: heap-buffer-overflow size 3000 offset +5 in make_buffer
// suspect: k_flip
/* The kernel is launched in each of the ways there are. */
#include "kernel_node.h"
#include "make_buffer.h"

static long long off = 3005, count = 32;

static TK_UNUSED void cooperative(CUdeviceptr p)
{
	CUfunction f = tk_kernel("k_coop");

	CK(cuLaunchCooperativeKernel(f, 1, 1, 1, 32, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count)));
}

static TK_UNUSED void launch_ex(CUdeviceptr p)
{
	CUlaunchConfig config = {1, 3, 1, 32, 1, 1, 0, NULL, NULL, 0};

	CK(cuLaunchKernelEx(&config, tk_kernel("k_flip"), TK_ARGS(&p, &off, &count), NULL));
}

/* Launched by its CUkernel; its library is unloaded before the report. */
static TK_UNUSED void library_kernel(CUdeviceptr p)
{
	CUlibrary library;
	CUkernel kernel;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_flip"));
	tk_launch((CUfunction)kernel, 1, 32, NULL, TK_ARGS(&p, &off, &count));
	tk_sync();
	CK(cuLibraryUnload(library));
}

/* Nobody says what the kernel is called: it is among all that there are. */
static TK_UNUSED void enumerated_function(CUdeviceptr p)
{
	CUfunction all[256];
	const char *name;
	unsigned n;

	CK(cuModuleGetFunctionCount(&n, tk_module));
	REQUIRE(n <= 256);
	CK(cuModuleEnumerateFunctions(all, n, tk_module));
	for (unsigned i = 0; i < n; i++)
		if (CUDA_SUCCESS == cuFuncGetName(&name, all[i]) && !strcmp(name, "k_flip"))
			tk_launch(all[i], 1, 32, NULL, TK_ARGS(&p, &off, &count));
}

static TK_UNUSED void enumerated_kernel(CUdeviceptr p)
{
	CUlibrary library;
	CUkernel all[256];
	const char *name;
	unsigned n;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernelCount(&n, library));
	REQUIRE(n <= 256);
	CK(cuLibraryEnumerateKernels(all, n, library));
	for (unsigned i = 0; i < n; i++)
		if (CUDA_SUCCESS == cuKernelGetName(&name, all[i]) && !strcmp(name, "k_flip"))
			tk_launch((CUfunction)all[i], 1, 32, NULL, TK_ARGS(&p, &off, &count));
}

static TK_UNUSED void node_added_by_hand(CUdeviceptr p)
{
	CUDA_KERNEL_NODE_PARAMS node = kernel_node("k_flip", TK_ARGS(&p, &off, &count));

	tk_run_graph(kernel_graph(&node, NULL), NULL, 1);
}

static TK_UNUSED void captured(CUdeviceptr p)
{
	CUgraph graph;
	CUstream stream = tk_stream();

	tk_kernel("k_flip");
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	tk_flip_on(stream, p, off, count);
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 1);
}

/* As the CUDA runtime launches: nobody asks for the function that the graph's node is said to have. */
static TK_UNUSED void captured_kernel(CUdeviceptr p)
{
	CUstream stream = tk_stream();
	CUlibrary library;
	CUkernel kernel;
	CUgraph graph;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_flip"));
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	tk_launch((CUfunction)kernel, 1, 32, stream, TK_ARGS(&p, &off, &count));
	CK(cuStreamEndCapture(stream, &graph));
	tk_run_graph(graph, stream, 1);
}

int main(void)
{
	CUdeviceptr p = make_buffer(3000);

	CASE(p);
	tk_sync();
	CK(cuMemFree(p));
}
