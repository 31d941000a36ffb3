/*
 * Prints what the driver does, one fact a line. Run on the simulated driver and on a GPU, the difference of the
 * two outputs is what the simulator gets wrong. With an argument it is one of its own children: facts that end
 * a process or its context are found out in a process of their own.
 */
#include "conformance.h"

int main(int argc, char **argv)
{
	if (argc > 1)
		return be_child(argv[1]);
	tk_start();
	procaddr_facts();
	stream_facts();
	event_facts();
	launch_facts();
	memory_facts();
	query_facts();
	mapped_facts();
	pool_facts();
	memop_facts();
	contextless_facts();
	wait_facts();
	capture_facts();
	graph_facts();
	green_facts();
	process_facts();
	return 0;
}
