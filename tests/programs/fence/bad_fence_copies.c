// options: backend=fence:faults=exact:fence_side=end
// case: bad_fence_copy_2d copy_2d() => api-out-of-bounds size 4096 offset +0 in make_buffer
// case: bad_fence_copy_3d copy_3d() => api-out-of-bounds size 4096 offset +0 in make_buffer
// case: bad_fence_fill fill() => api-out-of-bounds size 4096 offset +0 in make_buffer
// case: bad_fence_copy_before copy_before() => api-out-of-bounds size 4096 offset -4 in make_buffer;
//    options: backend=fence:faults=exact:fence_side=start
/* Copies and fills past the end, and from before the start: GMOD, or the driver, refuses them, and nothing is written.
 */
#define BUG true
#define FAULTS false
#include "fencing.h"

int main(void)
{
	CASE;
}
