/*
 * journalled HOW [NUMBER]: launches for the journal of launches. NUMBER of them, with one buffer of 4096 bytes and
 *
 *	same      the same parameters
 *	counting  a value that counts up and one that comes back to where it began
 *	places    pointers in front of, into, and right behind pinned and managed buffers, too
 *	reused    one, and one with a smaller buffer that lies where the first one lay
 *	graph     as two nodes of a graph, the first in clusters of two blocks, which is launched so many times
 *	direct    of a library's kernel, one by its handle and one by its function
 *	captured  the first of these in a graph
 *	linked    of a module, after PTX was given to the linker
 *	threads   in four threads
 *	closed    no descriptor left in the midst of it, and the numbers taken for a file, whose bytes are printed
 *	limit     no file that may grow beyond 2000 bytes, in the midst of it
 *	forked    and as many in a child
 *	then      "ready" and a long sleep
 *	aborted   an abort
 *	exec      and becomes another program
 */
#include "kernel_node.h"
#include "make_buffer.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

enum { LAST = 300 };

static CUdeviceptr buffer;
static int number;

/* The bytes [0, 1) of what p points to. */
static void fill(CUdeviceptr p, int value, long long count)
{
	long long off = 0;

	tk_launch(tk_kernel("k_fill"), 1, 32, NULL, TK_ARGS(&p, &off, &count, &value));
}

static void same(void)
{
	for (int i = 0; i < number; i++)
		fill(buffer, 7, 1);
}

static void counting(void)
{
	for (int i = 0; i < number; i++)
		fill(buffer, i, (i % 100 + 1) % 3);
	tk_sync();
}

static void places(void)
{
	CUdeviceptr managed;

	CK(cuMemAllocManaged(&managed, 1000, CU_MEM_ATTACH_GLOBAL));
	fill(buffer, 1, 0);
	fill(buffer + 4095, 1, 0);
	fill(buffer + 4096, 1, 0);
	fill((CUdeviceptr)(uintptr_t)tk_pinned(100), 1, 0);
	fill(managed + 10, 1, 0);
	fill(12345, 1, 0);
}

static void reused(void)
{
	CUdeviceptr before = buffer;

	same();
	tk_sync();
	CK(cuMemFree(buffer));
	buffer = make_buffer(4000);
	REQUIRE(buffer == before);
	same();
}

static void graph(void)
{
	long long off = 0, count = 1;
	int value = 3;
	void **args = TK_ARGS(&buffer, &off, &count, &value);
	CUDA_KERNEL_NODE_PARAMS node = {.func = tk_kernel("k_fill"),
					.gridDimX = 2,
					.gridDimY = 1,
					.gridDimZ = 1,
					.blockDimX = 64,
					.blockDimY = 1,
					.blockDimZ = 1,
					.kernelParams = args};
	CUkernelNodeAttrValue clusters = {.clusterDim = {2, 1, 1}};
	CUgraphNode first, second;
	CUgraph made;

	CK(cuGraphCreate(&made, 0));
	CK(cuGraphAddKernelNode(&first, made, NULL, 0, &node));
	CK(cuGraphKernelNodeSetAttribute(first, CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &clusters));
	value = 4;
	CK(cuGraphAddKernelNode(&second, made, &first, 1, &node));
	tk_run_graph(made, tk_stream(), number);
}

static void library(int captured)
{
	long long off = 0, count = 1;
	int value = 5;
	void **args = TK_ARGS(&buffer, &off, &count, &value);
	CUstream stream = tk_stream();
	CUlibrary loaded;
	CUkernel kernel;
	CUfunction function;
	CUgraph made;

	CK(cuLibraryLoadFromFile(&loaded, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, loaded, "k_fill"));
	if (captured)
		CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_RELAXED));
	tk_launch((CUfunction)kernel, 2, 64, stream, args);
	if (captured) {
		CK(cuStreamEndCapture(stream, &made));
		tk_run_graph(made, stream, number);
		return;
	}
	CK(cuKernelGetFunction(&function, kernel));
	tk_launch(function, 2, 64, stream, args);
}

static void linked(void)
{
	static char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n.visible .entry k_fill() { ret; }\n";
	CUlinkState link = NULL;

	CK(cuLinkCreate(0, NULL, NULL, &link));
	CK(cuLinkAddData(link, CU_JIT_INPUT_PTX, ptx, sizeof(ptx), "fill", 0, NULL, NULL));
	CK(cuLinkDestroy(link));
	same();
}

static void *in_a_thread(void *unused TK_UNUSED)
{
	CUcontext context;

	CK(cuDevicePrimaryCtxRetain(&context, 0));
	CK(cuCtxSetCurrent(context));
	counting();
	return NULL;
}

static void closed(void)
{
	int data;

	same();
	tk_sleep_ms(100);
	for (int fd = 3; fd < LAST; fd++)
		close(fd);
	data = open("data", O_RDWR | O_CREAT | O_TRUNC, 0600);
	while (dup(data) < LAST && dup(data) >= 0)
		;
	counting();
	tk_sleep_ms(100);
	printf("%ld bytes\n", (long)lseek(data, 0, SEEK_END));
}

static void limit(void)
{
	REQUIRE(!setrlimit(RLIMIT_FSIZE, &(struct rlimit){2000, 2000}));
	counting();
	tk_sleep_ms(100);
	counting();
}

static void forked(void)
{
	int status;
	pid_t child;

	same();
	child = fork();
	if (!child)
		_exit(0);
	REQUIRE(child > 0 && waitpid(child, &status, 0) == child && !status);
	counting();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "same";

	number = argc > 2 ? atoi(argv[2]) : 3;
	tk_start();
	buffer = make_buffer(4096);
	if (!strcmp(how, "counting"))
		counting();
	else if (!strcmp(how, "places"))
		places();
	else if (!strcmp(how, "reused"))
		reused();
	else if (!strcmp(how, "graph"))
		graph();
	else if (!strcmp(how, "captured") || !strcmp(how, "direct"))
		library(!strcmp(how, "captured"));
	else if (!strcmp(how, "linked"))
		linked();
	else if (!strcmp(how, "threads"))
		tk_in_threads(4, in_a_thread);
	else if (!strcmp(how, "closed"))
		closed();
	else if (!strcmp(how, "limit"))
		limit();
	else if (!strcmp(how, "forked"))
		forked();
	else
		same();
	tk_sync();
	if (!strcmp(how, "aborted"))
		abort();
	if (!strcmp(how, "exec"))
		execvp("echo", (char *[]){"echo", "another", NULL});
	if (!strcmp(how, "then")) {
		tk_sleep_ms(100);
		puts("ready");
		fflush(stdout);
		tk_sleep_ms(20000);
	}
}
