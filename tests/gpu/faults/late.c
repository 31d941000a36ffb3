/*
 * late KERNEL key=value...: one fault, a wait, and then either a probe that is repeated until it returns an error,
 * or one call that may die beside the dump.
 *   blocks=N  contexts=1|2  load=none|spin  wait=ctx|stream
 * probe=none|kernel|beside|copy|fill|fill_more|load|sync|query|launch  keep=FILE act=NAME  when=wait|dump|error (act:
 * at once after the wait, at the dump's first byte, at the first error)
 */
#define _GNU_SOURCE
#include "common.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PROBE_NS 3000000000ull
#define SPIN_NS 100000000ull

struct program {
	CUdevice device;
	CUcontext context, other;
	CUmodule module, other_module;
	CUfunction fault, fine, spin;
	CUstream stream, beside;
	struct fence fence;
	CUdeviceptr memory, pooled;
	void *pinned, *registered;
	struct reader *reader;
};

static const char *option(int count, char **words, const char *key, const char *otherwise)
{
	size_t n = strlen(key);

	for (int i = 2; i < count; i++)
		if (!strncmp(words[i], key, n) && words[i][n] == '=')
			return words[i] + n + 1;
	return otherwise;
}

static CUresult probe_kernel(struct program *p)
{
	CUresult r = launch(p->fine, FEW, p->fence.start, p->stream);

	return r ? r : cuStreamSynchronize(p->stream);
}

static CUresult probe_beside(struct program *p)
{
	CUresult r = launch(p->fine, FEW, p->fence.start, p->beside);

	return r ? r : cuStreamSynchronize(p->beside);
}

static CUresult probe_launch(struct program *p)
{
	return launch(p->fine, FEW, p->fence.start, p->stream);
}

/* The driver's own kernels. */
static CUresult fill(struct program *p, size_t words)
{
	CUresult r = cuMemsetD32Async(p->memory, 0, words, p->beside);

	return r ? r : cuStreamSynchronize(p->beside);
}

static CUresult probe_fill(struct program *p)
{
	return fill(p, 1);
}

static CUresult probe_fill_more(struct program *p)
{
	return fill(p, 4096);
}

/* A kernel that is loaded only now. */
static CUresult probe_load(struct program *p)
{
	CUmodule module;
	CUresult r = cuModuleLoad(&module, "kernels.fatbin");

	r = r ? r : launch(find_function(module, "fine"), FEW, p->fence.start, p->beside);
	return r ? r : cuStreamSynchronize(p->beside);
}

static CUresult probe_copy(struct program *p)
{
	int word;

	return cuMemcpyDtoH(&word, p->memory, sizeof(word));
}

static CUresult probe_sync(struct program *p)
{
	(void)p;
	return cuCtxSynchronize();
}

static CUresult probe_query(struct program *p)
{
	return cuStreamQuery(p->stream);
}

static const struct probe {
	const char *name;
	CUresult (*ask)(struct program *p);
} probes[] = {
    {"kernel", probe_kernel}, {"beside", probe_beside},       {"copy", probe_copy},
    {"fill", probe_fill},     {"fill_more", probe_fill_more}, {"load", probe_load},
    {"sync", probe_sync},     {"query", probe_query},         {"launch", probe_launch},
};

static CUresult act_unmap(struct program *p)
{
	return cuMemUnmap(p->fence.start, MAPPED);
}

static CUresult act_free_fenced(struct program *p)
{
	CUresult r = cuMemUnmap(p->fence.start, MAPPED);

	r = r ? r : cuMemRelease(p->fence.memory);
	return r ? r : cuMemAddressFree(p->fence.start, RESERVED);
}

static CUresult act_free(struct program *p)
{
	return cuMemFree(p->memory);
}

static CUresult act_free_async(struct program *p)
{
	return cuMemFreeAsync(p->pooled, p->stream);
}

static CUresult act_free_host(struct program *p)
{
	return cuMemFreeHost(p->pinned);
}

static CUresult act_unregister(struct program *p)
{
	return cuMemHostUnregister(p->registered);
}

