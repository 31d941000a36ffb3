/* For the figure_*.c: many buffers, and what to say where they do not fit. */
#pragma once

#include "testkit.h"
#include <errno.h>
#include <stdarg.h>

#define MAX_BUFFERS 100000
#define ALLOCATION_S 40

static CUdeviceptr buffers[MAX_BUFFERS];

__attribute__((format(printf, 1, 2), noreturn)) static TK_UNUSED void fail(const char *format, ...)
{
	va_list rest;

	fprintf(stderr, "FAIL %s: ", program_invocation_short_name);
	va_start(rest, format);
	vfprintf(stderr, format, rest);
	va_end(rest);
	fputc('\n', stderr);
	exit(TK_FAILED);
}

/* How many mappings the process has, and how many it may have, which can be what an allocation fails for. */
static int mappings(int *most)
{
	FILE *f = fopen("/proc/self/maps", "r");
	int lines = 0;

	for (int c; f && (c = getc(f)) != EOF;)
		lines += c == '\n';
	if (f)
		fclose(f);
	f = fopen("/proc/sys/vm/max_map_count", "r");
	if (!f || fscanf(f, "%d", most) != 1)
		*most = -1;
	if (f)
		fclose(f);
	return lines;
}

/* Milliseconds until all of them were there. */
static TK_UNUSED double allocate(int count, long long (*size_of)(int))
{
	double begin = tk_ms(), ms = 0;

	for (int i = 0; i < count; i++) {
		CUresult r = cuMemAlloc(&buffers[i], (size_t)size_of(i));

		ms = tk_ms() - begin;
		if (r != CUDA_SUCCESS) {
			int most, now = mappings(&most);

			fail("cuMemAlloc: %s with %d of %d buffers there, %d of at most %d mappings", tk_error_name(r),
			     i, count, now, most);
		}
		if (ms > ALLOCATION_S * 1e3)
			fail("%d of %d buffers after %d s, %.0f us each", i + 1, count, ALLOCATION_S,
			     ms * 1e3 / (i + 1));
	}
	return ms;
}
