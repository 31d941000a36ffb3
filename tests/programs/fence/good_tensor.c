// options: backend=fence:faults=exact:fence_side=end
// guarded: some
// ledger: the addresses stay reserved, and blocks rest for the next buffer of their size
// case: good_tensor_past tensor_past("fault_read", SMALL, -4)
// case: good_tensor_store tensor_past("fault_stay", SMALL, -4)
// case: good_tensor_far tensor_past("fault_read", SMALL, -4)
// case: good_tensor_large tensor_past("fault_read", 5 << 20, -4)
// case: good_tensor_before tensor_before("fault_read", 0) => options: backend=fence:faults=exact:fence_side=start
// case: good_tensor_of_a_pool tensor_of_a_pool()
// case: good_tensor_of_no_stream tensor_of_no_stream()
// case: good_tensor_freed_behind tensor_freed_behind()
// case: good_tensor_freed_behind_warp tensor_freed_behind_warp()
// case: good_tensor_trimmed trimmed()
// case: good_tensor_device_is_short device_is_short(1) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_mb=1024; sim-env: SIM_MEMORY=268435456; skip-on: gpu
// case: good_tensor_beyond_the_cap beyond_the_cap() => options: backend=fence:faults=exact:fence_side=end:fence_mb=6
// case: good_tensor_threads tensors_of_threads()
// case: good_tensor_context_ends tensor_context_ends()
// case: good_tensor_primary_reset primary_reset()
// case: good_tensor_same_stream same_stream()
// case: good_tensor_other_stream other_stream()
// case: good_tensor_filled filled()
// case: good_tensor_given given_and_taken_over()
// case: good_tensor_freeing_stream freeing_stream()
// case: good_tensor_ended_stream ended_stream()
// case: good_tensor_threads_own threads_own() => skip-on: gpu
// case: good_tensor_freed_plainly freed_plainly()
// case: good_tensor_freed_in_legacy freed_in_legacy()
// case: good_tensor_freed_behind_legacy freed_behind_legacy()
// case: good_tensor_pool_keeps pool_keeps()
// case: good_tensor_many many()
// case: good_tensor_pool_exported pool_exported() => guarded: no
// case: good_tensor_pool_opened pool_opened(0) => devices: 2
// case: good_tensor_pool_opened_first pool_opened(1) => guarded: no; devices: 2;
//    options: backend=fence:faults=exact:max_overhead=0
// case: good_tensor_freed_twice freed_twice()
// case: good_tensor_in_a_capture pool_in_a_capture()
// case: good_tensor_taken_over tensor_taken_over()
// case: good_tensor_attributes pool_attributes()
/* The healthy twins of bad_tensor*.c end as they do natively. */
#define BUG false
#define FAULTS false
#include "tensor_pools.h"

int main(void)
{
	CASE;
}