static CUresult act_unload(struct program *p)
{
	return cuModuleUnload(p->module);
}

static CUresult act_destroy_stream(struct program *p)
{
	return cuStreamDestroy(p->stream);
}

static CUresult act_destroy_context(struct program *p)
{
	return cuCtxDestroy(p->context);
}

static CUresult act_reset(struct program *p)
{
	return cuDevicePrimaryCtxReset(p->device);
}

static CUresult act_allocate(struct program *p)
{
	CUdeviceptr d;

	(void)p;
	return cuMemAlloc(&d, MAPPED);
}

static CUresult act_exit(struct program *p)
{
	(void)p;
	exit(0);
}

static CUresult act_exit_at_once(struct program *p)
{
	(void)p;
	_exit(0);
}

static const struct act {
	const char *name;
	CUresult (*run)(struct program *p);
} acts[] = {
    {"unmap", act_unmap},
    {"free_fenced", act_free_fenced},
    {"free", act_free},
    {"free_async", act_free_async},
    {"free_host", act_free_host},
    {"unregister", act_unregister},
    {"unload", act_unload},
    {"destroy_stream", act_destroy_stream},
    {"destroy_context", act_destroy_context},
    {"reset", act_reset},
    {"allocate", act_allocate},
    {"exit", act_exit},
    {"exit_at_once", act_exit_at_once},
};

