/*
 * One program over the CUDA runtime, in plain C, which is built for each runtime that older.py is given.
 *
 *	corpus		lists the cases: name, what GMOD finds in it (- is nothing), GMOD's options that it wants
 *	corpus CASE	runs one
 *
 * A case has the bug that its name says, or none, and prints what the runtime answers: the same each time. Exit status:
 * the case's own, 2 no such case, 3 a call failed that has to succeed.
 *
 * Where the name of a case ends in _by_runtime the runtime launches its kernels, else the driver does (launch.h).
 */
#include <pthread.h>
#include <spawn.h>
#include <string.h>
#include <sys/wait.h>

#include "launch.h"

/* The case goes on, and prints the answer. */
#define SAY(call) printf("%s: %s\n", #call, cudaGetErrorName(call))
#define ARGUMENTS(...) ((void *[]){__VA_ARGS__})

enum { SIZE = 4000, LARGE = 3000000 };

static launch_fn *launch;

static void flip_on(cudaStream_t stream, void *p, long long off, long long count)
{
	launch(K_FLIP, (unsigned)((count + 127) / 128), stream, ARGUMENTS(&p, &off, &count));
}

static void flip(void *p, long long off, long long count)
{
	flip_on(NULL, p, off, count);
}

static void start(void)
{
	RT(cudaFree(NULL));
	if (launch == by_driver)
		load_kernels();
}

/* ---- what the cases are made of ---- */

static void *make(size_t size)
{
	void *p;

	RT(cudaMalloc(&p, size));
	RT(cudaMemset(p, 0, size));
	RT(cudaStreamSynchronize(NULL));
	return p;
}

