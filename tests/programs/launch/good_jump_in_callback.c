/* A host function is interrupted by a signal whose handler jumps back into it, past the frames in between. */
#include "testkit.h"
#include <setjmp.h>
#include <signal.h>

static sigjmp_buf back;
static int jumps;

static void leap(int signal TK_UNUSED)
{
	siglongjmp(back, 1);
}

static void callback(void *unused TK_UNUSED)
{
	if (sigsetjmp(back, 1) == 0)
		raise(SIGUSR1);
	else
		jumps++;
}

int main(void)
{
	struct sigaction action = {.sa_handler = leap};
	CUstream stream;
	CUdeviceptr p;

	sigaction(SIGUSR1, &action, NULL);
	tk_start();
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 5; i++) {
		CK(cuMemAlloc(&p, 1000));
		tk_flip_on(stream, p, 0, 1000);
		CK(cuLaunchHostFunc(stream, callback, NULL));
		CK(cuMemFree(p));
	}
	CK(cuStreamSynchronize(stream));
	printf("%d jumps\n", jumps);
}
