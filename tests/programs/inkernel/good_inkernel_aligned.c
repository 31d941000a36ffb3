/* Buffers at multiples of powers of two up to a page: where they should be, as large, and the program's to the last
 * byte. */
#include "inkernel.h"

int main(void)
{
	long long one = 1, sizes[] = {0, 1, 100, 5000, 40000};
	CUdeviceptr bad = ik_counter(), why = ik_counter(), p = ik_array(1);
	int answers = 0;
	uint64_t at;

	for (long long align = 1; align <= 4096; align *= 2)
		for (unsigned i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
			tk_launch(ik_kernel("d_aligned"), 1, 1, NULL, TK_ARGS(&p, &align, &sizes[i], &why));
			answers += ik_count(why);
			ik_addresses(p, 1, &at);
			REQUIRE(at && at % 16 == 0 && at % (uint64_t)align == 0);
			tk_launch(ik_kernel("d_fill"), 1, 1, NULL, TK_ARGS(&p, &one, &sizes[i]));
			tk_launch(ik_kernel("d_check"), 1, 1, NULL, TK_ARGS(&p, &one, &sizes[i], &bad));
			ik_free(p, 1, 0);
		}
	printf("bytes gone: %d, refused: %d\n", ik_count(bad), answers);
}
