// needs: cuCtxCreate_v4
// options: backend=fence:faults=exact:fence_side=end
// says: (in kernel [a-z0-9_]+, |inlined )at .*kernels\.cu:[0-9]+$
// case: bad_fence_store_and_leave past("fault_store", SMALL, 0) => gpu-fault; suspect: fault_store
// case: bad_fence_add past("fault_add", SMALL, 0) => gpu-fault; suspect: fault_add
/* The warp has left before its fault is noticed, and with it the address: the line is named, and not the buffer. */
#define BUG true
#define FAULTS true
#include "fencing.h"

int main(void)
{
	CASE;
}
