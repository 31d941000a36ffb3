// case: bad_copy_to_device cuMemcpyHtoD(p, host, 4001)
// case: bad_copy_to_host cuMemcpyDtoH(host, p + 100, 3901)
// case: bad_copy_async cuMemcpyHtoDAsync(p + 3999, host, 2, NULL)
// case: bad_copy_native cuMemcpyDtoH(host, p + 100, 3901) => api-out-of-bounds size 4000; options: backend=native
// case: bad_memset cuMemsetD8(p, 7, 4096)
// case: bad_memset_words cuMemsetD32(p, 7, 1001)
// expect: api-out-of-bounds size 4000 in make_buffer
/*
 * A copy one byte too long, from inside the buffer to past its end, or of two bytes to the last one; a fill of the
 * rounded size, and of a word too many. The driver refuses each, as it does natively; the report says why, of a buffer
 * that is not guarded, too.
 */
#include "make_buffer.h"

static TK_UNUSED char host[8192];

int main(void)
{
	CUdeviceptr p = make_buffer(4000);

	EXPECT(CASE, CUDA_ERROR_INVALID_VALUE);
	CK(cuMemFree(p));
}
