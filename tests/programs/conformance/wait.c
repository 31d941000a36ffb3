/* Which calls wait for work that is running, told by the time they take beside a kernel of 100 ms. */
#include "calls.h"

#define BUSY_MS 100

/* The kernel must really have started: a launch alone may be put off. */
static void start_kernel(CUstream stream)
{
	tk_spin(stream, BUSY_MS);
	tk_sleep_ms(5);
}

static CUstream stream_for(const struct wait_call *f, const struct scene *s)
{
	CUstream stream = s->at_hand;

	if (f->where == ON_BLOCKING)
		CK(cuStreamCreate(&stream, CU_STREAM_DEFAULT));
	if (f->where == ON_NULL)
		stream = NULL;
	if (f->where == ON_PER_THREAD)
		stream = CU_STREAM_PER_THREAD;
	return stream;
}

/* So that the call can allocate it. */
static void make_room(struct scene *s, enum kind kind)
{
	struct memory *m = kind == DEVICE    ? &s->device
			   : kind == MANAGED ? &s->managed
			   : kind == PINNED  ? &s->pinned
					     : &s->pool;

	if (kind == KINDS)
		return;
	memory_free(m);
	m->at = 0;
}

static void measure(const struct wait_call *f)
{
	static const char *const where[] = {"a kernel on another stream", "a kernel on the null stream",
					    "a kernel on a blocking stream", "a kernel on the per-thread stream"};
	struct scene s;
	CUstream stream;
	double start, took;
	CUresult r;

	scene_open(&s, CU_STREAM_NON_BLOCKING);
	s.module = tk_load_kernels();
	make_room(&s, f->take);
	stream = stream_for(f, &s);
	tk_sync();
	start_kernel(stream);
	start = tk_ms();
	r = f->call(&s);
	took = tk_ms() - start;
	tk_sync();
	fact(r ? code(r) : yes_no(took > BUSY_MS / 2), "%s waits for %s", f->name, where[f->where]);
	if (f->where == ON_BLOCKING)
		CK(cuStreamDestroy(stream));
	scene_close(&s);
}

/* What asking says while it runs. */
static void readiness(void)
{
	CUstream blocking, other;

	CK(cuStreamCreate(&blocking, CU_STREAM_DEFAULT));
	CK(cuStreamCreate(&other, CU_STREAM_NON_BLOCKING));
	start_kernel(blocking);
	fact(code(cuStreamQuery(blocking)), "asking a busy stream");
	fact(code(cuStreamQuery(NULL)), "asking the null stream beside a busy blocking stream");
	fact(code(cuStreamQuery(other)), "asking an idle stream beside it");
	tk_sync();
	start_kernel(other);
	fact(code(cuStreamQuery(NULL)), "asking the null stream beside a busy non-blocking stream");
	tk_sync();
	start_kernel(NULL);
	fact(code(cuStreamQuery(blocking)), "asking a blocking stream beside the busy null stream");
	tk_spin(blocking, 1);
	fact(code(cuStreamQuery(blocking)), "asking it with work that waits for the null stream");
	tk_sync();
	CK(cuStreamDestroy(blocking));
	CK(cuStreamDestroy(other));
}

/* A free in one context while a kernel of another context runs. */
static void other_context(void)
{
	CUcontext other;
	CUdeviceptr p;
	double start;

	CK(cuCtxCreate(&other, NULL, 0, tk_device));
	CK(cuMemAlloc(&p, 1000));
	CK(cuCtxSetCurrent(tk_context));
	start_kernel(NULL);
	CK(cuCtxSetCurrent(other));
	start = tk_ms();
	CK(cuMemFree(p));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuMemFree waits for a kernel of another context");
	CK(cuCtxSetCurrent(tk_context));
	tk_sync();
	CK(cuCtxDestroy(other));
	CK(cuCtxSetCurrent(tk_context));
}

static void destroy_busy_context(void)
{
	CUcontext other;
	double start;

	CK(cuCtxCreate(&other, NULL, 0, tk_device));
	keep_busy(tk_load_kernels(), BUSY_MS);
	start = tk_ms();
	CK(cuCtxDestroy(other));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuCtxDestroy waits for its kernels");
	CK(cuCtxSetCurrent(tk_context));
}

/* One that has a module here, of which no kernel runs. */
static void unload_library(void)
{
	CUlibrary library;
	CUmodule module;
	double start;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetModule(&module, library));
	start_kernel(NULL);
	start = tk_ms();
	CK(cuLibraryUnload(library));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuLibraryUnload waits for a kernel of another module");
	tk_sync();
}

