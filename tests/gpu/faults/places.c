/*
 * places FATBIN FUNCTION FILE|- [END]: launches one kernel of places.cu, and waits for it. FILE: the driver describes
 * the fault there, and the program waits for an empty kernel behind it, by when the dump is whole. -: the program asks
 * for no dump, and what comes behind the wait is END:
 *
 *   error       ask for the error, every ms for 3 s (the default)
 *   exit, return, free, destroy, reset, unload     at once: end, by exit() or from main; free buffers; end the context,
 *               by cuCtxDestroy or a reset of the primary one; unload the module. Then, but for the first two, the
 * error
 */
#define _GNU_SOURCE
#include "common.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WORDS = 4 * 2 * 32 * 2 };

struct program {
	CUdevice device;
	CUcontext context;
	CUmodule module;
	CUdeviceptr past, out;
};

/* What a kernel takes for `past`: behind the mapping, or, for load_table, behind a row that points there. */
static CUdeviceptr argument(const struct program *p, const char *function)
{
	struct {
		CUdeviceptr values;
		int n;
	} row = {p->past - 4 * WORDS, WORDS};

	if (strcmp(function, "load_table"))
		return p->past;
	must(cuMemcpyHtoD(p->out, &row, sizeof(row)), "cuMemcpyHtoD");
	return p->out + sizeof(row);
}

static void launch_it(struct program *p, const char *function)
{
	CUdeviceptr past = argument(p, function);
	int n = WORDS;
	void *two[] = {&past, &n}, *three[] = {&past, &p->out, &n};

	must(cuLaunchKernel(find_function(p->module, function), 4, 2, 1, 32, 2, 1, 0, NULL,
			    strcmp(function, "load_readonly") ? two : three, NULL),
	     "launch");
}

static void await_the_error(void)
{
	CUresult r = CUDA_SUCCESS;
	int asked = 0;

	for (uint64_t end = now_ns() + 3000000000; r == CUDA_SUCCESS && now_ns() < end; asked++) {
		r = cuCtxSynchronize();
		sleep_ns(1000000);
	}
	tell("error=%s,asked:%d", error_name(r), asked);
}

static void end_by(struct program *p, const char *end)
{
	CUresult r = CUDA_SUCCESS;

	if (!strcmp(end, "exit"))
		exit(0);
	if (!strcmp(end, "free"))
		r = cuMemFree(p->out);
	else if (!strcmp(end, "destroy"))
		r = cuCtxDestroy(p->context);
	else if (!strcmp(end, "reset"))
		r = cuDevicePrimaryCtxReset(p->device);
	else if (!strcmp(end, "unload"))
		r = cuModuleUnload(p->module);
	if (strcmp(end, "error"))
		tell("%s=%s", end, error_name(r));
	if (!strcmp(end, "error") || !strcmp(end, "free") || !strcmp(end, "unload"))
		await_the_error();
}

int main(int count, char **words)
{
	struct program p;
	const char *end = count > 4 ? words[4] : "error";
	struct fence fence;
	CUfunction fine;

	if (count < 4)
		return 2;
	must(cuInit(0), "cuInit");
	if (strcmp(words[3], "-"))
		set_dump(words[3]);
	must(cuDeviceGet(&p.device, 0), "cuDeviceGet");
	if (strcmp(end, "reset")) {
		must(cuCtxCreate(&p.context, NULL, 0, p.device), "cuCtxCreate");
	} else {
		must(cuDevicePrimaryCtxRetain(&p.context, p.device), "cuDevicePrimaryCtxRetain");
		must(cuCtxSetCurrent(p.context), "cuCtxSetCurrent");
	}
	must(cuModuleLoad(&p.module, words[1]), "cuModuleLoad");
	fine = find_function(p.module, "fine");
	fence = make_fence(p.device);
	p.past = past_end(&fence);
	must(cuMemAlloc(&p.out, 4096 * 4), "cuMemAlloc");
	must(launch(fine, FEW, 0, NULL), "fine");
	must(cuCtxSynchronize(), "fine");
	launch_it(&p, words[2]);
	tell("wait=%s,past:%#llx", error_name(cuCtxSynchronize()), p.past);
	if (!strcmp(words[3], "-")) {
		end_by(&p, end);
		return 0;
	}
	(void)launch(fine, FEW, 0, NULL);
	tell("probe=%s", error_name(cuCtxSynchronize()));
	sleep_ns(100000000);
	tell("final=%s", error_name(cuCtxSynchronize()));
	return 0;
}
