/* Stream capture: what every call does to it, by mode, thread and kind of stream. */
#ifndef GMOD_CONFORMANCE_CAPTURE_H
#define GMOD_CONFORMANCE_CAPTURE_H

#include "conformance_capture_calls.h"

#include <pthread.h>

static void mapped_scene_open(struct capture_scene *s)
{
	s->registered = memory_new(REGISTERED);
	s->mapped = memory_new(VMM);
	s->own = aligned_alloc(4096, 8192);
	CK(create_physical(&s->spare, s->mapped.size, 0));
	CK(cuMemAddressReserve(&s->range, s->mapped.size, 0, 0, 0));
}

static void mapped_scene_close(struct capture_scene *s)
{
	const size_t size = s->mapped.size;

	if (s->registered.at)
		memory_free(&s->registered);
	if (s->mapped.at)
		memory_free(&s->mapped);
	if (s->spare_is_mapped)
		CK(cuMemUnmap(s->range, size));
	if (s->spare)
		CK(cuMemRelease(s->spare));
	if (s->made_handle)
		CK(cuMemRelease(s->made_handle));
	if (s->made_range)
		CK(cuMemAddressFree(s->made_range, size));
	CK(cuMemAddressFree(s->range, size));
	cuMemHostUnregister(s->own); /* where it was registered */
	free(s->own);
}

static void capture_scene_open(struct capture_scene *s, unsigned stream_flags)
{
	memset(s, 0, sizeof(*s));
	CK(cuStreamCreate(&s->captured, stream_flags));
	CK(cuStreamCreate(&s->other, CU_STREAM_NON_BLOCKING));
	s->device = memory_new(DEVICE);
	s->managed = memory_new(MANAGED);
	s->pinned = memory_new(PINNED);
	s->pool = memory_new(POOL);
	s->plain = calloc(1, 1000);
	mapped_scene_open(s);
	CK(cuEventCreate(&s->recorded, 0));
	CK(cuEventCreate(&s->fresh, 0));
	CK(cuEventRecord(s->recorded, s->other));
	tk_sync();
}

static void capture_scene_close(struct capture_scene *s)
{
	struct memory *all[] = {&s->device, &s->managed, &s->pinned, &s->pool, &s->made};

	tk_sync();
	for (int i = 0; i < 5; i++)
		if (all[i]->at)
			memory_free(all[i]);
	mapped_scene_close(s);
	CK(cuEventDestroy(s->recorded));
	CK(cuEventDestroy(s->fresh));
	if (s->made_stream)
		CK(cuStreamDestroy(s->made_stream));
	if (s->made_event)
		CK(cuEventDestroy(s->made_event));
	if (s->module)
		CK(cuModuleUnload(s->module));
	CK(cuStreamDestroy(s->captured));
	CK(cuStreamDestroy(s->other));
	free(s->plain);
	tk_sync();
}

/* Who makes the call, in which exchange mode. */
struct caller {
	capture_call *call;
	struct capture_scene *scene;
	CUstreamCaptureMode thread_mode;
	CUresult result;
};

static void *call_it(void *arg)
{
	struct caller *c = arg;
	CUstreamCaptureMode mode = c->thread_mode;

	CK(cuCtxSetCurrent(tk_context));
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	c->result = c->call(c->scene);
	CK(cuThreadExchangeStreamCaptureMode(&mode));
	return NULL;
}

static void call_in_thread(struct caller *c)
{
	pthread_t thread;

	REQUIRE(!pthread_create(&thread, NULL, call_it, c));
	pthread_join(thread, NULL);
}

static const char *const mode_names[] = {"global", "thread-local", "relaxed"};

struct setting {
	CUstreamCaptureMode mode, thread_mode;
	int other_thread;
	unsigned stream_flags;
};

static void try_call(const char *name, capture_call *call, const struct setting *how)
{
	struct capture_scene s;
	struct caller caller = {call, &s, how->thread_mode, CUDA_SUCCESS};
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph graph = NULL;
	char topic[200];

	capture_scene_open(&s, how->stream_flags);
	CK(cuStreamBeginCapture(s.captured, how->mode));
	if (how->other_thread)
		call_in_thread(&caller);
	else
		call_it(&caller);
	cuStreamIsCapturing(s.captured, &status);
	snprintf(topic, sizeof(topic), "%s capture%s, %s%s%s", mode_names[how->mode],
		 how->stream_flags ? "" : " of a blocking stream", how->other_thread ? "from another thread, " : "",
		 how->thread_mode ? mode_names[how->thread_mode] : "", how->thread_mode ? " mode, " : "");
	fact(code(caller.result), "%s%s", topic, name);
	fact(status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "goes on" : "lost", "%s%s, the capture", topic, name);
	if (!cuStreamEndCapture(s.captured, &graph) && graph)
		CK(cuGraphDestroy(graph));
	capture_scene_close(&s);
}

static void try_all(const struct setting *how)
{
	for (unsigned i = 0; i < sizeof(capture_table) / sizeof(capture_table[0]); i++)
		try_call(capture_table[i].name, capture_table[i].call, how);
}

static void capture_facts(void)
{
	const CUstreamCaptureMode global = CU_STREAM_CAPTURE_MODE_GLOBAL, local = CU_STREAM_CAPTURE_MODE_THREAD_LOCAL,
				  relaxed = CU_STREAM_CAPTURE_MODE_RELAXED;
	const struct setting settings[] = {
	    {global, global, 0, CU_STREAM_NON_BLOCKING},  {local, global, 0, CU_STREAM_NON_BLOCKING},
	    {relaxed, global, 0, CU_STREAM_NON_BLOCKING}, {global, relaxed, 0, CU_STREAM_NON_BLOCKING},
	    {global, global, 1, CU_STREAM_NON_BLOCKING},  {local, global, 1, CU_STREAM_NON_BLOCKING},
	    {global, local, 1, CU_STREAM_NON_BLOCKING},   {global, relaxed, 1, CU_STREAM_NON_BLOCKING},
	    {global, global, 0, CU_STREAM_DEFAULT},       {relaxed, relaxed, 0, CU_STREAM_DEFAULT},
	};

	for (unsigned i = 0; i < sizeof(settings) / sizeof(settings[0]); i++)
		try_all(&settings[i]);
}

#endif
