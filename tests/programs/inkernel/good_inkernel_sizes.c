/*
 * Buffers of each size from 0 to 300 bytes: aligned, apart from each other, of the size that was asked for, and the
 * program's to the last byte.
 */
#include "inkernel.h"

enum { SIZES = 301 };

static int by_address(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

int main(void)
{
	long long count = 1, size, all = SIZES, said[SIZES];
	uint64_t at[SIZES][2];
	CUdeviceptr bad = ik_counter();
	CUdeviceptr p = ik_alloc_sizes(SIZES, 0, 1), sizes = tk_alloc(sizeof(said));

	for (int i = 0; i < SIZES; i++) {
		CUdeviceptr one = p + (size_t)i * sizeof(void *);

		size = i;
		tk_launch(ik_kernel("d_fill"), 1, 1, NULL, TK_ARGS(&one, &count, &size));
		ik_addresses(one, 1, at[i]);
		REQUIRE(at[i][0] % 16 == 0 && (at[i][0] || !i));
		at[i][1] = (uint64_t)i;
	}
	for (int i = 0; i < SIZES; i++) {
		CUdeviceptr one = p + (size_t)i * sizeof(void *);

		size = i;
		tk_launch(ik_kernel("d_check"), 1, 1, NULL, TK_ARGS(&one, &count, &size, &bad));
	}
	tk_launch_n(ik_kernel("d_size"), SIZES, NULL, TK_ARGS(&p, &all, &sizes));
	tk_sync();
	CK(cuMemcpyDtoH(said, sizes, sizeof(said)));
	for (int i = 0; i < SIZES; i++)
		REQUIRE(said[i] == i);
	ik_free(p, SIZES, 0);
	qsort(at, SIZES, sizeof(at[0]), by_address);
	for (int i = 1; i < SIZES; i++)
		REQUIRE(at[i - 1][0] + at[i - 1][1] <= at[i][0]);
	printf("bytes gone: %d\n", ik_count(bad));
}
