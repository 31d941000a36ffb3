/*
 * A program that makes the library make every kind of driver call it makes on its own: see faults.sh. Its output says
 * what a program can see of the driver, so that it is the same with and without GMOD, and whatever fails in there.
 */
#include "make_buffer.h"

/* Natively a hundred kernels ago or now: what counts is what the buffer holds. */
static unsigned sum_of(CUdeviceptr p, size_t size)
{
	unsigned char *host = malloc(size);
	unsigned sum = 0;

	REQUIRE(host);
	CK(cuMemcpyDtoH(host, p, size));
	for (size_t i = 0; i < size; i++)
		sum += host[i];
	free(host);
	return sum;
}

static void device_memory(void)
{
	static const size_t sizes[] = {1, 1000, 4096, 3000000};
	size_t pitch;
	CUdeviceptr p[5], base;
	size_t size;

	for (int i = 0; i < 4; i++) {
		p[i] = make_buffer(sizes[i]);
		CK(cuMemsetD8(p[i], 1, sizes[i]));
		tk_flip(p[i], 0, (long long)sizes[i]);
		CK(cuMemGetAddressRange(&base, &size, p[i] + sizes[i] / 2));
		printf("%zu bytes: sum %u, range %zu from %lld\n", sizes[i], sum_of(p[i], sizes[i]), size,
		       (long long)(base - p[i]));
	}
	CK(cuMemAllocPitch(&p[4], &pitch, 1000, 20, 4));
	CK(cuMemsetD2D8(p[4], pitch, 2, 1000, 20));
	printf("pitched: %zu, sum %u\n", pitch, sum_of(p[4], 1000));
	printf("range of nobody's memory: %s\n", tk_error_name(cuMemGetAddressRange(&base, &size, 64)));
	for (int i = 0; i < 5; i++)
		CK(cuMemFree(p[i]));
}

/* Whatever the memory consists of, what is in use is not free; of managed memory the driver keeps up to 96 MiB. */
static void free_memory(void)
{
	size_t before, during, after, total, size = (size_t)256 << 20, slop = (size_t)128 << 20;
	CUdeviceptr p;

	CK(cuMemGetInfo(&before, &total));
	p = make_buffer(size);
	CK(cuMemGetInfo(&during, &total));
	CK(cuMemFree(p));
	CK(cuMemGetInfo(&after, &total));
	printf("256 MiB are in use: %s; afterwards: %s\n",
	       during + size <= before + slop && before <= during + size + slop ? "yes" : "no",
	       after <= before + slop && before <= after + slop ? "no" : "yes");
}

/* Freed at once behind a kernel: the free has to wait for it. */
static void free_waits(volatile unsigned char *flag)
{
	CUdeviceptr p = make_buffer(2000);
	long long one = 1, zero = 0;
	void *gate;

	CK(cuMemHostGetDevicePointer((CUdeviceptr *)&gate, (void *)flag, 0));
	*flag = 0;
	tk_spin(NULL, 10);
	tk_launch_n(tk_kernel("k_flip"), 1, NULL, TK_ARGS(&gate, &zero, &one));
	CK(cuMemFree(p));
	printf("freed, and the kernel before it has run: %s\n", *flag == 0x5a ? "yes" : "no");
}

static void other_memory(void)
{
	CUdeviceptr managed = make_managed(5000);
	unsigned char *pinned = (unsigned char *)make_pinned(3000);
	void *plain;

	CK(cuMemAllocHost(&plain, 100));
	memset(pinned, 3, 3000);
	CK(cuMemsetD8(managed, 4, 5000));
	CK(cuMemcpy(managed, (CUdeviceptr)(uintptr_t)pinned, 3000));
	tk_flip((CUdeviceptr)(uintptr_t)plain, 0, 0 + 100);
	tk_sync();
	printf("managed: sum %u\n", sum_of(managed, 5000));
	free_waits(pinned);
	CK(cuMemFreeHost(plain));
	CK(cuMemFreeHost(pinned));
	CK(cuMemFree(managed));
}

static void graphs(void)
{
	CUdeviceptr p = make_buffer(500);
	CUgraphExec exec;
	CUgraph graph, child;
	CUgraphNode node;
	CUstream stream = tk_stream();

	CK(cuMemsetD8(p, 0, 500));
	tk_sync();
	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_GLOBAL));
	tk_flip_on(stream, p, 0, 500);
	CK(cuStreamEndCapture(stream, &child));
	CK(cuGraphCreate(&graph, 0));
	CK(cuGraphAddChildGraphNode(&node, graph, NULL, 0, child));
	CK(cuGraphInstantiate(&exec, graph, 0));
	CK(cuGraphLaunch(exec, stream));
	CK(cuStreamSynchronize(stream));
	printf("graph: sum %u\n", sum_of(p, 500));
	CK(cuGraphExecDestroy(exec));
	CK(cuGraphDestroy(graph));
	CK(cuGraphDestroy(child));
	CK(cuStreamDestroy(stream));
	CK(cuMemFree(p));
}

static void names(void)
{
	CUfunction functions[64];
	CUkernel kernels[64];
	CUlibrary library;
	unsigned count;

	CK(cuModuleGetFunctionCount(&count, tk_module));
	CK(cuModuleEnumerateFunctions(functions, count < 64 ? count : 64, tk_module));
	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernelCount(&count, library));
	CK(cuLibraryEnumerateKernels(kernels, count < 64 ? count : 64, library));
	printf("kernels: %s\n", count ? "some" : "none");
	CK(cuLibraryUnload(library));
}

/* A second context, and a free of its buffer while another one is current. */
static void contexts(void)
{
	CUcontext mine;
	CUdeviceptr p, q;

	CK(cuCtxCreate(&mine, NULL, 0, tk_device));
	p = make_buffer(700);
	q = make_buffer(700);
	CK(cuMemsetD8(p, 5, 700));
	printf("second context: sum %u\n", sum_of(p, 700));
	CK(cuCtxPopCurrent(&mine));
	CK(cuMemFree(p));
	CK(cuCtxDestroy(mine));
	(void)q;
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuDevicePrimaryCtxRelease(tk_device));
}

/* Refused natively too: GMOD asks the driver why. */
static void refusals(void)
{
	CUdeviceptr p = make_buffer(100);
	char host[8];

	printf("copy from nowhere: %s\n", tk_error_name(cuMemcpyDtoH(host, 64, 8)));
	CK(cuMemFree(p));
}

int main(void)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	tk_start();
	device_memory();
	free_memory();
	other_memory();
	graphs();
	names();
	contexts();
	refusals();
	/* One stays, so that the last look has something to look at. */
	make_buffer(900);
	tk_flip(make_buffer(1001), 0, 1001);
	tk_sync();
	puts("done");
}
