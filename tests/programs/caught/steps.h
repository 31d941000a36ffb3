/*
 * Steps of a job in which a kernel now and then overruns a buffer, and others do no harm. Their log is report.log.
 */
#pragma once

#include <stdatomic.h>
#include <unistd.h>

#include "make_buffer.h"
#include "report_log.h"

enum { STEP_SIZE = 12345, STEPS = 4000 };

/* The one in the middle may do harm, by 8 bytes from `at` on; all have the buffer as an argument. */
static TK_UNUSED void step_on(CUstream stream, CUdeviceptr p, int overruns, long long at)
{
	long long from = 0, count = 64, some = 8, one = 1;
	int value = 0; /* no canary has such a byte */

	tk_flip_on(stream, p, 0, 64);
	tk_launch_n(tk_kernel("k_fill"), count, stream,
		    TK_ARGS(&p, overruns ? &at : &from, overruns ? &some : &count, &value));
	tk_launch_n(tk_kernel("k_stride"), count, stream, TK_ARGS(&p, &from, &one, &count));
}

static TK_UNUSED int is_said(const char *text)
{
	return wait_for_report(text, 1);
}

/* Steps of a millisecond, with an overrun in each so many, until the log says that. */
static TK_UNUSED int step_until(const char *text, CUstream stream, CUdeviceptr p, int each, long long at)
{
	for (int i = 0; i < STEPS; i++) {
		step_on(stream, p, i % each == 0, at);
		CK(cuStreamSynchronize(stream));
		usleep(1000);
		if (i % 20 == 0 && is_said(text))
			return 1;
	}
	return is_said(text);
}

/* A line of the log says so, without others that may have done it. */
static TK_UNUSED int is_caught_alone(const char *kernel)
{
	FILE *f = fopen("report.log", "r");
	char line[4096], text[64];
	int found = 0;

	snprintf(text, sizeof(text), "caught: %s<", kernel);
	while (f && fgets(line, sizeof(line), f))
		found |= strstr(line, text) && !strstr(line, "or what ran beside it");
	if (f)
		fclose(f);
	return found;
}
