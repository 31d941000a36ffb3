// needs: cuCtxCreate_v4
// options: backend=fence:faults=exact:fence_side=end
// suspect: k_flip
// case: bad_fence_slack flip(1000, 1000) => heap-buffer-overflow size 1000 offset +0 in make_buffer
// case: bad_fence_slack_16 flip(1000, 1004) => heap-buffer-overflow size 1000 offset +4 in make_buffer;
//    options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: bad_fence_slack_read past("fault_read", 1000, 0) => 0 x gpu-fault
// case: bad_fence_slack_read_16 read_16(4104, -8) => 0 x gpu-fault;
//    options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: bad_fence_other_side flip(SMALL, -4) => heap-buffer-underflow size 4096 offset -4 in make_buffer
// case: bad_fence_other_side_end flip(SMALL, SMALL) => heap-buffer-overflow size 4096 offset +0 in make_buffer;
//    options: backend=fence:faults=exact:fence_side=start
// case: bad_fence_other_side_read before("fault_read", SMALL, -4) => 0 x gpu-fault
// case: bad_fence_freed_unseen freed("fault_stay", SMALL, 0) => 0 x gpu-fault;
//    options: backend=fence:faults=exact:fence_side=end:fence_uaf=0
// case: bad_fence_freed_and_made_again freed_and_made_again() => 0 x gpu-fault;
//    options: backend=fence:faults=exact:fence_side=end:fence_uaf=0
// case: bad_fence_made_in_a_capture made_in_a_capture() => heap-buffer-overflow size 4096 offset +0 in make_buffer
// case: bad_fence_peers_first peers_first() => heap-buffer-overflow size 4096 offset +0 in make_buffer; devices: 2
// case: bad_fence_peers_later peers_later() => 0 x gpu-fault; devices: 2
// case: bad_fence_last_of_three last_of_three() => heap-buffer-overflow size 1002 offset +22 in make_buffer;
//    options: backend=fence:faults=exact:fence_mb=4
// case: bad_fence_small_site flip(SMALL, SMALL) => heap-buffer-overflow size 4096 offset +0 in make_buffer;
//    options: backend=fence:faults=exact:fence_sites=1
// case: bad_fence_made_by_nccl made_by_nccl() => heap-buffer-overflow size 4096 offset +0 in nccl_make_buffer
/*
 * What is no fault. Behind what fence_align leaves, at the side without a fence and where there is none, stores meet
 * canaries, and reads meet nothing. What rests for the next buffer of its size is that one's. A fence that peers had
 * closed is filled: what goes there does no harm, as natively.
 */
#define BUG true
#define FAULTS false
#include "fencing.h"

int main(void)
{
	CASE;
}
