// options: backend=fence:faults=exact:fence_side=end
// ledger: the addresses stay reserved, and blocks rest for the next buffer of their size
// case: good_fence_read past("fault_read", SMALL, -4)
// case: good_fence_store past("fault_stay", SMALL, -4)
// case: good_fence_read_16 read_16(SMALL, -16)
// case: good_fence_store_16 store_16(SMALL, -16)
// case: good_fence_before before("fault_read", SMALL, 0) => options: backend=fence:faults=exact:fence_side=start
// case: good_fence_before_store before("fault_stay", 100, 0) => options: backend=fence:faults=exact:fence_side=start
// case: good_fence_before_far before("fault_read", SMALL, 0) => options: backend=fence:faults=exact:fence_side=start
// case: good_fence_far past("fault_read", SMALL, -4)
// case: good_fence_far_store past("fault_stay", 3 << 20, -4)
// case: good_fence_freed freed("fault_read", SMALL, 0) => options: backend=fence:faults=exact:fence_uaf=1
// case: good_fence_freed_store freed("fault_stay", SMALL, 0) => options: backend=fence:faults=exact:fence_uaf=1
// case: good_fence_freed_first freed("fault_read", 5 << 20, 0)
// case: good_fence_freed_long_ago freed("fault_read", SMALL, 100) => options: backend=fence:faults=exact:fence_uaf=1
// case: good_fence_filled_and_freed filled_and_freed()
// case: good_fence_free_bytes free_bytes() => options: backend=fence:faults=exact:fence_uaf=1
// case: good_fence_odd_16 past("fault_read", 1000, -4) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: good_fence_odd_64 past("fault_stay", 1000, -4) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_align=100
// case: good_fence_odd_512 past("fault_stay", 1000, -4)
// case: good_fence_one_byte past("fault_read", 64, -4) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: good_fence_odd_large past("fault_read", 3000004, -4) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: good_fence_multiple past("fault_read", CHUNK, -4) => options: backend=fence:faults=exact:fence_side=start
// case: good_fence_multiple_before before("fault_read", CHUNK, 0)
// case: good_fence_span past("fault_read", 62 << 20, -4)
// case: good_fence_row_behind stencil(18, 1)
// case: good_fence_row_before stencil(18, 1) => options: backend=fence:faults=exact:fence_side=start
// case: good_fence_in_a_graph in_a_graph()
// case: good_fence_in_streams in_streams()
// case: good_fence_threads threads()
// case: good_fence_second_device second_device() => devices: 2
// case: good_fence_forked forked()
// case: good_fence_context_ends context_ends()
// case: good_fence_device_is_full device_is_full() => sim-env: SIM_MEMORY=134217728; skip-on: gpu; guarded: some
// case: good_fence_room_is_made room_is_made() => options: backend=fence:faults=exact:fence_mb=1024:fence_uaf=0;
//    sim-env: SIM_MEMORY=268435456; skip-on: gpu
// case: good_fence_room_is_made_for_others room_is_made_for_others() => guarded: some;
//    options: backend=fence:faults=exact:fence_mb=1024:fence_uaf=0; sim-env: SIM_MEMORY=268435456; skip-on: gpu
// case: good_fence_first_of_three first_of_three() => options: backend=fence:faults=exact:fence_side=end:fence_mb=4
// case: good_fence_pitched pitched()
// case: good_fence_attributes attributes()
// case: good_fence_exported exported() => differs: a buffer with a fence cannot be exported
// case: good_fence_large_site past("fault_read", CHUNK, -4) => options: backend=fence:faults=exact:fence_sites=1
// case: good_fence_by_chance by_chance() => options: backend=fence:faults=exact:fence_seed=7
// case: good_fence_slack flip(1000, 996)
// case: good_fence_slack_16 flip(1000, 996) => options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: good_fence_slack_read past("fault_read", 1000, -4)
// case: good_fence_slack_read_16 read_16(4112, -16) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: good_fence_other_side flip(SMALL, 0)
// case: good_fence_other_side_end flip(SMALL, SMALL - 4) => options: backend=fence:faults=exact:fence_side=start
// case: good_fence_other_side_read before("fault_read", SMALL, 0)
// case: good_fence_freed_unseen freed("fault_stay", SMALL, 0) =>
//    options: backend=fence:faults=exact:fence_side=end:fence_uaf=0
// case: good_fence_freed_and_made_again freed_and_made_again() =>
//    options: backend=fence:faults=exact:fence_side=end:fence_uaf=0
// case: good_fence_made_in_a_capture made_in_a_capture()
// case: good_fence_peers_first peers_first() => devices: 2
// case: good_fence_peers_later peers_later() => devices: 2
// case: good_fence_last_of_three last_of_three() => options: backend=fence:faults=exact:fence_mb=4
// case: good_fence_small_site flip(SMALL, SMALL - 4) => options: backend=fence:faults=exact:fence_sites=1
// case: good_fence_made_by_nccl made_by_nccl()
// case: good_fence_store_and_leave past("fault_store", SMALL, -4)
// case: good_fence_add past("fault_add", SMALL, -4)
// case: good_fence_copy_2d copy_2d()
// case: good_fence_copy_3d copy_3d()
// case: good_fence_fill fill()
// case: good_fence_copy_before copy_before() => options: backend=fence:faults=exact:fence_side=start
/* The healthy twins of bad_fence_*.c go up to the last byte, or the first, and end as they do natively. */
#define BUG false
#define FAULTS false
#include "fencing.h"

int main(void)
{
	CASE;
}
