/*
 * The coarse-grained bench.
 *
 *	coarse NAME [HOW MUCH]		run one program once; ROUNDS, tenth (of its rounds) or short
 *	coarse NAME+NAME [HOW MUCH]	two of them at the same time, each on a thread and a stream of its own
 *	coarse NAME timed		short, and its kernels are timed
 *	coarse NAME planted		the same, but first a kernel of the bench's stores behind a buffer
 *	coarse --list			the names
 *
 * Prints one line of key=value: ms of the run (all of it, allocations and frees included; of two, until both are done),
 * rounds (of two, A+B), allocations and their bytes, wrong (values that are not what the CPU computes). Timed and
 * planted: kernel_ms, that of the rounds alone, the host's part in them included; the device is idle before and after.
 * Planted: buffer_bytes, of the buffer that was overrun, which is the device memory allocated last; the store was
 * after planted_after_ns and before planted_by_ns, of CLOCK_REALTIME.
 * BENCH_PAD_MIB in the environment: so many MiB are allocated before all else, untimed, which moves what comes after.
 *
 * Exit status: 0, 1 something is wrong, 2 not understood, 77 no GPU.
 */
#include <atomic>
#include <chrono>
#include <string.h>
#include <string>
#include <thread>
#include <time.h>

#include "coarse.h"

struct job {
	const struct program *program;
	unsigned rounds;
};

static const struct program *const programs[] = {
    &bfs, &mri_fhd, &pns, &mri_q, &fft, &mummer, &pitch_texture, &bilateral_filter, &concurrent_kernels, &mri_gridding};

thread_local cudaStream_t main_stream;
static std::atomic<unsigned> allocations;
static std::atomic<uint64_t> allocated_bytes;
static uint64_t random_state;

static struct {
	bool timed, planted;
	double begin_ms, kernel_ms;
	uint64_t after_ns, by_ns; /* of the store; 0: there was none yet */
} special;

struct allocation {
	void *p;
	cudaError_t (*release)(void *);
};

/* What the thread has allocated, and of that the device memory that it allocated last. */
static thread_local std::vector<struct allocation> memory;
static thread_local struct {
	unsigned char *at;
	size_t bytes;
} last_buffer;

void cuda_require(cudaError_t e, const char *call)
{
	if (e == cudaSuccess)
		return;
	printf("FAIL %s: %s\n", call, cudaGetErrorString(e));
	exit(1);
}

static void count_allocation(void *p, size_t bytes, cudaError_t (*release)(void *))
{
	allocations++;
	allocated_bytes += bytes;
	memory.push_back({p, release});
}

static void *count_buffer(void *p, size_t bytes)
{
	count_allocation(p, bytes, cudaFree);
	last_buffer = {(unsigned char *)p, bytes};
	return p;
}

/* A program's work, and then frees what the calling thread has allocated for it. */
static void work_and_free(const struct program *program, unsigned rounds)
{
	program->work(rounds);
	for (; !memory.empty(); memory.pop_back())
		CUDA(memory.back().release(memory.back().p));
}

void *device_alloc(size_t bytes)
{
	void *p = NULL;

	CUDA(cudaMalloc(&p, bytes));
	return count_buffer(p, bytes);
}

void *device_alloc_pitched(size_t width, size_t rows, size_t *pitch)
{
	void *p = NULL;

	CUDA(cudaMallocPitch(&p, pitch, width, rows));
	return count_buffer(p, *pitch * rows);
}

void *host_alloc(size_t bytes)
{
	void *p = NULL;

	CUDA(cudaHostAlloc(&p, bytes, cudaHostAllocMapped));
	count_allocation(p, bytes, cudaFreeHost);
	return p;
}

/* What comes from the host stays as it is until the stream has been waited for: such a copy need not be. */
static void await_copy(enum cudaMemcpyKind kind)
{
	if (kind == cudaMemcpyDeviceToHost)
		CUDA(cudaStreamSynchronize(main_stream));
}

