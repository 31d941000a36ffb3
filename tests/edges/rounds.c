/*
 * A program that goes on for long: in each round a context begins, all kinds of things are used in it, and it ends with
 * some of them left in it. What is of no context is given back. Says what of the process has grown with the rounds.
 *
 *   rounds N [LEFT]   N rounds, in each of which LEFT small buffers are left
 *   rounds large N    in each of 3 rounds N buffers of 2 MiB are left, and nothing else is done
 *   rounds use [COMMAND ARGUMENT...]   what a round uses, in a context that goes on living, and then exec
 *   rounds keep       one thing of each kind is made, and none given back
 */
#include "inkernel.h"
#include "make_buffer.h"
#include "proc.h"
#include "process.h"
#include <malloc.h>

enum { WARM = 3 /* rounds */, SMALL = 1000, LARGE = 2 << 20, GRAPHS = 5 };

/* ---- what is used ---- */

static void touch(CUdeviceptr p)
{
	tk_flip_on(CU_STREAM_PER_THREAD, p, 0, 1);
}

static void use_memory(void)
{
	static const size_t sizes[] = {1, SMALL, 3000000, LARGE};
	static char own[4096];
	CUstream stream = tk_stream();
	char *pinned = make_pinned(SMALL);
	CUdeviceptr p[5], pool;

	for (int i = 0; i < 4; i++)
		touch(p[i] = make_buffer(sizes[i]));
	touch(p[4] = make_managed(SMALL));
	touch((CUdeviceptr)(uintptr_t)pinned);
	CK(cuMemAllocAsync(&pool, SMALL, stream));
	CK(cuMemFreeAsync(pool, stream));
	CK(cuMemHostRegister(own, sizeof(own), 0));
	CK(cuMemHostUnregister(own));
	for (int i = 0; i < 5; i++)
		CK(cuMemFree(p[i]));
	CK(cuMemFreeHost(pinned));
	CK(cuStreamDestroy(stream));
}

static CUgraph captured(CUdeviceptr p, CUstream stream)
{
	CUgraph graph;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	tk_flip_on(stream, p, 0, SMALL);
	CK(cuStreamEndCapture(stream, &graph));
	return graph;
}

static void use_work(void)
{
	CUdeviceptr p = make_buffer(SMALL);
	CUstream stream = tk_stream();
	CUlibrary library;
	CUevent event;

	for (int i = 0; i < GRAPHS; i++)
		tk_run_graph(captured(p, stream), stream, 2);
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuEventRecord(event, stream));
	CK(cuEventSynchronize(event));
	CK(cuEventDestroy(event));
	CK(cuModuleUnload(tk_load_kernels()));
	CK(cuLibraryLoadFromFile(&library, ik_file(), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryUnload(library));
	CK(cuStreamDestroy(stream));
	CK(cuMemFree(p));
}

static void *in_a_thread(void *context)
{
	CUdeviceptr p;

	CK(cuCtxSetCurrent(context));
	touch(p = make_buffer(SMALL));
	CK(cuStreamSynchronize(CU_STREAM_PER_THREAD));
	CK(cuMemFree(p));
	return NULL;
}

/* The child has no CUDA, and there is no such program. */
static void use_processes(void)
{
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	REQUIRE(wait_for_child(child) == 0);
	REQUIRE(execl("./none", "none", NULL) == -1);
}

static void leave(int small)
{
	CUevent event;

	for (int i = 0; i < small; i++)
		make_buffer(SMALL);
	make_buffer(LARGE);
	make_managed(SMALL);
	make_pinned(SMALL);
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	tk_flip_on(tk_stream(), make_buffer(SMALL + 1), 0, SMALL);
}

/* ---- contexts ---- */

/* A context of its own, or the primary one, which is released or reset. */
enum kind { MADE, RELEASED, RESET, KINDS };

static CUcontext begin(enum kind kind)
{
	CUcontext context;

	if (kind == MADE)
		return tk_new_context();
	CK(cuDevicePrimaryCtxRetain(&context, tk_device));
	CK(cuCtxSetCurrent(context));
	tk_module = tk_load_kernels();
	return context;
}

