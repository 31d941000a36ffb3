/*
 * A program that goes on for days: threads that come and go, 64 at a time, with streams, events, modules, contexts,
 * graphs, pools and processes of their own. Now and then a kernel writes one byte past the end of a buffer; that
 * buffer's size, which no other has, and what the thread was at are a line of the file `planted`. When all threads are
 * gone for a moment, nothing of theirs may be left of the process: memory, descriptors, mappings.
 *
 *   soak SECONDS SEED alone|rotated|stalled
 *
 *   alone: nothing is planted. rotated: the file report.log is renamed every now and then. stalled: reports go to a
 *   pipe that nobody reads for a while, so that a child, which waits for it only so long, plants nothing.
 */
#include "make_buffer.h"
#include "proc.h"
#include "process.h"
#include <fcntl.h>
#include <malloc.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { AT_ONCE = 64, CHORES = 6, NAP_MS = 200, PLANT_EVERY = 100, CONTEXTS = 4, CHILDREN = 2, WAYS = 1024 };
enum { WARM_S = 60, SAMPLES = 1000, FEW = 3, GROWN = 4 /* the exit status then */ };

static const char *self, *mode;
static int planted_file;
static atomic_int alive, contexts, children;
static atomic_uint planted, done[CHORES], threads;
static __thread const char *busy_with;

/* ---- buffers ---- */

enum kind { SMALL, PINNED, MANAGED, LARGE };

struct buffer {
	CUdeviceptr at;
	size_t size;
	enum kind kind;
	bool overrun; /* the next flip is to go too far */
};

static void allocate(struct buffer *b)
{
	if (b->kind == PINNED)
		b->at = (CUdeviceptr)(uintptr_t)make_pinned(b->size);
	else
		b->at = (b->kind == MANAGED ? make_managed : make_buffer)(b->size);
}

/* Of one call stack only so many findings are shown. */
static void take_way(struct buffer *b, unsigned way);

static __attribute__((noinline)) void left(struct buffer *b, unsigned way)
{
	take_way(b, way);
	__asm__ volatile("nop");
}

static __attribute__((noinline)) void right(struct buffer *b, unsigned way)
{
	take_way(b, way);
	__asm__ volatile("nop; nop");
}

static void take_way(struct buffer *b, unsigned way)
{
	if (way > 1)
		(way % 2 ? left : right)(b, way / 2);
	else
		allocate(b);
}

static size_t plant(size_t at_least)
{
	unsigned n = atomic_fetch_add(&planted, 1);
	size_t size = at_least + 4 * n;

	dprintf(planted_file, "%zu %s\n", size, busy_with);
	return size;
}

/* Sizes of those that are overrun are multiples of 4, of others not. */
static struct buffer make(uint64_t *seed, bool may_plant)
{
	struct buffer b = {.kind = tk_random(seed) % 8};
	size_t at_least = 4096;

	if (b.kind > LARGE)
		b.kind = SMALL;
	if (b.kind == LARGE)
		at_least = 2 << 20;
	b.overrun = may_plant && strcmp(mode, "alone") && tk_random(seed) % PLANT_EVERY == 0;
	b.size = b.overrun ? plant(at_least) : at_least + tk_random(seed) % 2000 * 4 + 2;
	take_way(&b, WAYS + tk_random(seed) % WAYS);
	return b;
}

static void flip(const struct buffer *b, CUmodule module, CUstream stream)
{
	long long off = (long long)b->size - 64, count = 64 + b->overrun;
	CUdeviceptr at = b->at;

	tk_launch(tk_kernel_of(module, "k_flip"), 1, 96, stream, TK_ARGS(&at, &off, &count));
}

static void drop(const struct buffer *b)
{
	if (b->kind == PINNED)
		CK(cuMemFreeHost((void *)(uintptr_t)b->at));
	else
		CK(cuMemFree(b->at));
}

static void nap(uint64_t *seed)
{
	tk_sleep_ms((int)(tk_random(seed) % NAP_MS));
}

/* ---- what threads do ---- */

static void use_events(uint64_t *seed)
{
	struct buffer b = make(seed, true);
	CUstream stream = tk_stream();
	CUevent event;

	flip(&b, tk_module, CU_STREAM_PER_THREAD);
	CK(cuEventCreate(&event, CU_EVENT_DISABLE_TIMING));
	CK(cuEventRecord(event, CU_STREAM_PER_THREAD));
	CK(cuStreamWaitEvent(stream, event, 0));
	CK(cuMemsetD8Async(b.at, 1, b.size, stream));
	CK(cuEventRecord(event, stream));
	CK(cuEventSynchronize(event));
	CK(cuEventDestroy(event));
	CK(cuStreamDestroy(stream));
	drop(&b);
}

