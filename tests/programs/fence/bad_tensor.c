// options: backend=fence:faults=exact:fence_side=end
// needs: cuCtxCreate_v4
// says: gpu-fault: illegal address: (read|write) of [0-9]+ bytes, .* (past the end|before the start|inside)
// case: bad_tensor_past tensor_past("fault_read", SMALL, 0) =>
//    gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_store tensor_past("fault_stay", SMALL, 0) =>
//    gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_stay; skip-on: gpu
// case: bad_tensor_far tensor_past("fault_read", SMALL, 1 << 20) =>
//    gpu-fault size 4096 offset +1048576 in make_pooled; suspect: fault_read
// case: bad_tensor_large tensor_past("fault_read", 5 << 20, 0) =>
//    gpu-fault size 5242880 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_before tensor_before("fault_read", -4) =>
//    gpu-fault size 4096 offset -4 in make_pooled; suspect: fault_read;
//    options: backend=fence:faults=exact:fence_side=start
// case: bad_tensor_of_a_pool tensor_of_a_pool() => gpu-fault size 4096 offset +0 in make_from; suspect: fault_read
// case: bad_tensor_of_no_stream tensor_of_no_stream() =>
//    gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_freed_behind tensor_freed_behind() =>
//    gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_freed_behind_warp tensor_freed_behind_warp() =>
//    gpu-fault size 18432 offset +0 in make_pooled; suspect: k_stencil
// case: bad_tensor_trimmed trimmed() => gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_device_is_short device_is_short(1) =>
//    gpu-fault size 10485760 offset +0 in make_pooled; suspect: fault_read;
//    options: backend=fence:faults=exact:fence_side=end:fence_mb=1024; sim-env: SIM_MEMORY=268435456; skip-on: gpu
// case: bad_tensor_beyond_the_cap beyond_the_cap() =>
//    gpu-fault size 2101248 offset +0 in make_pooled; suspect: fault_read;
//    options: backend=fence:faults=exact:fence_side=end:fence_mb=6
// case: bad_tensor_threads tensors_of_threads() => gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_context_ends tensor_context_ends() =>
//    gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_primary_reset primary_reset() => gpu-fault size 4096 offset +0 in make_pooled; suspect: fault_read
// case: bad_tensor_given given_and_taken_over() => gpu-fault size 1048576 offset +0 in make_pooled;
//    suspect: k_read_wide
// case: bad_tensor_taken_over tensor_taken_over() => gpu-fault offset +0 in make_pooled; suspect: fault_read
/* Kernels go beyond a buffer in stream order, of which the report says where it was allocated. */
#define BUG true
#define FAULTS true
#include "tensor_pools.h"

int main(void)
{
	CASE;
}