static void load(void)
{
	CUlibrary library;
	CUmodule module;
	double start;

	start_kernel(NULL);
	start = tk_ms();
	module = tk_load_kernels();
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuModuleLoad waits for a kernel");
	tk_sync();
	CK(cuModuleUnload(module));
	start_kernel(NULL);
	start = tk_ms();
	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "cuLibraryLoadFromFile waits for a kernel");
	tk_sync();
	CK(cuLibraryUnload(library));
}

static void *load_here(void *module)
{
	CK(cuCtxSetCurrent(tk_context));
	*(CUmodule *)module = tk_load_kernels();
	return NULL;
}

static void launch_beside_loading(void)
{
	CUstream s = tk_stream();
	CUmodule module;
	pthread_t loader;
	double start;

	start_kernel(NULL);
	loader = tk_begin_thread(load_here, &module);
	tk_sleep_ms(25);
	start = tk_ms();
	tk_spin(s, 0);
	fact(yes_no(tk_ms() - start > BUSY_MS / 2), "a launch waits for cuModuleLoad in another thread, which waits");
	tk_end_thread(loader);
	tk_sync();
	CK(cuModuleUnload(module));
	CK(cuStreamDestroy(s));
}

/* Each kernel is loaded when it is launched for the first time. */
static void launch_first(void)
{
	CUmodule module = tk_load_kernels();
	CUfunction f = tk_kernel_of(module, "k_sum");
	CUdeviceptr out = tk_alloc(8);
	CUstream other = tk_stream(), another = tk_stream();
	long long n = 0;
	double start;

	for (int i = 0; i < 2; i++) {
		start_kernel(another);
		start = tk_ms();
		tk_launch(f, 1, 1, other, TK_ARGS(&out, &out, &n));
		CK(cuStreamSynchronize(other));
		fact(yes_no(tk_ms() - start > BUSY_MS / 2),
		     i ? "a kernel launched again waits for a kernel on another stream"
		       : "a kernel launched for the first time waits for a kernel on another stream");
		tk_sync();
	}
	CK(cuStreamDestroy(other));
	CK(cuStreamDestroy(another));
	CK(cuMemFree(out));
	CK(cuModuleUnload(module));
}

/* All its threads wait for the flag, and more blocks than find room. */
static void fill_device(CUstream stream, volatile int *flag)
{
	CUdeviceptr none = 0;
	long long zero = 0;
	int processors;

	CK(cuDeviceGetAttribute(&processors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, tk_device));
	tk_launch(tk_kernel("k_wait_flip"), 4 * (unsigned)processors, 1024, stream,
		  TK_ARGS(&none, &zero, &zero, &flag));
}

/* What is complete 50 ms after it was asked for, each on a stream of its own. */
static void full_device(void)
{
	static const char *const what[] = {"a kernel", "a copy of 256 bytes", "a fill of 256 bytes", "a fill of 1 MiB"};
	CUdeviceptr p = tk_alloc(1 << 20);
	volatile int *flag = tk_flag();
	char bytes[256] = "";
	CUstream s[5];

	for (int i = 0; i < 5; i++)
		s[i] = tk_stream();
	*flag = 1;
	fill_device(s[4], flag); /* which loads it */
	tk_sync();
	*flag = 0;
	fill_device(s[4], flag);
	tk_sleep_ms(20);
	tk_spin(s[0], 0);
	CK(cuMemcpyHtoDAsync(p, bytes, 256, s[1]));
	CK(cuMemsetD8Async(p, 0, 256, s[2]));
	CK(cuMemsetD8Async(p, 0, 1 << 20, s[3]));
	tk_sleep_ms(50);
	for (int i = 0; i < 4; i++)
		fact(code(cuStreamQuery(s[i])), "beside a kernel that fills the device, %s", what[i]);
	*flag = 1;
	tk_sync();
	for (int i = 0; i < 5; i++)
		CK(cuStreamDestroy(s[i]));
	CK(cuMemFreeHost((void *)flag));
	CK(cuMemFree(p));
}

void wait_facts(void)
{
	tk_spin(NULL, 1); /* loading the kernel is not what is measured */
	tk_sync();
	for (const struct wait_call *c = wait_calls; c->name; c++)
		measure(c);
	readiness();
	other_context();
	destroy_busy_context();
	unload_library();
	load();
	launch_beside_loading();
	launch_first();
	full_device();
}
