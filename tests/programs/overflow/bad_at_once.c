// case: bad_at_once 1000 => 5 x heap-buffer-overflow size 1000 offset +0 in make_buffer
// case: bad_at_once_large 3145728 => 5 x heap-buffer-overflow size 3145728 offset +0 in make_buffer
// options: max_reports=1000
// limit: 120
// sim-env: SIM_STALL=copy:1-100:1
/*
 * The first kernel after an allocation overruns the buffer, 300 times, each time at once: the canary was there before.
 * One site is reported five times; all are counted. On a busy machine a canary may come too late, of one in ten at
 * most.
 */
#include "include/gmod.h"
#include "make_buffer.h"

#include <dlfcn.h>

enum { TIMES = 300 };

int main(void)
{
	CUfunction flip = tk_kernel("k_flip");
	long long size = CASE, one = 1;
	struct gmod_stats s = {.struct_size = sizeof(s)};
	void (*get)(struct gmod_stats *);
	unsigned (*seen)(void);

	*(void **)&get = dlsym(RTLD_DEFAULT, "gmod_get_stats");
	*(void **)&seen = dlsym(RTLD_DEFAULT, "gmod_findings_seen");
	for (int i = 0; i < TIMES; i++) {
		CUdeviceptr p = make_buffer(CASE);

		tk_launch(flip, 1, 1, NULL, TK_ARGS(&p, &size, &one));
		CK(cuMemFree(p));
	}
	if (get && seen) {
		get(&s);
		REQUIRE(seen() <= TIMES && seen() > TIMES - TIMES / 10 && !s.degraded);
	}
}