static void set_up(struct program *p, const char *kernel, bool two, bool own_context)
{
	must(cuDeviceGet(&p->device, 0), "cuDeviceGet");
	if (two) {
		must(cuCtxCreate(&p->other, NULL, 0, p->device), "cuCtxCreate");
		must(cuModuleLoad(&p->other_module, "kernels.fatbin"), "cuModuleLoad");
	}
	if (own_context) {
		must(cuCtxCreate(&p->context, NULL, 0, p->device), "cuCtxCreate");
	} else {
		must(cuDevicePrimaryCtxRetain(&p->context, p->device), "cuDevicePrimaryCtxRetain");
		must(cuCtxSetCurrent(p->context), "cuCtxSetCurrent");
	}
	must(cuModuleLoad(&p->module, "kernels.fatbin"), "cuModuleLoad");
	p->fine = find_function(p->module, "fine");
	p->spin = find_function(p->module, "spin");
	p->fault = find_function(p->module, kernel);
	p->fence = make_fence(p->device);
	must(cuStreamCreate(&p->stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	must(cuStreamCreate(&p->beside, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
	must(cuMemAlloc(&p->memory, MAPPED), "cuMemAlloc");
	must(cuMemAllocAsync(&p->pooled, MAPPED, p->stream), "cuMemAllocAsync");
	must(cuMemAllocHost(&p->pinned, 65536), "cuMemAllocHost");
	p->registered = mmap(NULL, 65536, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	must(cuMemHostRegister(p->registered, 65536, 0), "cuMemHostRegister");
	/* Kernels are loaded at their first launch: the fault's launch is not to pay for another's. */
	must(launch(p->fine, FEW, p->fence.start, p->stream), "fine");
	must(cuCtxSynchronize(), "cuCtxSynchronize");
}

static bool no_answer(CUresult r)
{
	return r == CUDA_SUCCESS || r == CUDA_ERROR_NOT_READY;
}

/* Asks at once, and then every millisecond until an error or the end of the time. */
static CUresult ask_until_error(struct program *p, const struct probe *how)
{
	uint64_t begin = now_ns(), longest = 0;
	CUresult r;

	for (int n = 0;; n++) {
		uint64_t asked = now_ns(), took;

		r = how->ask(p);
		took = now_ns() - asked;
		longest = took > longest ? took : longest;
		if (n == 0)
			tell("probe_first=%s,%lu", error_name(r), took);
		if (!no_answer(r)) {
			tell("error=%s,at:%lu,asked:%d,longest:%lu", error_name(r), now_ns(), n + 1, longest);
			return r;
		}
		if (now_ns() - begin > PROBE_NS) {
			tell("no_error=asked:%d,longest:%lu", n + 1, longest);
			return r;
		}
		sleep_ns(1000000);
	}
}

static void act_beside(struct program *p, const char *name, const char *when, bool expect)
{
	for (size_t i = 0; i < sizeof(acts) / sizeof(acts[0]); i++) {
		uint64_t begin;
		CUresult r;

		if (strcmp(acts[i].name, name))
			continue;
		if (!strcmp(when, "dump") && expect && !wait_for(&p->reader->begun, 1, 1000000000))
			tell("no_dump_began=1");
		if (!strcmp(when, "error"))
			ask_until_error(p, &probes[2]);
		tell("calling=%s,at:%lu,begun:%d,ended:%d", name, now_ns(), p->reader->begun, p->reader->ended);
		begin = now_ns();
		r = acts[i].run(p);
		tell("returned=%s,%lu,begun:%d,ended:%d", error_name(r), now_ns() - begin, p->reader->begun,
		     p->reader->ended);
	}
}

/* Whether a context that did nothing wrong goes on. */
static void ask_other(struct program *p)
{
	CUfunction fine;
	CUresult r;

	must(cuCtxSetCurrent(p->other), "cuCtxSetCurrent");
	r = cuModuleGetFunction(&fine, p->other_module, "fine");
	if (!r)
		r = launch(fine, FEW, 0, NULL);
	if (!r)
		r = cuCtxSynchronize();
	tell("other_context=%s", error_name(r));
}

int main(int count, char **words)
{
	struct program p = {0};
	const char *act = option(count, words, "act", "");
	const char *probe = option(count, words, "probe", "none");
	bool two = !strcmp(option(count, words, "contexts", "1"), "2");
	bool by_stream = !strcmp(option(count, words, "wait", "ctx"), "stream");
	unsigned blocks = (unsigned)atoi(option(count, words, "blocks", "8"));
	bool expect;
	char fifo[64];
	uint64_t ns = SPIN_NS, launched, returned;
	CUresult r;

	if (count < 2)
		return 2;
	expect = strcmp(words[1], "fine");
	snprintf(fifo, sizeof(fifo), "/tmp/late.%d", getpid());
	p.reader = start_reader(fifo, option(count, words, "keep", NULL));
	must(cuInit(0), "cuInit");
	set_dump(fifo);
	set_up(&p, words[1], two, !strcmp(act, "destroy_context"));
	tell_deaths();
	if (!strcmp(option(count, words, "load", "none"), "spin")) {
		void *parameters[] = {&ns};

		must(cuLaunchKernel(p.spin, 32, 1, 1, 128, 1, 1, 0, p.beside, parameters, NULL), "spin");
		sleep_ns(5000000);
	}
	launched = now_ns();
	must(launch(p.fault, blocks, past_end(&p.fence), p.stream), "launch");
	r = by_stream ? cuStreamSynchronize(p.stream) : cuCtxSynchronize();
	returned = now_ns();
	tell("wait=%s,launched:%lu,returned:%lu,begun:%d,ended:%d,opened:%lu", error_name(r), launched, returned,
	     p.reader->begun, p.reader->ended, p.reader->opened);
	for (size_t i = 0; r == CUDA_SUCCESS && i < sizeof(probes) / sizeof(probes[0]); i++)
		if (!strcmp(probes[i].name, probe))
			ask_until_error(&p, &probes[i]);
	act_beside(&p, act, option(count, words, "when", "wait"), expect);
	if (expect)
		wait_for(&p.reader->ended, 1, 1500000000);
	tell("after=opened:%lu,first:%lu,last:%lu", p.reader->opened, p.reader->first[0], p.reader->last[0]);
	if (two)
		ask_other(&p);
	if (strcmp(act, "destroy_context") && strcmp(act, "reset")) {
		must(cuCtxSetCurrent(p.context), "cuCtxSetCurrent");
		tell("final=%s", error_name(cuCtxSynchronize()));
	}
	stop_reader(p.reader);
	return 0;
}