static void use_buffers(uint64_t *seed)
{
	struct buffer b[8];
	size_t count = 1 + tk_random(seed) % 8;
	CUstream stream = tk_stream();
	CUdeviceptr p;

	for (size_t i = 0; i < count; i++) {
		b[i] = make(seed, true);
		flip(&b[i], tk_module, stream);
	}
	CK(cuMemAllocAsync(&p, 1000, stream));
	CK(cuMemFreeAsync(p, stream));
	nap(seed);
	for (size_t i = 0; i < count; i++)
		drop(&b[i]);
	CK(cuStreamDestroy(stream));
}

static void use_module(uint64_t *seed)
{
	struct buffer b = make(seed, true);
	CUmodule module = tk_load_kernels();
	CUstream stream = tk_stream();

	flip(&b, module, stream);
	CK(cuStreamSynchronize(stream));
	CK(cuModuleUnload(module));
	nap(seed);
	CK(cuStreamDestroy(stream));
	drop(&b);
}

/* Some captures are given up. */
static void use_graph(uint64_t *seed)
{
	bool dropped = tk_random(seed) % 4 == 0;
	struct buffer b = make(seed, !dropped);
	CUstream stream = tk_stream();
	CUgraph graph;

	CK(cuStreamBeginCapture(stream, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL));
	CK(cuMemsetD8Async(b.at, 1, b.size, stream));
	flip(&b, tk_module, stream);
	if (!dropped) {
		CK(cuStreamEndCapture(stream, &graph));
		tk_run_graph(graph, stream, 1);
	}
	CK(cuStreamDestroy(stream));
	nap(seed);
	drop(&b);
}

/* true: there is room for one more, until leave(). */
static bool enter(atomic_int *count, int most)
{
	if (atomic_fetch_add(count, 1) < most)
		return true;
	atomic_fetch_sub(count, 1);
	return false;
}

static void leave(atomic_int *count)
{
	atomic_fetch_sub(count, 1);
}

/* It ends with a buffer and a stream in it. */
static void use_context(uint64_t *seed)
{
	struct buffer kept, freed;
	CUmodule module;
	CUcontext ctx;

	if (!enter(&contexts, CONTEXTS))
		return;
	CK(cuCtxCreate(&ctx, NULL, 0, tk_device));
	module = tk_load_kernels();
	kept = make(seed, true);
	freed = make(seed, true);
	flip(&kept, module, CU_STREAM_PER_THREAD);
	flip(&freed, module, tk_stream());
	nap(seed);
	drop(&freed);
	CK(cuCtxDestroy(ctx));
	leave(&contexts);
}

/* In the child there is no CUDA; or it becomes this program anew. */
static void use_process(uint64_t *seed)
{
	bool again = tk_random(seed) % 4 == 0, overruns = again && !strcmp(mode, "rotated") && tk_random(seed) % 4 == 0;
	char size[32];
	CUdeviceptr p;
	pid_t child;

	if (!enter(&children, CHILDREN))
		return;
	snprintf(size, sizeof(size), "%zu", overruns ? plant(4096) : 0);
	child = fork();
	REQUIRE(child >= 0);
	if (child == 0) {
		if (again)
			execl(self, self, "child", size, NULL);
		_exit(cuMemAlloc(&p, 1000) == CUDA_SUCCESS);
	}
	REQUIRE(wait_for_child(child) == 0);
	leave(&children);
}

static int be_child(const char *size)
{
	struct buffer b = {.size = strtoul(size, NULL, 10), .kind = SMALL};

	tk_start();
	b.overrun = b.size;
	b.size += !b.size * 4098;
	allocate(&b);
	flip(&b, tk_module, NULL);
	CK(cuStreamSynchronize(NULL));
	if (getpid() % 2)
		_exit(0);
	return 0;
}

static void *come_and_go(void *number)
{
	static const struct {
		const char *name;
		void (*run)(uint64_t *seed);
	} chore[CHORES] = {{"events", use_events}, {"buffers", use_buffers}, {"module", use_module},
			   {"graph", use_graph},   {"context", use_context}, {"process", use_process}};
	uint64_t seed = (uintptr_t)number;
	unsigned left_to_do = 1 + tk_random(&seed) % 5;

	CK(cuCtxSetCurrent(tk_context));
	while (left_to_do-- > 0) {
		unsigned c = tk_random(&seed) % CHORES;

		busy_with = chore[c].name;
		chore[c].run(&seed);
		atomic_fetch_add(&done[c], 1);
		nap(&seed);
	}
	atomic_fetch_sub(&alive, 1);
	return NULL;
}

