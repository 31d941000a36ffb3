/*
 * who: a thread allocates, another one frees 0.2 s later, a third frees again 0.1 s after that. Prints who they were.
 * who kernel: likewise three kernels, of 200 threads in blocks of 128, after one buffer of the last block is overrun.
 */
#include "inkernel.h"
#include "make_buffer.h"

#include <sys/syscall.h>

static CUdeviceptr buffer;

static void say(void)
{
	CK(cuCtxSetCurrent(tk_context));
	printf("%ld ", syscall(SYS_gettid));
}

static void *allocate(void *unused TK_UNUSED)
{
	say();
	buffer = make_buffer(4000);
	return NULL;
}

static void *release(void *unused TK_UNUSED)
{
	say();
	CK(cuMemFree(buffer));
	return NULL;
}

static void *release_again(void *unused TK_UNUSED)
{
	say();
	EXPECT(cuMemFree(buffer), CUDA_ERROR_INVALID_VALUE);
	return NULL;
}

static void in_kernels(void)
{
	CUdeviceptr p = ik_alloc(200, 100);

	ik_flip(p, 128 + 34, 100, 1);
	ik_free(p, 200, 0);
	ik_free(p, 200, 0);
	tk_sync();
}

int main(int argc, char **argv TK_UNUSED)
{
	if (argc > 1) {
		in_kernels();
		return 0;
	}
	tk_start();
	tk_in_a_thread(allocate, NULL);
	tk_sleep_ms(200);
	tk_in_a_thread(release, NULL);
	tk_sleep_ms(100);
	tk_in_a_thread(release_again, NULL);
}
