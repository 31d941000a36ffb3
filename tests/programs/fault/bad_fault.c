// options: faults=exact
// needs: cuCtxCreate_v4
// case: bad_fault_read "fault_read", NOWHERE, ASK => gpu-fault; suspect: fault_read
// case: bad_fault_store "fault_store", NOWHERE, ASK => gpu-fault; suspect: fault_store
// case: bad_fault_stay "fault_stay", NOWHERE, ASK => gpu-fault; suspect: fault_stay
// case: bad_fault_add "fault_add", NOWHERE, ASK => gpu-fault; suspect: fault_add
// case: bad_fault_misaligned "fault_misaligned", INSIDE, ASK => gpu-fault; suspect: fault_misaligned
// case: bad_fault_shared "fault_shared", NOWHERE, ASK => gpu-fault; suspect: fault_shared
// case: bad_fault_trap "fault_trap", NOWHERE, ASK => gpu-fault; suspect: fault_trap
// case: bad_fault_assert "fault_assert", NOWHERE, ASK => gpu-fault; suspect: fault_assert
// case: bad_fault_null "fault_read", 0, ASK => gpu-fault; suspect: fault_read
// case: bad_fault_freed "fault_read", FREED, ASK => gpu-fault size 8388608 in make_buffer; suspect: fault_read
// case: bad_fault_far "fault_read", FAR, ASK => gpu-fault size 8388608 in make_buffer; suspect: fault_read;
//    skip-on: gpu
// case: bad_fault_pipe "fault_store", NOWHERE, PIPE => gpu-fault; suspect: fault_store
// case: bad_fault_graph "fault_read", NOWHERE, IN_A_GRAPH => gpu-fault; suspect: fault_read
// case: bad_fault_query "fault_store", NOWHERE, QUERY => gpu-fault; suspect: fault_store
// case: bad_fault_exit "fault_store", NOWHERE, EXIT => gpu-fault; suspect: fault_store; exit: 86
// case: bad_fault_exit_at_once "fault_store", NOWHERE, EXIT_AT_ONCE => gpu-fault; suspect: fault_store; exit: 86
// case: bad_fault_return "fault_store", NOWHERE, RETURN => gpu-fault; suspect: fault_store; exit: 86
// case: bad_fault_free "fault_store", NOWHERE, FREE => gpu-fault; suspect: fault_store
// case: bad_fault_destroy "fault_store", NOWHERE, DESTROY => gpu-fault; suspect: fault_store; exit: 86
// case: bad_fault_reset "fault_store", NOWHERE, RESET => gpu-fault; suspect: fault_store; exit: 86
// case: bad_fault_told "fault_read", NOWHERE, ASK_AND_RESET => gpu-fault; suspect: fault_read
// case: bad_fault_rows "fault_store", NOWHERE, COPY_ROWS => gpu-fault; suspect: fault_store
// case: bad_fault_unload "fault_store", NOWHERE, UNLOAD => gpu-fault; suspect: fault_store
// case: bad_fault_exec "fault_store", NOWHERE, EXEC => gpu-fault; suspect: fault_store
// case: bad_fault_descriptors "fault_store", NOWHERE, CLOSE_ALL => gpu-fault; suspect: fault_store; skip-on: gpu
// case: bad_fault_capture "fault_store", NOWHERE, CAPTURE => gpu-fault; suspect: fault_store
// case: bad_fault_two_contexts "fault_store", NOWHERE, TWO_CONTEXTS => gpu-fault; suspect: fault_store
// case: bad_fault_two_devices "fault_read", FREED, TWO_DEVICES => gpu-fault device 1 size 8388608 in make_buffer;
//    suspect: fault_read; devices: 2; says: in kernel fault_read, at .*kernels[.]cu:[0-9]+$
// case: bad_fault_dropped_root "fault_store", NOWHERE, DROP_ROOT => gpu-fault; suspect: fault_store
// case: bad_fault_attributes "fault_store", NOWHERE, ATTRIBUTES => post-mortem; suspect: fault_store
// case: bad_fault_under_mps "fault_store", NOWHERE, ASK => post-mortem; suspect: fault_store;
//    sim-env: SIM_MPS=1; skip-on: gpu
// case: bad_fault_refused "fault_store", NOWHERE, ASK => post-mortem; suspect: fault_store;
//    sim-env: SIM_FAIL=cuCoredumpSetAttributeGlobal:*:801; skip-on: gpu
// case: bad_fault_cut "fault_read", NOWHERE, ASK => post-mortem; sim-env: SIM_DUMP_CUT=2000; skip-on: gpu
// case: bad_fault_empty "fault_read", NOWHERE, ASK => post-mortem; sim-env: SIM_DUMP_EMPTY=1; skip-on: gpu
// case: bad_fault_later "fault_store", NOWHERE, ASK => gpu-fault; suspect: fault_store;
//    sim-env: SIM_DUMP_DELAY=700; skip-on: gpu
// case: bad_fault_suspects "fault_store", NOWHERE, ASK => post-mortem; suspect: fault_store; options: faults=off
/*
 * One thread of a kernel faults, and the program does something behind its wait, which natively says that all is well.
 * GMOD names the kernel, and the program learns of the error as it would natively, or later. Where it cannot have the
 * driver's dump, or that says nothing, there is the post-mortem.
 */
#include "faulting.h"

int main(void)
{
	run(CASE);
	return 0;
}
