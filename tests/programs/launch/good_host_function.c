/* Functions of the program, called in stream order between kernels. */
#include "testkit.h"

static volatile unsigned char *result;
static int seen[5], calls;

static void note(void *unused TK_UNUSED)
{
	seen[calls++] = result[999];
}

int main(void)
{
	CUstream stream;
	CUdeviceptr p = tk_alloc(4000);
	void *host = tk_pinned(1000);

	memset(host, 0, 1000);
	result = host;
	CK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
	for (int i = 0; i < 5; i++) {
		tk_flip_on(stream, (CUdeviceptr)host, 0, 1000);
		CK(cuLaunchHostFunc(stream, note, NULL));
	}
	CK(cuStreamSynchronize(stream));
	for (int i = 0; i < calls; i++)
		printf("%#x\n", seen[i]);
	CK(cuStreamDestroy(stream));
	CK(cuMemFreeHost(host));
	CK(cuMemFree(p));
}
