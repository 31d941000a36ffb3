/* Sizes that no memory has and kernels are told so, products that are none, and then one that is possible. */
#include "inkernel.h"

static int is_null(CUdeviceptr p)
{
	uint64_t at;

	ik_addresses(p, 1, &at);
	return !at;
}

enum { IMPOSSIBLE = 2 }; /* GMOD_IMPOSSIBLE */

/* What whyN says of a size; 0: there was memory. */
static int why(unsigned long long align, unsigned long long size)
{
	CUdeviceptr answer = ik_counter(), p = ik_array(1);

	tk_launch(ik_kernel("d_aligned"), 1, 1, NULL, TK_ARGS(&p, &align, &size, &answer));
	ik_free(p, 1, 0);
	return ik_count(answer);
}

int main(void)
{
	static const unsigned long long sizes[] = {1ull << 46,      1ull << 48,      1ull << 62,     1ull << 63,
						   UINT64_MAX - 40, UINT64_MAX - 24, UINT64_MAX - 8, UINT64_MAX};
	static const unsigned long long products[][2] = {
	    {UINT64_MAX, 2}, {1ull << 32, 1ull << 32}, {UINT64_MAX / 8 + 2, 8}, {3, UINT64_MAX / 2}, {1ull << 46, 1}};
	long long one = 1, larger = (long long)(UINT64_MAX - 100), size = 100;
	CUdeviceptr p;
	int nulls = 0, huge;
	CUdeviceptr bad = ik_counter();

	for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		nulls += is_null(ik_alloc(1, (long long)sizes[i]));
	for (unsigned i = 0; i < sizeof(products) / sizeof(*products); i++) {
		CK(cuMemAlloc(&p, sizeof(void *)));
		tk_launch(ik_kernel("d_calloc"), 1, 1, NULL,
			  TK_ARGS(&p, &one, (void *)&products[i][0], (void *)&products[i][1]));
		nulls += is_null(p);
	}
	REQUIRE(why(16, 100) == 0 && why(24, 100) == IMPOSSIBLE && why(16, UINT64_MAX - 40) == IMPOSSIBLE);
	huge = why(16, 1ull << 46);
	REQUIRE(!gmod_findings_seen || huge == IMPOSSIBLE);
	REQUIRE(!gmod_findings_seen || nulls == 13); /* CUDA's own malloc answers for itself */
	p = ik_alloc(1, size);
	tk_launch(ik_kernel("d_fill"), 1, 1, NULL, TK_ARGS(&p, &one, &size));
	tk_launch(ik_kernel("d_realloc"), 1, 1, NULL, TK_ARGS(&p, &one, &larger));
	tk_launch(ik_kernel("d_check"), 1, 1, NULL, TK_ARGS(&p, &one, &size, &bad));
	ik_free(p, 1, 0);
	printf("bytes gone: %d\n", ik_count(bad));
}
