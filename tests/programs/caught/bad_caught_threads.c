// expect: heap-buffer-overflow size 12345 offset +0 in make_buffer
// options: log_path=report.log:backend=device
/*
 * Several threads launch into streams of their own, and only one of them does harm: whoever is named alone is that
 * one's kernel.
 */
#include "steps.h"

static CUdeviceptr p;
static atomic_int stop;

/* A line of the log says so, without others that may have done it. */
static int is_caught_alone(const char *kernel)
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

static void *launch(void *number)
{
	CUstream stream;

	CK(cuCtxSetCurrent(tk_context));
	stream = tk_stream();
	for (int i = 0; i < STEPS && !stop; i++) {
		step_on(stream, p, !number && i % 3 == 0, STEP_SIZE);
		CK(cuStreamSynchronize(stream));
		usleep(500);
		if (!number && i % 20 == 0 && is_said("caught]"))
			stop = 1;
	}
	return NULL;
}

int main(void)
{
	p = make_buffer(STEP_SIZE);
	tk_in_threads(3, launch);
	REQUIRE(stop);
	REQUIRE(!is_caught_alone("k_flip"));
	REQUIRE(!is_caught_alone("k_stride"));
	CK(cuMemFree(p));
}
