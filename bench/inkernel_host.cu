/* The bench of memory that kernels allocate: clock, errors, and what is asked of libgmod. */
#include <algorithm>
#include <stdarg.h>
#include <time.h>

#include "inkernel.h"

/* Without libgmod in the process these are NULL. */
extern "C" {
enum gmod_status gmod_device_check(void) __attribute__((weak));
enum gmod_status gmod_device_get_stats(struct gmod_device_stats *stats) __attribute__((weak));
unsigned gmod_findings_seen(void) __attribute__((weak));
}

enum { DEADLINE_MS = 10000 };

void cuda_require(cudaError_t e, const char *call)
{
	if (e == cudaSuccess)
		return;
	fail("%s: %s", call, cudaGetErrorString(e));
	exit(1);
}

double now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

double median(double *values, unsigned count)
{
	std::sort(values, values + count);
	return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

bool fail(const char *format, ...)
{
	va_list rest;

	va_start(rest, format);
	printf("FAIL ");
	vprintf(format, rest);
	printf("\n");
	va_end(rest);
	fflush(stdout);
	return false;
}

bool gmod_is_here(void)
{
	return gmod_device_check && gmod_device_get_stats && gmod_findings_seen;
}

unsigned gmod_findings(void)
{
	return gmod_is_here() ? gmod_findings_seen() : 0;
}

bool gmod_look(struct gmod_device_stats *stats)
{
	*stats = {};
	stats->struct_size = sizeof(*stats);
	return gmod_device_check() == GMOD_OK && gmod_device_get_stats(stats) == GMOD_OK && stats->heap_bytes;
}

bool gmod_quiet(uint64_t live, struct gmod_device_stats *stats)
{
	double end = now_ms() + DEADLINE_MS;

	do {
		if (gmod_look(stats) && stats->live_buffers == live && !stats->waiting_buffers)
			return true;
	} while (now_ms() < end);
	return false;
}
