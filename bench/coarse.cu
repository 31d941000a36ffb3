/*
 * The coarse-grained bench.
 *
 *	coarse NAME [ROUNDS|short]	run one program once
 *	coarse --list			the names
 *
 * Prints one line of key=value: ms of the run (all of it, allocations and frees included), rounds, allocations and
 *their bytes, wrong (values that are not what the CPU computes). Exit status: 0, 1 something is wrong, 2 not
 *understood, 77 no GPU.
 */
#include <chrono>
#include <string.h>

#include "coarse.h"

static const struct program *const programs[] = {
    &bfs, &mri_fhd, &pns, &mri_q, &fft, &mummer, &pitch_texture, &bilateral_filter, &concurrent_kernels, &mri_gridding};

static unsigned allocations;
static uint64_t allocated_bytes;
static uint64_t random_state;

void cuda_require(cudaError_t e, const char *call)
{
	if (e == cudaSuccess)
		return;
	printf("FAIL %s: %s\n", call, cudaGetErrorString(e));
	exit(1);
}

static void count_allocation(size_t bytes)
{
	allocations++;
	allocated_bytes += bytes;
}

void *device_alloc(size_t bytes)
{
	void *p = NULL;

	CUDA(cudaMalloc(&p, bytes));
	count_allocation(bytes);
	return p;
}

void *device_alloc_pitched(size_t width, size_t rows, size_t *pitch)
{
	void *p = NULL;

	CUDA(cudaMallocPitch(&p, pitch, width, rows));
	count_allocation(*pitch * rows);
	return p;
}

void *host_alloc(size_t bytes)
{
	void *p = NULL;

	CUDA(cudaHostAlloc(&p, bytes, cudaHostAllocMapped));
	count_allocation(bytes);
	return p;
}

float *copy_floats_in(const std::vector<float> &values)
{
	size_t bytes = values.size() * sizeof(values[0]);
	float *p = (float *)device_alloc(bytes);

	CUDA(cudaMemcpy(p, values.data(), bytes, cudaMemcpyHostToDevice));
	return p;
}

void copy_floats_out(std::vector<float> &values, float *p)
{
	CUDA(cudaMemcpy(values.data(), p, values.size() * sizeof(values[0]), cudaMemcpyDeviceToHost));
	CUDA(cudaFree(p));
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

static int usage(void)
{
	fprintf(stderr, "usage: coarse NAME [ROUNDS|short]\n       coarse --list\n");
	return 2;
}

static int list(void)
{
	for (const struct program *p : programs)
		printf("%s\n", p->name);
	return 0;
}

static double now_ms(void)
{
	return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

static int run(const struct program *p, unsigned rounds)
{
	double begin, ms;
	uint64_t wrong;

	p->prepare();
	CUDA(cudaFree(NULL)); /* makes the context */
	begin = now_ms();
	p->work(rounds);
	CUDA(cudaDeviceSynchronize());
	ms = now_ms() - begin;
	wrong = p->check();
	printf("case=%s ms=%.4f rounds=%u allocations=%u bytes=%llu wrong=%llu\n", p->name, ms, rounds, allocations,
	       (unsigned long long)allocated_bytes, (unsigned long long)wrong);
	return wrong != 0;
}

/* 0: it is no number of rounds. */
static unsigned rounds_of(const struct program *p, const char *word)
{
	char *end;
	unsigned long n;

	if (!word)
		return p->rounds;
	if (!strcmp(word, "short"))
		return p->short_rounds;
	n = strtoul(word, &end, 10);
	return *end || n > UINT32_MAX ? 0 : (unsigned)n;
}

int main(int argc, char **argv)
{
	int devices;

	if (argc == 2 && !strcmp(argv[1], "--list"))
		return list();
	if (argc < 2 || argc > 3)
		return usage();
	for (const struct program *p : programs) {
		unsigned rounds = rounds_of(p, argv[2]);

		if (strcmp(p->name, argv[1]))
			continue;
		if (!rounds)
			return usage();
		if (cudaGetDeviceCount(&devices) != cudaSuccess || !devices) {
			fprintf(stderr, "coarse: no NVIDIA GPU here\n");
			return 77;
		}
		return run(p, rounds);
	}
	fprintf(stderr, "coarse: %s is none of the programs; coarse --list names them\n", argv[1]);
	return 2;
}
