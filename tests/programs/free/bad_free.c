// case: bad_double_free twice => double-free size 4000 in make_buffer
// case: bad_double_free_host pinned_twice => double-free size 4000 in make_pinned
// case: bad_double_free_of_three of_three => double-free size 2000 in make_buffer
// case: bad_double_free_reused reused => double-free size 3000 in make_buffer
// case: bad_double_free_beside beside => double-free size 3000 in make_buffer
// case: bad_free_by_other_call by_other_call => 2 x invalid-free size 3000
// case: bad_free_foreign foreign => invalid-free in give_back
// case: bad_free_host_foreign from_malloc => invalid-free in give_back_host
// case: bad_free_inside_freed inside_freed => invalid-free in give_back
// case: bad_free_interior interior => invalid-free size 4000 in make_buffer
/* The driver's own answer reaches the program. */
#include "make_buffer.h"
#include <stdatomic.h>

static TK_UNUSED void twice(void)
{
	CUdeviceptr p = make_buffer(4000);

	CK(cuMemFree(p));
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

static TK_UNUSED void pinned_twice(void)
{
	void *host = make_pinned(4000);

	CK(cuMemFreeHost(host));
	EXPECT(cuMemFreeHost(host), CUDA_ERROR_INVALID_VALUE);
}

/* The one in the middle, of neighbours that are all gone. */
static TK_UNUSED void of_three(void)
{
	CUdeviceptr p[3];

	for (int i = 0; i < 3; i++)
		p[i] = make_buffer(1000 * (i + 1));
	for (int i = 0; i < 3; i++)
		CK(cuMemFree(p[i]));
	EXPECT(cuMemFree(p[1]), CUDA_ERROR_INVALID_VALUE);
}

/* Of two that had the same address the second. */
static TK_UNUSED void reused(void)
{
	CUdeviceptr p;

	CK(cuMemFree(make_buffer(1000)));
	p = make_buffer(3000);
	CK(cuMemFree(p));
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

static TK_UNUSED atomic_int frees;

static TK_UNUSED void *free_it(void *p)
{
	CK(cuCtxSetCurrent(tk_context));
	frees = 1;
	CK(cuMemFree((CUdeviceptr)p));
	return NULL;
}

/* While another thread frees it; one that had its address before is not the one. */
static TK_UNUSED void beside(void)
{
	CUdeviceptr p;
	pthread_t thread;

	CK(cuMemFree(make_buffer(1000)));
	p = make_buffer(3000);
	tk_spin(NULL, 200);
	thread = tk_begin_thread(free_it, (void *)p);
	while (!frees)
		tk_sleep_ms(1);
	tk_sleep_ms(50);
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
	tk_end_thread(thread);
}

/* It lives, whatever has been freed at its address before. */
static TK_UNUSED void by_other_call(void)
{
	void *host;
	CUdeviceptr p;

	CK(cuMemFree(make_buffer(1000)));
	p = make_buffer(3000);
	EXPECT(cuMemFreeHost((void *)p), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
	CK(cuMemFreeHost(make_pinned(1000)));
	host = make_pinned(3000);
	EXPECT(cuMemFree((CUdeviceptr)host), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFreeHost(host));
}

EXPORTED TK_UNUSED void give_back(CUdeviceptr p)
{
	EXPECT(cuMemFree(p), CUDA_ERROR_INVALID_VALUE);
}

/* A pointer the driver never handed out. */
static TK_UNUSED void foreign(void)
{
	static int not_the_drivers;

	give_back((CUdeviceptr)&not_the_drivers);
}

/* No buffer began there. */
static TK_UNUSED void inside_freed(void)
{
	CUdeviceptr p = make_buffer(4000);

	CK(cuMemFree(p));
	give_back(p + 512);
}

EXPORTED TK_UNUSED void give_back_host(void *p)
{
	EXPECT(cuMemFreeHost(p), CUDA_ERROR_INVALID_VALUE);
}

static TK_UNUSED void from_malloc(void)
{
	char *p = malloc(100);

	strcpy(p, "still here");
	give_back_host(p);
	REQUIRE(!strcmp(p, "still here"));
	free(p);
}

/* A pointer into a buffer; the buffer itself stays usable. */
static TK_UNUSED void interior(void)
{
	CUdeviceptr p = make_buffer(4000);

	EXPECT(cuMemFree(p + 512), CUDA_ERROR_INVALID_VALUE);
	CK(cuMemsetD8(p, 1, 4000));
	CK(cuMemFree(p));
}

int main(void)
{
	tk_start();
	CASE();
}
