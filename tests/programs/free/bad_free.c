// case: bad_double_free twice => double-free size 4000 in make_buffer
// case: bad_double_free_host pinned_twice => double-free size 4000 in make_pinned
// case: bad_free_foreign foreign => invalid-free in give_back
// case: bad_free_host_foreign from_malloc => invalid-free in give_back_host
// case: bad_free_interior interior => invalid-free size 4000 in make_buffer
/* The driver's own answer reaches the program. */
#include "make_buffer.h"

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
