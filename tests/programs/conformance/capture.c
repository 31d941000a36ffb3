/* Stream capture: what every call does to it, by mode, thread and kind of stream. */
#include "calls.h"

/* Who makes the call, in which exchange mode. */
struct caller {
	scene_call *call;
	struct scene *scene;
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

static const char *const mode_names[] = {"global", "thread-local", "relaxed"};

struct setting {
	CUstreamCaptureMode mode, thread_mode;
	int other_thread;
	unsigned stream_flags;
};

static void try_call(const struct capture_call *call, const struct setting *how)
{
	struct scene s;
	struct caller caller = {call->call, &s, how->thread_mode, CUDA_SUCCESS};
	CUstreamCaptureStatus status = CU_STREAM_CAPTURE_STATUS_NONE;
	CUgraph graph = NULL;
	char topic[200];

	scene_open(&s, how->stream_flags);
	CK(cuStreamBeginCapture(s.at_hand, how->mode));
	if (how->other_thread)
		tk_in_a_thread(call_it, &caller);
	else
		call_it(&caller);
	cuStreamIsCapturing(s.at_hand, &status);
	snprintf(topic, sizeof(topic), "%s capture%s, %s%s%s", mode_names[how->mode],
		 how->stream_flags ? "" : " of a blocking stream", how->other_thread ? "from another thread, " : "",
		 how->thread_mode ? mode_names[how->thread_mode] : "", how->thread_mode ? " mode, " : "");
	fact(code(caller.result), "%s%s", topic, call->name);
	fact(status == CU_STREAM_CAPTURE_STATUS_ACTIVE ? "goes on" : "lost", "%s%s, the capture", topic, call->name);
	if (!cuStreamEndCapture(s.at_hand, &graph) && graph)
		CK(cuGraphDestroy(graph));
	scene_close(&s);
}

void capture_facts(void)
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
		for (const struct capture_call *c = capture_calls; c->name; c++)
			try_call(c, &settings[i]);
}
