// case: good_pool_looked_at_early early
// case: good_pool_freed_behind_nothing behind_nothing
// case: good_pool_freed_while_looked_at freed
// options: max_overhead=100
// sim-env: SIM_STALL=cuMemcpyDtoHAsync_v2:1:80
// guarded: no
/* What comes behind a buffer's end is there once its stream has come so far, and is the next tenant's in the end: who
 * looks sooner or later finds something else, and nothing is wrong. */
#include "pooled.h"

enum { NEXT_SIZE = SIZE + 400 };

static CUstream home;

/* While the stream is held up, nothing of the buffer's has happened yet. */
static CUdeviceptr held_up(volatile int **flag)
{
	CUdeviceptr p;

	*flag = hold(home);
	p = make_pooled(SIZE, home);
	flip_end(p, SIZE, home, 0);
	tk_sleep_ms(150);
	return p;
}

static TK_UNUSED void early(void)
{
	volatile int *flag;
	CUdeviceptr p = held_up(&flag);

	*flag = 1;
	CK(cuMemFreeAsync(p, home));
}

/* A bug of the program's, but no overflow. */
static TK_UNUSED void behind_nothing(void)
{
	CUstream other = tk_stream();
	cuuint64_t all = UINT64_MAX;
	volatile int *flag;
	CUdeviceptr p = held_up(&flag);

	/* Nothing is given back. */
	CK(cuMemPoolSetAttribute(default_pool(), CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &all));
	CK(cuMemFreeAsync(p, other));
	CK(cuStreamSynchronize(other));
	tk_sleep_ms(50);
	*flag = 1;
}

static TK_UNUSED void freed(void)
{
	CUdeviceptr p = make_pooled(SIZE, home);

	flip_end(p, SIZE, home, 0);
	CK(cuStreamSynchronize(home));
	tk_sleep_ms(40);
	CK(cuMemFreeAsync(p, home));
	p = make_pooled(NEXT_SIZE, home);
	CK(cuMemsetD8Async(p, 7, NEXT_SIZE, home));
	CK(cuStreamSynchronize(home));
	tk_sleep_ms(100);
	CK(cuMemFreeAsync(p, home));
}

int main(void)
{
	home = tk_stream();
	tk_spin(home, 0);
	tk_sync();
	CASE();
	tk_sync();
	puts("done");
}