void copy(void *to, const void *from, size_t bytes, enum cudaMemcpyKind kind)
{
	if (!main_stream) {
		CUDA(cudaMemcpy(to, from, bytes, kind));
		return;
	}
	CUDA(cudaMemcpyAsync(to, from, bytes, kind, main_stream));
	await_copy(kind);
}

void copy_rows(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t rows,
	       enum cudaMemcpyKind kind)
{
	if (!main_stream) {
		CUDA(cudaMemcpy2D(to, to_pitch, from, from_pitch, width, rows, kind));
		return;
	}
	CUDA(cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, rows, kind, main_stream));
	await_copy(kind);
}

void fill(void *p, int value, size_t bytes)
{
	if (main_stream)
		CUDA(cudaMemsetAsync(p, value, bytes, main_stream));
	else
		CUDA(cudaMemset(p, value, bytes));
}

void random_seed(uint64_t seed)
{
	random_state = seed;
}

/* splitmix64 (Steele, Lea and Flood 2014). */
uint64_t random_u64(void)
{
	uint64_t v = random_state += 0x9e3779b97f4a7c15ull;

	v = (v ^ v >> 30) * 0xbf58476d1ce4e5b9ull;
	v = (v ^ v >> 27) * 0x94d049bb133111ebull;
	return v ^ v >> 31;
}

float random_float(void)
{
	return (float)(random_u64() >> 40) / (float)(1 << 24);
}

uint64_t count_wrong(const float *found, const float *expected, size_t count, float tolerance)
{
	float greatest = 0;
	uint64_t wrong = 0;

	for (size_t i = 0; i < count; i++)
		greatest = fmaxf(greatest, fabsf(expected[i]));
	for (size_t i = 0; i < count; i++)
		wrong += !(fabsf(found[i] - expected[i]) <= tolerance * greatest);
	return wrong;
}

