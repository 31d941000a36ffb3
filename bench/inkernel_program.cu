/*
 * Running one program of the bench, and timing it: to the end of its kernels, which is what the program waits for, and,
 * over mallocN, until the guard has verified and released everything.
 */
#include <vector>

#include "inkernel.h"

enum {
	WARM_UPS = 1,
	REPEATS = 9,
	REPEATS_OF_SLOW = 2, /* of what takes longer than SLOW_MS altogether */
	REPEATS_MOST = 51,
};
#define SLOW_MS 300.0
#define SHORT_MS 60.0 /* so long is made use of in any case */

struct once {
	double kernel_ms, quiet_ms;
	uint64_t checksum;
	unsigned missing; /* threads that got no memory */
	bool quiet;
};

static bool enough(unsigned repeats, double spent_ms)
{
	if (repeats < REPEATS)
		return repeats >= REPEATS_OF_SLOW && spent_ms > SLOW_MS;
	return repeats >= REPEATS_MOST || spent_ms > SHORT_MS;
}

static void read_out(const struct work *w, struct once *o)
{
	std::vector<uint64_t> out(w->threads);

	CUDA(cudaMemcpy(out.data(), w->out, w->threads * sizeof(uint64_t), cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < w->threads; i++) {
		o->checksum += mix(out[i] ^ i);
		o->missing += out[i] == NO_MEMORY;
	}
}

static struct once run_once(const struct program *p, enum memory memory, const struct work *w)
{
	struct gmod_device_stats stats;
	struct once o = {};
	double begin;

	CUDA(cudaMemset(w->out, 0, w->threads * sizeof(uint64_t)));
	CUDA(cudaDeviceSynchronize());
	begin = now_ms();
	p->run[memory](w);
	CUDA(cudaGetLastError());
	CUDA(cudaStreamSynchronize(w->stream));
	o.kernel_ms = now_ms() - begin;
	if (p->tidy[memory]) {
		p->tidy[memory](w);
		CUDA(cudaGetLastError());
		CUDA(cudaStreamSynchronize(w->stream));
	}
	o.quiet = memory == MEMORY_CUDA || gmod_quiet(0, &stats);
	o.quiet_ms = now_ms() - begin;
	read_out(w, &o);
	return o;
}

static bool is_good(const struct program *p, const struct work *w, const struct once *o, uint64_t checksum)
{
	if (!o->quiet)
		return fail("%s %u %u: the heap is not empty 10 s after the kernels", p->name, w->block, w->threads);
	if (o->missing)
		return fail("%s %u %u: %u threads got no memory", p->name, w->block, w->threads, o->missing);
	if (o->checksum != checksum)
		return fail("%s %u %u: the checksum differs from one repeat to the next", p->name, w->block,
			    w->threads);
	return true;
}

static bool repeat(const struct program *p, enum memory memory, const struct work *w)
{
	double kernel[REPEATS_MOST], quiet[REPEATS_MOST], begin = 0;
	uint64_t checksum = 0;
	unsigned n = 0;

	for (int i = 0; i < WARM_UPS; i++)
		checksum = run_once(p, memory, w).checksum;
	for (begin = now_ms(); !enough(n, now_ms() - begin); n++) {
		struct once o = run_once(p, memory, w);

		if (!is_good(p, w, &o, checksum))
			return false;
		kernel[n] = o.kernel_ms;
		quiet[n] = o.quiet_ms;
	}
	printf("case=%s block=%u threads=%u repeats=%u kernel_ms=%.5f", p->name, w->block, w->threads, n,
	       median(kernel, n));
	if (memory == MEMORY_GMOD && !p->tidy[memory])
		printf(" quiet_ms=%.5f", median(quiet, n));
	printf(" checksum=%016llx\n", (unsigned long long)checksum);
	fflush(stdout);
	return true;
}

bool program_measure(const struct program *p, enum memory memory, unsigned block, unsigned threads)
{
	struct work w = {threads, block, NULL, NULL, NULL};
	unsigned findings = gmod_findings();
	bool ok;

	CUDA(cudaStreamCreateWithFlags(&w.stream, cudaStreamNonBlocking));
	CUDA(cudaMalloc(&w.scratch, threads * p->scratch + 1));
	CUDA(cudaMalloc(&w.out, threads * sizeof(uint64_t)));
	ok = repeat(p, memory, &w);
	CUDA(cudaFree(w.out));
	CUDA(cudaFree(w.scratch));
	CUDA(cudaStreamDestroy(w.stream));
	if (gmod_findings() != findings)
		return fail("%s %u %u: %u findings in a correct program", p->name, block, threads,
			    gmod_findings() - findings);
	return ok;
}
