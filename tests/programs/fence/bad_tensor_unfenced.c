// options: backend=fence:faults=exact:fence_side=end
// case: bad_tensor_same_stream same_stream() => 0 x gpu-fault
// case: bad_tensor_other_stream other_stream() => 0 x gpu-fault
// case: bad_tensor_filled filled() => 0 x gpu-fault
// case: bad_tensor_freeing_stream freeing_stream() => 0 x gpu-fault
// case: bad_tensor_ended_stream ended_stream() => 0 x gpu-fault
// case: bad_tensor_threads_own threads_own() => 0 x gpu-fault
// case: bad_tensor_freed_plainly freed_plainly() => 0 x gpu-fault
// case: bad_tensor_short_unwaited device_is_short(0) =>
//    0 x gpu-fault; options: backend=fence:faults=exact:fence_side=end:fence_mb=1024; sim-env: SIM_MEMORY=268435456;
//    skip-on: gpu
// case: bad_tensor_many many() => 0 x gpu-fault
// case: bad_tensor_pool_exported pool_exported() => 0 x gpu-fault
// case: bad_tensor_pool_opened pool_opened(0) => 0 x gpu-fault; devices: 2
// case: bad_tensor_pool_opened_first pool_opened(1) =>
//    0 x gpu-fault; devices: 2; options: backend=fence:faults=exact:max_overhead=0
// case: bad_tensor_freed_twice freed_twice() => double-free size 4096 in make_pooled
// case: bad_tensor_in_a_capture pool_in_a_capture() =>
//    heap-buffer-overflow size 4096 offset +0 in make_pooled;
//    options: backend=fence:faults=exact:fence_side=end:max_overhead=100;
//    suspect: k_flip
/* Which block is whose next, which the program requires; and what has no fence. */
#define BUG true
#define FAULTS false
#include "tensor_pools.h"

int main(void)
{
	CASE;
}
