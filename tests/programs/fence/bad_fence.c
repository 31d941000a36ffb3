// needs: cuCtxCreate_v4
// options: backend=fence:faults=exact:fence_side=end
// says: gpu-fault: illegal address: (read|write) of [0-9]+ bytes, .* (past the end|before the start|inside)
// says: in kernel [a-z0-9_]+, at .*kernels\.cu:[0-9]+$
// case: bad_fence_read past("fault_read", SMALL, 0) => gpu-fault size 4096 offset +0 in make_buffer;
//    suspect: fault_read
// case: bad_fence_store past("fault_stay", SMALL, 0) => gpu-fault size 4096 offset +0 in make_buffer;
//    suspect: fault_stay; skip-on: gpu
// case: bad_fence_read_16 read_16(SMALL, 0) => gpu-fault size 4096 offset +0 in make_buffer; suspect: k_read_wide
// case: bad_fence_store_16 store_16(SMALL, 0) => gpu-fault size 4096 offset +0 in make_buffer; suspect: k_store16
// case: bad_fence_before before("fault_read", SMALL, -4) => gpu-fault size 4096 offset -4 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_side=start
// case: bad_fence_before_store before("fault_stay", 100, -4) => gpu-fault size 100 offset -4 in make_buffer;
//    suspect: fault_stay; options: backend=fence:faults=exact:fence_side=start; skip-on: gpu
// case: bad_fence_before_far before("fault_read", SMALL, -(1 << 20)) =>
//    gpu-fault size 4096 offset -1048576 in make_buffer; suspect: fault_read;
//    options: backend=fence:faults=exact:fence_side=start
// case: bad_fence_far past("fault_read", SMALL, 1 << 20) => gpu-fault size 4096 offset +1048576 in make_buffer;
//    suspect: fault_read
// case: bad_fence_far_store past("fault_stay", 3 << 20, 1 << 20) =>
//    gpu-fault size 3145728 offset +1048576 in make_buffer; suspect: fault_stay; skip-on: gpu
// case: bad_fence_freed freed("fault_read", SMALL, 0) => gpu-fault size 4096 offset +8 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_uaf=1
// case: bad_fence_freed_store freed("fault_stay", SMALL, 0) => gpu-fault size 4096 offset +8 in make_buffer;
//    suspect: fault_stay; options: backend=fence:faults=exact:fence_uaf=1; skip-on: gpu
// case: bad_fence_freed_first freed("fault_read", 5 << 20, 0) => gpu-fault size 5242880 offset +8 in make_buffer;
//    suspect: fault_read
// case: bad_fence_freed_long_ago freed("fault_read", SMALL, 100) => gpu-fault size 4096 offset +8 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_uaf=1
// case: bad_fence_filled_and_freed filled_and_freed() => gpu-fault size 67108864 offset +0 in make_buffer;
//    suspect: fault_read
// case: bad_fence_free_bytes free_bytes() => gpu-fault size 3000000 offset +2999996 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_uaf=1
// case: bad_fence_odd_16 past("fault_read", 1000, 8) => gpu-fault size 1000 offset +8 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: bad_fence_odd_64 past("fault_stay", 1000, 24) => gpu-fault size 1000 offset +24 in make_buffer;
//    suspect: fault_stay; options: backend=fence:faults=exact:fence_side=end:fence_align=100; skip-on: gpu
// case: bad_fence_odd_512 past("fault_stay", 1000, 24) => gpu-fault size 1000 offset +24 in make_buffer;
//    suspect: fault_stay; skip-on: gpu
// case: bad_fence_one_byte past("fault_read", 1, 15) => gpu-fault size 1 offset +15 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: bad_fence_odd_large past("fault_read", 3000004, 12) => gpu-fault size 3000004 offset +12 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_side=end:fence_align=16
// case: bad_fence_multiple past("fault_read", CHUNK, 0) => gpu-fault size 2097152 offset +0 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_side=start
// case: bad_fence_multiple_before before("fault_read", CHUNK, -4) => gpu-fault size 2097152 offset -4 in make_buffer;
//    suspect: fault_read
// case: bad_fence_span past("fault_read", 62 << 20, 0) => gpu-fault size 65011712 offset +0 in make_buffer;
//    suspect: fault_read
// case: bad_fence_row_behind stencil(17, 1) => gpu-fault size 17408 offset +0 in make_buffer; suspect: k_stencil
// case: bad_fence_row_before stencil(18, 0) => gpu-fault size 18432 offset -1024 in make_buffer; suspect: k_stencil;
//    options: backend=fence:faults=exact:fence_side=start; skip-on: gpu
// case: bad_fence_in_a_graph in_a_graph() => gpu-fault size 4096 offset +0 in make_buffer; suspect: fault_read
// case: bad_fence_in_streams in_streams() => gpu-fault size 5120 offset +0 in make_buffer; suspect: fault_read
// case: bad_fence_threads threads() => gpu-fault size 4096 offset +0 in make_buffer; suspect: fault_read
// case: bad_fence_second_device second_device() => gpu-fault device 1 size 4096 offset +0 in make_buffer;
//    suspect: fault_read; devices: 2
// case: bad_fence_forked forked() => gpu-fault size 4096 offset +0 in make_buffer; suspect: fault_read
// case: bad_fence_context_ends context_ends() => gpu-fault size 4096 offset +0 in make_buffer; suspect: fault_read
// case: bad_fence_device_is_full device_is_full() => gpu-fault size 2097152 offset +0 in make_buffer;
//    suspect: fault_read; sim-env: SIM_MEMORY=134217728; skip-on: gpu
// case: bad_fence_room_is_made room_is_made() => gpu-fault size 209715200 offset +0 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_mb=1024:fence_uaf=0;
//    sim-env: SIM_MEMORY=268435456; skip-on: gpu
// case: bad_fence_room_is_made_for_others room_is_made_for_others() =>
//    gpu-fault size 8388608 offset +0 in make_buffer; options: backend=fence:faults=exact:fence_mb=1024:fence_uaf=0;
//    suspect: fault_read; sim-env: SIM_MEMORY=268435456; skip-on: gpu
// case: bad_fence_first_of_three first_of_three() => gpu-fault size 4096 offset +0 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_side=end:fence_mb=4
// case: bad_fence_pitched pitched() => gpu-fault size 10240 offset +0; suspect: fault_read
// case: bad_fence_attributes attributes() => gpu-fault size 3000 offset +72 in make_buffer; suspect: fault_read
// case: bad_fence_exported exported() => gpu-fault size 4096 offset +0 in make_buffer; suspect: fault_read
// case: bad_fence_large_site past("fault_read", CHUNK, 0) => gpu-fault size 2097152 offset +0 in make_buffer;
//    suspect: fault_read; options: backend=fence:faults=exact:fence_sites=1
// case: bad_fence_by_chance by_chance() => gpu-fault size 1208 offset -4 in make_buffer; suspect: fault_read;
//    options: backend=fence:faults=exact:fence_seed=7
/*
 * A kernel goes where nothing is, and the report says in which line, and beside or inside which buffer. On a GPU the
 * address of fault_stay is not known: a loop lies behind its store.
 */
#define BUG true
#define FAULTS true
#include "fencing.h"

int main(void)
{
	CASE;
}