static void end(enum kind kind, CUcontext context)
{
	if (kind == MADE)
		CK(cuCtxDestroy(context));
	if (kind == RESET)
		CK(cuDevicePrimaryCtxReset(tk_device));
	if (kind != MADE)
		CK(cuDevicePrimaryCtxRelease(tk_device));
	CK(cuCtxSetCurrent(NULL));
}

static CUcontext use_all(enum kind kind)
{
	CUcontext context = begin(kind);

	use_memory();
	use_work();
	tk_in_a_thread(in_a_thread, context);
	use_processes();
	CK(cuModuleLoad(&ik_module, ik_file()));
	CK(cuMemFree(ik_alloc(10, 40)));
	return context;
}

static void one_round(int number, int left)
{
	enum kind kind = (enum kind)(number % KINDS);
	CUcontext context = use_all(kind);

	leave(left);
	end(kind, context);
}

static void use_once(char **command)
{
	use_all(RELEASED);
	if (!*command)
		return;
	execvp(command[0], command);
	REQUIRE(!"reached");
}

/* ---- what grows ---- */

enum { DESCRIPTORS, MAPPINGS, MEMORY, MEASURES };

/* When the driver's threads have gone, whose stacks count: this one stays, and two of GMOD's. */
static void measure(long long out[MEASURES])
{
	for (int i = 0; i < 200 && proc_number("/proc/self/status", "Threads") > 3; i++)
		tk_sleep_ms(10);
	malloc_trim(0);
	out[DESCRIPTORS] = proc_entries("/proc/self/fd");
	out[MAPPINGS] = proc_lines("/proc/self/maps");
	out[MEMORY] = proc_number("/proc/self/status", "VmData");
}

static void go_round(int rounds, int left)
{
	/* What may be more, in KiB of the last: threads that have ended leave a stack. */
	static const long long allowed[MEASURES] = {0, 8, 768};
	static const char *const name[MEASURES] = {"descriptors", "mappings", "memory"};
	long long before[MEASURES], after[MEASURES];

	for (int i = 0; i < rounds; i++) {
		if (i == WARM)
			measure(before);
		one_round(i, left);
	}
	measure(after);
	for (int m = 0; rounds > WARM && m < MEASURES; m++)
		if (after[m] - before[m] > allowed[m])
			printf("%s: %lld, and then %lld\n", name[m], before[m], after[m]);
}

static void go_round_large(int count)
{
	for (int i = 0; i < 3; i++) {
		CUcontext context = begin(MADE);

		for (int k = 0; k < count; k++)
			make_buffer(LARGE);
		end(MADE, context);
	}
}

static void keep_all(void)
{
	CUmemAllocationProp on_device = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
					 .location = {CU_MEM_LOCATION_TYPE_DEVICE, tk_device}};
	CUmemGenericAllocationHandle memory;
	static char own[4096];
	CUlibrary library;
	CUstream stream;
	CUdeviceptr p;
	CUevent event;

	begin(RELEASED);
	stream = tk_stream();
	captured(make_buffer(SMALL), stream);
	make_managed(SMALL);
	make_pinned(SMALL);
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuLibraryLoadFromFile(&library, ik_file(), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuMemAllocAsync(&p, SMALL, stream));
	CK(cuMemHostRegister(own, sizeof(own), 0));
	CK(cuMemAddressReserve(&p, LARGE, 0, 0, 0));
	CK(cuMemCreate(&memory, LARGE, &on_device, 0));
	CK(cuMemMap(p, LARGE, 0, memory, 0));
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";

	tk_init();
	if (!strcmp(what, "keep"))
		keep_all();
	else if (!strcmp(what, "use"))
		use_once(argv + 2);
	else if (!strcmp(what, "large"))
		go_round_large(atoi(argv[2]));
	else
		go_round(atoi(what), argc > 2 ? atoi(argv[2]) : 0);
	puts("done");
}