double now_ms(void)
{
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/* ---- what timed and planted runs do around the rounds ---- */

enum { OVERRUN = 8 };

static __global__ void plant_overflow(unsigned char *end)
{
	for (int i = 0; i < OVERRUN; i++)
		end[i] = 0xa5;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Asking for its attributes loads the kernel, so that the store comes soon after the launch. */
static void plant(void)
{
	struct cudaFuncAttributes unused;

	CUDA(cudaFuncGetAttributes(&unused, plant_overflow));
	special.after_ns = clock_ns();
	plant_overflow<<<1, 1, 0, main_stream>>>(last_buffer.at + last_buffer.bytes);
	cudaDeviceSynchronize(); /* a sanitizer may have ended the kernel, and the work goes on if it can */
	special.by_ns = clock_ns();
	cudaGetLastError();
}

void rounds_begin(void)
{
	if (!special.timed)
		return;
	CUDA(cudaDeviceSynchronize());
	if (special.planted && !special.by_ns)
		plant();
	special.begin_ms = now_ms();
}

void rounds_end(void)
{
	if (!special.timed)
		return;
	CUDA(cudaDeviceSynchronize());
	special.kernel_ms += now_ms() - special.begin_ms;
}

/* ---- a run ---- */

static double work_alone(const struct job *job)
{
	double begin = now_ms();

	work_and_free(job->program, job->rounds);
	CUDA(cudaDeviceSynchronize());
	return now_ms() - begin;
}

static std::atomic<unsigned> ready;
static std::atomic<bool> go;

static void work_on_a_stream(const struct job *job)
{
	CUDA(cudaStreamCreateWithFlags(&main_stream, cudaStreamNonBlocking));
	ready++;
	while (!go)
		std::this_thread::yield();
	work_and_free(job->program, job->rounds);
	CUDA(cudaStreamDestroy(main_stream)); /* work has waited for it */
}

/* Threads and streams are there before it begins, for a program has its thread anyway. */
static double work_together(const std::vector<struct job> &jobs)
{
	std::vector<std::thread> threads;
	double begin;

	for (const struct job &job : jobs)
		threads.emplace_back(work_on_a_stream, &job);
	while (ready < jobs.size())
		std::this_thread::yield();
	begin = now_ms();
	go = true;
	for (std::thread &thread : threads)
		thread.join();
	return now_ms() - begin;
}

/* Never freed: it is there for where it lies. */
static void pad(void)
{
	const char *mib = getenv("BENCH_PAD_MIB");
	void *p;

	if (mib && atoi(mib) > 0)
		CUDA(cudaMalloc(&p, (size_t)atoi(mib) << 20));
}

static int run(const char *name, const std::vector<struct job> &jobs)
{
	std::string rounds;
	uint64_t wrong = 0;
	double ms;

	for (const struct job &job : jobs) {
		job.program->prepare();
		rounds += (rounds.empty() ? "" : "+") + std::to_string(job.rounds);
	}
	CUDA(cudaFree(NULL)); /* makes the context */
	pad();
	ms = jobs.size() > 1 ? work_together(jobs) : work_alone(&jobs[0]);
	for (const struct job &job : jobs)
		wrong += job.program->check();
	printf("case=%s ms=%.4f rounds=%s allocations=%u bytes=%llu wrong=%llu", name, ms, rounds.c_str(),
	       allocations.load(), (unsigned long long)allocated_bytes.load(), (unsigned long long)wrong);
	if (special.timed)
		printf(" kernel_ms=%.4f", special.kernel_ms);
	if (special.planted)
		printf(" buffer_bytes=%zu planted_after_ns=%llu planted_by_ns=%llu", last_buffer.bytes,
		       (unsigned long long)special.after_ns, (unsigned long long)special.by_ns);
	printf("\n");
	return wrong != 0;
}

/* ---- the command line ---- */

static int usage(void)
{
	fprintf(stderr, "usage: coarse NAME[+NAME] [ROUNDS|tenth|short]\n       coarse NAME timed|planted\n"
			"       coarse --list\n");
	return 2;
}

static int list(void)
{
	for (const struct program *p : programs)
		printf("%s\n", p->name);
	return 0;
}

static const struct program *find(const std::string &name)
{
	for (const struct program *p : programs)
		if (p->name == name)
			return p;
	fprintf(stderr, "coarse: %s is none of the programs; coarse --list names them\n", name.c_str());
	return NULL;
}

/* 0: it is none, or zero. */
static unsigned number(const char *word)
{
	char *end;
	unsigned long n = strtoul(word, &end, 10);

	return *end || n > UINT32_MAX ? 0 : (unsigned)n;
}

static unsigned rounds_of(const struct program *p, const char *word)
{
	if (!word)
		return p->rounds;
	if (!strcmp(word, "tenth"))
		return p->rounds / 10;
	return !strcmp(word, "short") || special.timed ? p->short_rounds : number(word);
}

/* The exit status if there is something wrong with the names. Programs keep what they work on in static memory. */
static int find_all(const std::string &names, std::vector<struct job> *jobs)
{
	size_t plus = names.find('+');

	for (size_t begin : {(size_t)0, plus + 1}) {
		const struct program *p = find(names.substr(begin, begin ? std::string::npos : plus));

		if (!p)
			return 2;
		jobs->push_back({p, 0});
		if (plus == std::string::npos)
			return 0;
	}
	if ((*jobs)[0].program != (*jobs)[1].program)
		return 0;
	fprintf(stderr, "coarse: two programs at the same time have to be different ones\n");
	return 2;
}

static bool has_device(void)
{
	int devices;

	if (cudaGetDeviceCount(&devices) == cudaSuccess && devices)
		return true;
	fprintf(stderr, "coarse: no NVIDIA GPU here\n");
	return false;
}

int main(int argc, char **argv)
{
	std::vector<struct job> jobs;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	if (argc < 2 || argc > 3)
		return usage();
	if (find_all(argv[1], &jobs))
		return 2;
	special.planted = argv[2] && !strcmp(argv[2], "planted");
	special.timed = special.planted || (argv[2] && !strcmp(argv[2], "timed"));
	if (special.timed && jobs.size() > 1)
		return usage();
	for (struct job &job : jobs) {
		job.rounds = rounds_of(job.program, argv[2]);
		if (!job.rounds)
			return usage();
	}
	return has_device() ? run(argv[1], jobs) : 77;
}
