// skip-on: gpu
// sim-env: SIM_MEMORY=1073741824
// guarded: some
/*
 * One thread takes most of the device and gives it back, over and over, and another asks for more than there is. A
 * third one finds room for a few MiB at any time, and is told of all that nobody has. A real device is shared.
 */
#include "testkit.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { ROUNDS = 400 };

static size_t free_at_first, total;
static atomic_bool over;

static void take_most(void)
{
	size_t most = free_at_first / 10 * 6;
	CUdeviceptr p;

	while (!over) {
		CK(cuMemAlloc(&p, most));
		CK(cuMemFree(p));
	}
}

static void ask_for_too_much(void)
{
	CUdeviceptr p;

	while (!over)
		EXPECT(cuMemAlloc(&p, 2 * total), CUDA_ERROR_OUT_OF_MEMORY);
}

static void ask_for_a_few(void)
{
	int refused = 0, too_little = 0;
	size_t now, all;
	CUdeviceptr p;

	for (int i = 0; i < ROUNDS; i++) {
		CK(cuMemGetInfo(&now, &all));
		too_little += now < free_at_first / 10 * 3;
		if (cuMemAlloc(&p, i % 2 ? 1 << 20 : 4 << 20) == CUDA_SUCCESS)
			CK(cuMemFree(p));
		else
			refused++;
	}
	over = true;
	printf("refused %d times, too little free %d times\n", refused, too_little);
}

static void *play(void *arg)
{
	static void (*const parts[])(void) = {take_most, ask_for_too_much, ask_for_a_few};

	CK(cuCtxSetCurrent(tk_context));
	parts[(uintptr_t)arg]();
	return NULL;
}

int main(void)
{
	tk_start();
	CK(cuMemGetInfo(&free_at_first, &total));
	tk_in_threads(3, play);
}
