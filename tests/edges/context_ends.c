/*
 * context_ends WHAT: a context ends in one thread while another one does something in it that takes long (the simulator
 * stalls it). Afterwards the program goes on in a new context.
 *
 *   release     the other thread has released the primary context before, and is overtaken
 *   retain      the other thread retains the primary context anew before anybody has looked what has become of it
 *   allocate    the other thread allocates
 *   free        the other thread frees: its buffer is gone
 */
#include "make_buffer.h"

static CUdeviceptr buffer;
static CUcontext context;

static void *release(void *unused)
{
	CK(cuDevicePrimaryCtxRelease(tk_device));
	return unused;
}

static void *retain(void *unused)
{
	tk_sleep_ms(100);
	CK(cuDevicePrimaryCtxRetain(&context, tk_device));
	return unused;
}

/* What they are told depends on who is first. */
static void *allocate(void *unused)
{
	CK(cuCtxSetCurrent(context));
	cuMemAlloc(&buffer, 1 << 20);
	return unused;
}

static void *free_it(void *unused)
{
	CK(cuCtxSetCurrent(tk_context));
	cuMemFree(buffer);
	return unused;
}

static void end_beside(void *(*other)(void *), CUresult (*end)(CUdevice))
{
	pthread_t thread = tk_begin_thread(other, NULL);

	if (other != retain)
		tk_sleep_ms(100);
	CK(end(tk_device));
	tk_end_thread(thread);
}

static CUresult destroy(CUdevice unused TK_UNUSED)
{
	return cuCtxDestroy(context);
}

static void fill(void)
{
	for (int i = 0; i < 4; i++)
		buffer = make_buffer(1000);
	make_buffer(5 << 20);
	make_managed(3000);
	make_pinned(100);
}

static void go_on(void)
{
	size_t there, total;
	CUdeviceptr p;

	for (int i = 0; i < 20; i++) {
		p = make_buffer(i % 2 ? 1000 : 5 << 20);
		CK(cuMemsetD8(p, 1, 1000));
		tk_sleep_ms(10);
		CK(cuMemFree(p));
	}
	CK(cuMemGetInfo(&there, &total));
	printf("%s free\n", there > total / 2 ? "much" : "little");
}

int main(int argc, char **argv)
{
	const char *what = argc == 2 ? argv[1] : "";

	tk_init();
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	context = tk_context;
	if (!strcmp(what, "free")) {
		CK(cuCtxCreate(&context, NULL, 0, tk_device));
		fill();
		end_beside(free_it, destroy);
	} else {
		fill();
		if (!strcmp(what, "release")) {
			CK(cuDevicePrimaryCtxRetain(&context, tk_device));
			end_beside(release, cuDevicePrimaryCtxRelease);
		} else if (!strcmp(what, "retain")) {
			end_beside(retain, cuDevicePrimaryCtxRelease);
		} else {
			REQUIRE(!strcmp(what, "allocate"));
			end_beside(allocate, cuDevicePrimaryCtxReset);
		}
	}
	tk_sleep_ms(100);
	CK(cuDevicePrimaryCtxRetain(&context, tk_device));
	CK(cuCtxSetCurrent(context));
	go_on();
}
