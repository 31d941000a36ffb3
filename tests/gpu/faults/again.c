/*
 * again KERNEL [keep=FILE] [image=FILE] [second=0|1]: one fault under skip_abort that the program ignores, then what
 * still works: the same context, one beside it, one made later, and (second=1) a second fault in each, with or without
 * a dump.
 */
#define _GNU_SOURCE
#include "common.h"
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DUMP_NS 1500000000ull

struct place {
	CUcontext context;
	CUmodule module;
	CUfunction fine, fault;
	struct fence fence;
};

static const char *image = "kernels.fatbin";

static const char *option(int count, char **words, const char *key, const char *otherwise)
{
	size_t n = strlen(key);

	for (int i = 2; i < count; i++)
		if (!strncmp(words[i], key, n) && words[i][n] == '=')
			return words[i] + n + 1;
	return otherwise;
}

static CUresult make_place(struct place *p, const char *kernel)
{
	CUresult r = cuCtxCreate(&p->context, NULL, 0, 0);

	r = r ? r : cuModuleLoad(&p->module, image);
	if (r)
		return r;
	p->fine = find_function(p->module, "fine");
	p->fault = find_function(p->module, kernel);
	p->fence = make_fence(0);
	must(launch(p->fine, FEW, 0, NULL), "fine");
	must(cuCtxSynchronize(), "cuCtxSynchronize");
	return r;
}

/* "launch/wait" of a kernel without a fault. */
static void try_fine(const char *name, const struct place *p)
{
	CUresult l, s;

	must(cuCtxSetCurrent(p->context), "cuCtxSetCurrent");
	l = launch(p->fine, FEW, 0, NULL);
	s = cuCtxSynchronize();
	tell("%s=%s/%s", name, error_name(l), error_name(s));
}

/* A fault, its wait, its dump and what the context says once the dump is written. */
static void fault_in(const char *name, const struct place *p, struct reader *reader)
{
	int before = reader->begun;
	uint64_t launched;
	CUresult l, s;
	bool dumped;

	must(cuCtxSetCurrent(p->context), "cuCtxSetCurrent");
	launched = now_ns();
	l = launch(p->fault, FEW, past_end(&p->fence), NULL);
	s = cuCtxSynchronize();
	tell("%s=%s/%s,us:%lu,begun:%d,ended:%d", name, error_name(l), error_name(s), (now_ns() - launched) / 1000,
	     reader->begun, reader->ended);
	dumped = wait_for(&reader->ended, before + 1, DUMP_NS);
	sleep_ns(100000000);
	tell("%s_later=%s,dumped:%d", name, error_name(cuCtxSynchronize()), dumped);
}

int main(int count, char **words)
{
	const char *keep = option(count, words, "keep", NULL);
	struct place first, beside, later;
	struct reader *reader;
	char fifo[64];
	CUresult r;

	if (count < 2)
		return 2;
	image = option(count, words, "image", image);
	snprintf(fifo, sizeof(fifo), "/tmp/again.%d", getpid());
	reader = start_reader(fifo, keep);
	must(cuInit(0), "cuInit");
	set_dump(fifo);
	must(make_place(&beside, words[1]), "cuCtxCreate");
	must(make_place(&first, words[1]), "cuCtxCreate");
	tell_deaths();
	fault_in("first", &first, reader);
	try_fine("same_context", &first);
	try_fine("beside", &beside);
	if (!strcmp(option(count, words, "second", "0"), "1")) {
		fault_in("second_same", &first, reader);
		fault_in("second_beside", &beside, reader);
		r = make_place(&later, words[1]);
		tell("context_made_later=%s", error_name(r));
		if (!r) {
			try_fine("later", &later);
			fault_in("second_later", &later, reader);
		}
		must(cuCtxSetCurrent(first.context), "cuCtxSetCurrent");
		tell("destroy_first=%s", error_name(cuCtxDestroy(first.context)));
		r = make_place(&later, words[1]);
		tell("context_after_destroy=%s", error_name(r));
		if (!r)
			try_fine("after_destroy", &later);
	}
	stop_reader(reader);
	return 0;
}
