/*
 * A program for the patrol, which begins some 20 ms after the first buffer and looks while the device is in use: 300
 * small buffers, and kernels that write within them for a while. Then, by its argument:
 *
 *	quiet		nothing else
 *	overrun		a kernel writes behind one, which has to be found while nobody frees or waits
 *	row		kernels write behind more of them, side by side, than a round can name of these
 *	list, answers	the same, after a kernel has filled the patrol's list, or its answers, with a byte
 *	frees		the same, after large buffers have come and gone
 *	contexts	all of it again and again, in contexts that are destroyed with their buffers
 *	fork		children end meanwhile, as they please
 *	churn N		threads allocate and free N buffers meanwhile, and no memory is lost
 *	unproven	then a kernel that nobody waits for, and nothing for a long time
 *	stuck		from the start a kernel waits for the host, which must be able to do what it does natively
 */
#include "testkit.h"

#include <sys/wait.h>

enum { BUFFERS = 300, SIZE = 1000, OVERRUN = 150, ROW = 10 };

extern unsigned gmod_findings_seen(void) __attribute__((weak));

static CUdeviceptr buffers[BUFFERS];

static void make_buffers(int first)
{
	for (int i = first; i < BUFFERS; i++)
		buffers[i] = tk_alloc(SIZE);
}

static void work(int ms)
{
	double end = tk_ms() + ms;

	for (int i = 0; tk_ms() < end; i = (i + 1) % BUFFERS) {
		tk_flip(buffers[i], 0, SIZE);
		tk_sync();
		tk_sleep_ms(1);
	}
}

static void overrun_some(unsigned count)
{
	unsigned wanted = gmod_findings_seen ? gmod_findings_seen() + count : 0;
	double end = tk_ms() + 5000;

	for (unsigned i = 0; i < count; i++)
		tk_flip(buffers[OVERRUN + i], SIZE, 4);
	if (count > 1)
		tk_sync();
	while (gmod_findings_seen && gmod_findings_seen() < wanted && tk_ms() < end)
		tk_sleep_ms(1);
	puts(gmod_findings_seen && gmod_findings_seen() < wanted ? "not found" : "found");
}

static void overrun(void)
{
	overrun_some(1);
}

enum { LIST = 4 << 20, ANSWERS = 64 << 10, BESIDE = 4 << 10 };

/*
 * The end of what no forked child has and is so large: that much ends with the list, the answers, and a page that the
 * device does not see.
 */
static CUdeviceptr end_of_pages(void)
{
	unsigned long from = 0, to = 0, end = 0, a, b;
	FILE *f = fopen("/proc/self/smaps", "r");
	char line[512];

	REQUIRE(f);
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "%lx-%lx ", &a, &b) == 2) {
			from = a;
			to = b;
		} else if (!strncmp(line, "VmFlags:", 8) && strstr(line, " wr ") && strstr(line, " dc ") &&
			   to - from >= LIST + ANSWERS) {
			end = to - BESIDE;
		}
	fclose(f);
	if (!end && gmod_findings_seen)
		tk_skip("the kernel does not say which pages a child would not have");
	return end;
}

static void scribble(CUdeviceptr before_end, long long count)
{
	CUdeviceptr p = end_of_pages();
	long long off = 0;
	int value = 0x2a;

	if (!p)
		return;
	p -= before_end;
	tk_launch(tk_kernel("k_fill"), 4096, 32, NULL, TK_ARGS(&p, &off, &count, &value));
	tk_sync();
	work(50);
}

static void free_some(void)
{
	enum { LARGE = 20 };
	CUdeviceptr large[LARGE];

	for (int round = 0; round < 3; round++) {
		for (int i = 0; i < LARGE; i++)
			large[i] = tk_alloc(2 << 20);
		work(30);
		for (int i = 0; i < LARGE; i++)
			CK(cuMemFree(large[i]));
		work(30);
	}
}

static void in_contexts(void)
{
	for (int i = 0; i < 4; i++) {
		CUcontext context = tk_new_context();

		make_buffers(0);
		work(60);
		if (i == 3)
			overrun();
		CK(cuCtxDestroy(context));
	}
}

static size_t available(void)
{
	size_t now, total;

	CK(cuMemGetInfo(&now, &total));
	return now;
}

enum { THREADS = 16 };
static long pairs; /* of a thread */

static void *churn(void *arg)
{
	uint64_t seed = (uint64_t)(uintptr_t)arg + 1;

	CK(cuCtxSetCurrent(tk_context));
	for (long i = 0; i < pairs; i++) {
		size_t size = tk_random(&seed) % 64 ? 1 + tk_random(&seed) % 5000 : 2 << 20;
		CUdeviceptr p = tk_alloc(size);

		if (i % 8 == 0)
			CK(cuMemsetD8Async(p, 1, size, NULL));
		CK(cuMemFree(p));
	}
	return NULL;
}

static void beside_churn(long wanted)
{
	size_t before = available();

	pairs = wanted / THREADS;
	tk_in_threads(THREADS, churn);
	work(50);
	REQUIRE(available() == before);
	overrun();
}

static void beside_children(void)
{
	for (int i = 0; i < 5; i++) {
		pid_t child = fork();
		int status;

		if (!child)
			exit(0);
		work(20);
		REQUIRE(waitpid(child, &status, 0) == child && !status);
	}
	overrun();
}

static void beside_a_kernel_that_waits(void)
{
	CUstream stream = tk_stream(), other = tk_stream();
	volatile int *flag = tk_flag();
	long long off = 0, count = 4;
	double began;

	/* Before the other buffers: on a busy machine they take as long as the patrol needs to get ready. */
	buffers[0] = tk_alloc(SIZE);
	/* Loaded: what loads code waits for kernels. */
	tk_flip(buffers[0], 0, 4);
	tk_sync();
	tk_launch(tk_kernel("k_wait_flip"), 1, 1, stream, TK_ARGS(&buffers[0], &off, &count, &flag));
	make_buffers(1);
	tk_sleep_ms(100);
	began = tk_ms();
	for (int i = 1; i < BUFFERS; i++)
		tk_launch(tk_kernel("k_flip"), 1, 4, other, TK_ARGS(&buffers[i], &off, &count));
	CK(cuStreamSynchronize(other));
	REQUIRE(tk_ms() - began < 2000);
	*flag = 1;
	CK(cuStreamSynchronize(stream));
	work(100);
	overrun();
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "quiet";

	tk_start();
	if (!strcmp(how, "contexts")) {
		in_contexts();
		return 0;
	}
	if (strcmp(how, "stuck") != 0) {
		make_buffers(0);
		work(150);
	}
	if (!strcmp(how, "list"))
		scribble(LIST + ANSWERS, 128 << 10);
	else if (!strcmp(how, "answers"))
		scribble(ANSWERS, ANSWERS);
	else if (!strcmp(how, "frees"))
		free_some();
	if (!strcmp(how, "churn"))
		beside_churn(argc > 2 ? atol(argv[2]) : 5000);
	else if (!strcmp(how, "fork"))
		beside_children();
	else if (!strcmp(how, "unproven")) {
		tk_flip(buffers[0], 0, SIZE);
		tk_sleep_ms(3000);
	} else if (!strcmp(how, "stuck"))
		beside_a_kernel_that_waits();
	else if (!strcmp(how, "row"))
		overrun_some(ROW);
	else if (strcmp(how, "quiet") != 0)
		overrun();
	return 0;
}
