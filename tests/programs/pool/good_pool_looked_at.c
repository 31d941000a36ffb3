// case: good_pool_looked_at_early early
// case: good_pool_freed_behind_nothing behind_nothing
// case: good_pool_freed_while_looked_at freed
// case: good_pool_freed_beside_slow_look slow => sim-env: SIM_STALL=copy:1:700
// case: good_pool_freed_plainly_beside_slow_look slow_plainly => sim-env: SIM_STALL=copy:1:700
// case: good_pool_freed_elsewhere_beside_slow_look slow_elsewhere => devices: 2; sim-env: SIM_STALL=copy:1:700
// case: good_pool_slow_answer slow_answer => sim-env: SIM_STALL=copy:1:5600,copy:1:100
// options: max_overhead=100
// sim-env: SIM_STALL=cuMemcpyDtoHAsync_v2:1:120
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

/* The pages go as soon as the pool may let go of them. */
static TK_UNUSED void give_back(void)
{
	CK(cuStreamSynchronize(home));
	CK(cuMemPoolTrimTo(default_pool(), 0));
}

static TK_UNUSED void freed(void)
{
	CUdeviceptr p = make_pooled(SIZE, home);

	flip_end(p, SIZE, home, 0);
	CK(cuStreamSynchronize(home));
	tk_sleep_ms(60);
	CK(cuMemFreeAsync(p, home));
	give_back();
	tk_sleep_ms(160);
	p = make_pooled(NEXT_SIZE, home);
	CK(cuMemsetD8Async(p, 7, NEXT_SIZE, home));
	CK(cuStreamSynchronize(home));
	tk_sleep_ms(100);
	CK(cuMemFreeAsync(p, home));
}

/* Nobody who frees waits for a look, and the memory does not go under it. */
static CUdeviceptr looked_at(void)
{
	CUdeviceptr p = make_pooled(SIZE, home);

	flip_end(p, SIZE, home, 0);
	CK(cuStreamSynchronize(home));
	tk_sleep_ms(150);
	return p;
}

#define AT_ONCE(call) \
	do { \
		double began = tk_ms(); \
		CK(call); \
		REQUIRE(tk_ms() - began < 300); \
	} while (0)

static TK_UNUSED void slow(void)
{
	CUdeviceptr p = looked_at();

	AT_ONCE(cuMemFreeAsync(p, home));
	give_back();
	tk_sleep_ms(800);
}

static TK_UNUSED void slow_plainly(void)
{
	CUdeviceptr p = looked_at();

	AT_ONCE(cuMemFree(p));
	give_back();
	tk_sleep_ms(800);
}

/* In the default stream of another device. */
static TK_UNUSED void slow_elsewhere(void)
{
	CUdeviceptr p = looked_at();
	CUmemoryPool pool = default_pool();
	CUcontext other;

	if (tk_init() < 2)
		tk_skip("two devices are wanted");
	CK(tk_create_context(&other, 1));
	AT_ONCE(cuMemFreeAsync(p, NULL));
	CK(cuStreamSynchronize(NULL));
	CK(cuMemPoolTrimTo(pool, 0));
	tk_sleep_ms(800);
	CK(cuCtxSetCurrent(tk_context));
}

/* An answer that comes after 5 s is not the next one's, of a buffer beside it. */
static TK_UNUSED void slow_answer(void)
{
	CUdeviceptr p = make_pooled(SIZE, home), q = make_pooled(NEXT_SIZE, home);

	flip_end(p, SIZE, home, 0);
	flip_end(q, NEXT_SIZE, home, 0);
	CK(cuStreamSynchronize(home));
	tk_sleep_ms(6200);
	CK(cuMemFreeAsync(p, home));
	CK(cuMemFreeAsync(q, home));
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