/* ---- what is left of them ---- */

enum { RSS, DATA, FDS, MAPS, THREADS, MEASURES };

/*
 * What may be more, in KiB of the first two. Resident is also what fills slowly of memory that was taken at once: GMOD
 * keeps what each handle has stood for (64 MiB at most, monitor/launches/history.h), and handles come at new addresses.
 * Mappings of buffers that GMOD has cached are one, or several, as they happen to lie.
 */
static const struct {
	const char *name;
	long long allowed;
} measure[MEASURES] = {{"VmRSS", 16384}, {"VmData", 2048}, {"descriptors", 0}, {"mappings", 64}, {"threads", 0}};

static long long sample[SAMPLES][MEASURES];
static int samples;

static void *do_nothing(void *unused)
{
	return unused;
}

static void take_sample(void)
{
	long long *s = sample[samples++ % SAMPLES];

	while (atomic_load(&alive))
		tk_sleep_ms(1);
	tk_sleep_ms(300); /* for the last of them to be gone, and the monitor to have seen it */
	/* The C library keeps the stack of a detached thread until another thread's is given back. */
	tk_in_a_thread(do_nothing, NULL);
	malloc_trim(0);
	s[RSS] = proc_number("/proc/self/status", "VmRSS");
	s[DATA] = proc_number("/proc/self/status", "VmData");
	s[THREADS] = proc_number("/proc/self/status", "Threads");
	s[FDS] = proc_entries("/proc/self/fd");
	s[MAPS] = proc_lines("/proc/self/maps");
	for (int m = 0; m < MEASURES; m++)
		printf("%s %lld%s", measure[m].name, s[m], m + 1 < MEASURES ? ", " : "");
	printf(", done %u (%u planted)\n", atomic_load(&threads), atomic_load(&planted));
	fflush(stdout);
}

/* The least of the last samples against the greatest of the first ones: what grows, grows past that. */
static void compare_samples(int first)
{
	int few = (samples - first) / 3 < FEW ? (samples - first) / 3 : FEW;

	REQUIRE(samples <= SAMPLES);
	for (int m = 0; m < MEASURES; m++) {
		long long before = sample[first][m], after = sample[samples - 1][m];

		for (int i = 1; i < few; i++) {
			before = before > sample[first + i][m] ? before : sample[first + i][m];
			after = after < sample[samples - 1 - i][m] ? after : sample[samples - 1 - i][m];
		}
		if (after - before > measure[m].allowed) {
			fprintf(stderr, "%s grew from %lld to %lld\n", measure[m].name, before, after);
			exit(GROWN);
		}
	}
}

static void rotate(uint64_t *seed)
{
	static int last;
	char name[32];

	if (strcmp(mode, "rotated") || tk_random(seed) % 500)
		return;
	snprintf(name, sizeof(name), "report.log.%d", ++last);
	rename("report.log", name);
}

static void begin_thread(uint64_t *seed)
{
	pthread_t thread;

	atomic_fetch_add(&alive, 1);
	atomic_fetch_add(&threads, 1);
	REQUIRE(pthread_create(&thread, NULL, come_and_go, (void *)(uintptr_t)tk_random(seed)) == 0);
	pthread_detach(thread);
}

static void work_until(double end, uint64_t *seed)
{
	while (tk_ms() < end) {
		while (atomic_load(&alive) < AT_ONCE)
			begin_thread(seed);
		tk_sleep_ms(1);
		rotate(seed);
	}
}

int main(int argc, char **argv)
{
	double began = tk_ms(), seconds, period, warm;
	uint64_t seed;
	int first = -1;

	self = argv[0];
	if (argc == 3)
		return be_child(argv[2]);
	REQUIRE(argc == 4);
	seconds = atof(argv[1]);
	seed = strtoull(argv[2], NULL, 10);
	mode = argv[3];
	planted_file = open("planted", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	REQUIRE(planted_file >= 0);
	tk_start();
	warm = seconds / 2 < WARM_S ? seconds / 2 : WARM_S;
	period = seconds < 120 ? seconds / 12 : 10;
	/* Where that takes its time, longer: there has to be something to compare. */
	while (tk_ms() < began + seconds * 1e3 || first < 0 || samples - first < FEW) {
		work_until(tk_ms() + period * 1e3, &seed);
		take_sample();
		if (first < 0 && tk_ms() > began + warm * 1e3)
			first = samples - 1;
	}
	for (int c = 0; c < CHORES; c++)
		printf("%u%s", atomic_load(&done[c]), c + 1 < CHORES ? ", " : " chores\n");
	compare_samples(first);
	return 0;
}