static cudaStream_t make_stream(void)
{
	cudaStream_t stream;

	RT(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	return stream;
}

static unsigned sum(const unsigned char *bytes, size_t size)
{
	unsigned all = 0;

	for (size_t i = 0; i < size; i++)
		all = all * 31 + bytes[i];
	return all;
}

static void say_bytes(const void *p, size_t size)
{
	unsigned char *host = malloc(size);

	RT(cudaMemcpy(host, p, size, cudaMemcpyDeviceToHost));
	printf("bytes: %08x\n", sum(host, size));
	free(host);
}

/* A kernel flips the buffer's first bytes, as it may, and four that begin at off. */
static void overrun(void *p, long long off)
{
	flip(p, 0, 100);
	flip(p, off, 4);
	SAY(cudaDeviceSynchronize());
}

static cudaGraph_t captured(cudaStream_t stream, void *p, long long off, long long count)
{
	cudaGraph_t graph;

	RT(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
	flip_on(stream, p, off, count);
	RT(cudaStreamEndCapture(stream, &graph));
	return graph;
}

static void run_graph(cudaGraph_t graph, cudaStream_t stream)
{
	cudaGraphExec_t exec;

	RT(cudaGraphInstantiateWithFlags(&exec, graph, 0));
	SAY(cudaGraphLaunch(exec, stream));
	SAY(cudaStreamSynchronize(stream));
	RT(cudaGraphExecDestroy(exec));
	RT(cudaGraphDestroy(graph));
}

/* ---- writes behind and before ---- */

static int overflow(void)
{
	void *p = make(SIZE);

	overrun(p, SIZE);
	say_bytes(p, SIZE);
	SAY(cudaFree(p));
	return 0;
}

/* Of 2 MiB and more. */
static int large(void)
{
	void *p = make(LARGE);

	overrun(p, LARGE);
	say_bytes(p, LARGE);
	SAY(cudaFree(p));
	return 0;
}

/* Before the second of two. */
static int underflow(void)
{
	void *first = make(SIZE), *second = make(SIZE);

	overrun(second, -4);
	say_bytes(first, SIZE);
	SAY(cudaFree(second));
	SAY(cudaFree(first));
	return 0;
}

static int pool(void)
{
	cudaStream_t stream = make_stream();
	void *p;

	RT(cudaMallocAsync(&p, 1000, stream));
	RT(cudaMemsetAsync(p, 0, 1000, stream));
	flip_on(stream, p, 999, 5);
	SAY(cudaFreeAsync(p, stream));
	SAY(cudaStreamSynchronize(stream));
	SAY(cudaStreamDestroy(stream));
	return 0;
}

static int capture(void)
{
	void *p = make(SIZE);
	cudaStream_t stream = make_stream();

	run_graph(captured(stream, p, SIZE - 4, 8), stream);
	say_bytes(p, SIZE);
	SAY(cudaStreamDestroy(stream));
	SAY(cudaFree(p));
	return 0;
}

static int pinned(void)
{
	void *p;

	RT(cudaMallocHost(&p, SIZE));
	memset(p, 0, SIZE);
	overrun(p, SIZE);
	printf("bytes: %08x\n", sum(p, SIZE));
	SAY(cudaFreeHost(p));
	return 0;
}

static int managed(void)
{
	void *p;

	RT(cudaMallocManaged(&p, SIZE, cudaMemAttachGlobal));
	RT(cudaMemset(p, 0, SIZE));
	overrun(p, SIZE);
	printf("bytes: %08x\n", sum(p, SIZE));
	SAY(cudaFree(p));
	return 0;
}

/* Never freed: GMOD's last look has to come before the runtime's own end. */
static int left(void)
{
	flip(make(SIZE), SIZE, 4);
	while (cudaStreamQuery(NULL) == cudaErrorNotReady)
		;
	SAY(cudaGetLastError());
	return 0;
}

/* ---- calls that are wrong ---- */

static int double_free(void)
{
	void *p = make(SIZE);

	SAY(cudaFree(p));
	SAY(cudaFree(p));
	SAY(cudaGetLastError());
	return 0;
}

static int invalid_free(void)
{
	char *p = make(SIZE);

	SAY(cudaFree(p + 512));
	say_bytes(p, SIZE);
	SAY(cudaFree(p));
	return 0;
}

static int copy(void)
{
	static char host[2 * SIZE];
	void *p = make(SIZE);

	SAY(cudaMemcpy(p, host, SIZE + 1, cudaMemcpyHostToDevice));
	say_bytes(p, SIZE);
	SAY(cudaFree(p));
	return 0;
}

static int leak(void)
{
	void *freed = make(3000), *kept = make(SIZE);

	flip(kept, 0, SIZE);
	say_bytes(kept, SIZE);
	SAY(cudaFree(freed));
	return 0;
}

/* A program that tells of the error, and leaves with a status that says so. */
static int sticky(void)
{
	void *p = make(SIZE), *wild = (void *)16;
	int value = 1;

	launch(K_ILLEGAL, 1, NULL, ARGUMENTS(&wild, &value));
	SAY(cudaDeviceSynchronize());
	SAY(cudaGetLastError());
	SAY(cudaFree(p));
	return 1;
}

/* ---- with another process ---- */

static void write_hex(const cudaIpcMemHandle_t *handle, char *out)
{
	for (size_t i = 0; i < sizeof(*handle); i++)
		sprintf(out + 2 * i, "%02x", (unsigned char)handle->reserved[i]);
}

static void read_hex(const char *in, cudaIpcMemHandle_t *handle)
{
	for (size_t i = 0; i < sizeof(*handle); i++)
		handle->reserved[i] = (char)strtol((char[]){in[2 * i], in[2 * i + 1], 0}, NULL, 16);
}

/* corpus CASE OFF HANDLE: the other process, which flips eight bytes of the buffer. */
static int other(const char *off, const char *hex)
{
	cudaIpcMemHandle_t handle;
	void *p;

	read_hex(hex, &handle);
	RT(cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess));
	flip(p, atoi(off), 8);
	SAY(cudaDeviceSynchronize());
	SAY(cudaIpcCloseMemHandle(p));
	return 0;
}

static int hand_over(const char *off)
{
	extern char **environ;
	char hex[2 * sizeof(cudaIpcMemHandle_t) + 1], *arguments[] = {"corpus", "ipc", (char *)off, hex, NULL};
	void *p = make(SIZE);
	cudaIpcMemHandle_t handle;
	cudaError_t r;
	pid_t child;
	int status;

	flip(p, 0, 100);
	RT(cudaDeviceSynchronize());
	r = cudaIpcGetMemHandle(&handle, p);
	printf("exported: %s\n", cudaGetErrorName(r));
	if (r)
		return 4;
	write_hex(&handle, hex);
	fflush(stdout);
	RT(posix_spawn(&child, "/proc/self/exe", NULL, NULL, arguments, environ));
	must_be(child, waitpid(child, &status, 0), "waitpid", __FILE__, __LINE__);
	printf("the other's status: %d\n", status);
	say_bytes(p, SIZE);
	SAY(cudaFree(p));
	return 0;
}

static int ipc(void)
{
	return hand_over("3992");
}

static int ipc_overflow(void)
{
	return hand_over("3996");
}

/* ---- without a bug ---- */

static void CUDART_CB count_up(void *count)
{
	++*(int *)count;
}

static int type_of(const void *p)
{
	struct cudaPointerAttributes attributes;

	RT(cudaPointerGetAttributes(&attributes, p));
	return (int)attributes.type;
}

/* An everyday program: streams, events, a graph, all kinds of memory. */
static void round_trip(size_t n)
{
	cudaStream_t stream = make_stream();
	cudaEvent_t event;
	void *device = make(n), *host, *shared, *pooled, *pitched;
	size_t pitch;
	int calls = 0;

	RT(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
	RT(cudaMallocHost(&host, n));
	RT(cudaMallocManaged(&shared, n, cudaMemAttachGlobal));
	RT(cudaMallocAsync(&pooled, n, stream));
	RT(cudaMallocPitch(&pitched, &pitch, n, 3));
	RT(cudaMemset2DAsync(pitched, pitch, 7, n, 3, stream));
	run_graph(captured(stream, device, 0, (long long)n), stream);
	RT(cudaMemcpyAsync(pooled, device, n, cudaMemcpyDeviceToDevice, stream));
	flip_on(stream, pooled, (long long)n - 1, 1);
	RT(cudaMemcpyAsync(shared, pooled, n, cudaMemcpyDefault, stream));
	RT(cudaMemcpyAsync(host, (char *)pitched + 2 * pitch, n, cudaMemcpyDefault, stream));
	RT(cudaFreeAsync(pooled, stream));
	RT(cudaLaunchHostFunc(stream, count_up, &calls));
	RT(cudaEventRecord(event, stream));
	RT(cudaEventSynchronize(event));
	RT(cudaDeviceSynchronize());
	printf("%zu: %08x %08x, calls %d, types %d %d %d %d\n", n, sum(shared, n), sum(host, n), calls, type_of(device),
	       type_of(host), type_of(shared), type_of(&calls));
	RT(cudaFree(pitched));
	RT(cudaFree(shared));
	RT(cudaFreeHost(host));
	RT(cudaFree(device));
	RT(cudaEventDestroy(event));
	RT(cudaStreamDestroy(stream));
}

static int healthy(void)
{
	for (size_t n = 1; n < 4000000; n = n * 5 + 3)
		round_trip(n);
	return 0;
}

static int reset(void)
{
	round_trip(SIZE);
	SAY(cudaDeviceReset());
	start();
	round_trip(SIZE);
	SAY(cudaDeviceReset());
	return 0;
}

/* Each on the default stream of its own. */
static void *in_a_thread(void *number)
{
	long long size = 1000 + 100 * (long long)number;
	unsigned char *host;
	unsigned all = 0;

	RT(cudaMallocHost((void **)&host, size));
	for (int i = 0; i < 50; i++) {
		void *p = make(size);

		flip_on(cudaStreamPerThread, p, 0, size - i);
		RT(cudaMemcpyAsync(host, p, size, cudaMemcpyDeviceToHost, cudaStreamPerThread));
		RT(cudaStreamSynchronize(cudaStreamPerThread));
		RT(cudaFree(p));
		all = all * 31 + sum(host, size);
	}
	RT(cudaFreeHost(host));
	return (void *)(uintptr_t)all;
}

static int threads(void)
{
	pthread_t thread[4];
	void *all;

	flip(make(SIZE), 0, SIZE);
	for (size_t i = 0; i < 4; i++)
		RT(pthread_create(&thread[i], NULL, in_a_thread, (void *)i));
	for (size_t i = 0; i < 4; i++) {
		RT(pthread_join(thread[i], &all));
		printf("thread %zu: %08x\n", i, (unsigned)(uintptr_t)all);
	}
	return 0;
}

static const struct {
	const char *name;
	int (*run)(void);
	launch_fn *launch;
	const char *finds, *options;
} cases[] = {
    {"overflow", overflow, by_driver, "heap-buffer-overflow", ""},
    {"overflow_by_runtime", overflow, by_runtime, "heap-buffer-overflow", ""},
    {"large", large, by_driver, "heap-buffer-overflow", ""},
    {"underflow", underflow, by_driver, "heap-buffer-underflow", ""},
    {"pool", pool, by_driver, "heap-buffer-overflow", "max_overhead=100"},
    {"capture", capture, by_driver, "heap-buffer-overflow", ""},
    {"capture_by_runtime", capture, by_runtime, "heap-buffer-overflow", ""},
    {"pinned", pinned, by_driver, "heap-buffer-overflow", ""},
    {"managed", managed, by_driver, "heap-buffer-overflow", ""},
    {"left", left, by_driver, "heap-buffer-overflow", ""},
    {"left_by_runtime", left, by_runtime, "heap-buffer-overflow", ""},
    {"double_free", double_free, by_driver, "double-free", ""},
    {"invalid_free", invalid_free, by_driver, "invalid-free", ""},
    {"copy", copy, by_driver, "api-out-of-bounds", ""},
    {"leak", leak, by_driver, "leak", "leak_check=1"},
    {"sticky", sticky, by_driver, "post-mortem", ""},
    {"sticky_by_runtime", sticky, by_runtime, "post-mortem", ""},
    {"ipc", ipc, by_driver, "-", ""},
    {"ipc_overflow", ipc_overflow, by_driver, "heap-buffer-overflow", ""},
    {"healthy", healthy, by_driver, "-", ""},
    {"healthy_by_runtime", healthy, by_runtime, "-", ""},
    {"reset", reset, by_driver, "-", ""},
    {"reset_by_runtime", reset, by_runtime, "-", ""},
    {"threads", threads, by_driver, "-", ""},
    {"threads_by_runtime", threads, by_runtime, "-", ""},
};

enum { CASES = sizeof(cases) / sizeof(*cases) };

static void list(void)
{
	for (int i = 0; i < CASES; i++)
		printf("%s %s %s\n", cases[i].name, cases[i].finds, cases[i].options);
}

int main(int argc, char **argv)
{
	if (argc == 1) {
		list();
		return 0;
	}
	for (int i = 0; i < CASES; i++) {
		if (strcmp(cases[i].name, argv[1]))
			continue;
		launch = cases[i].launch;
		if (launch == by_runtime)
			register_kernels();
		start();
		return argc == 4 ? other(argv[2], argv[3]) : cases[i].run();
	}
	fprintf(stderr, "corpus: no such case\n");
	return 2;
}
