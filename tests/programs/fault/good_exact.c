// options: faults=exact
// guarded: some
// ledger: a probe fills a buffer of its own in each context
// case: good_exact_ask LIVE, ASK
// case: good_exact_in_a_graph LIVE, IN_A_GRAPH
// case: good_exact_query LIVE, QUERY
// case: good_exact_exit LIVE, EXIT
// case: good_exact_exit_at_once LIVE, EXIT_AT_ONCE
// case: good_exact_return LIVE, RETURN
// case: good_exact_free LIVE, FREE
// case: good_exact_destroy LIVE, DESTROY
// case: good_exact_reset LIVE, RESET
// case: good_exact_unload LIVE, UNLOAD
// case: good_exact_exec LIVE, EXEC => guarded: no
// case: good_exact_close_all LIVE, CLOSE_ALL => skip-on: gpu
// case: good_exact_capture LIVE, CAPTURE
// case: good_exact_two_contexts LIVE, TWO_CONTEXTS
// case: good_exact_two_devices LIVE, TWO_DEVICES => devices: 2
// case: good_exact_dropped_root LIVE, DROP_ROOT
// case: good_exact_attributes LIVE, ATTRIBUTES
// case: good_exact_ask_and_reset LIVE, ASK_AND_RESET
// case: good_exact_copy_rows LIVE, COPY_ROWS
// case: good_exact_pipe LIVE, PIPE
// case: good_exact_under_mps LIVE, ASK => sim-env: SIM_MPS=1; skip-on: gpu
/* The same programs without a fault: with faults=exact they end as they do natively. */
#include "faulting.h"

static void run_well(long long where, enum act what)
{
	run("fault_read", where, what);
}

int main(void)
{
	run_well(CASE);
	puts("done");
}
