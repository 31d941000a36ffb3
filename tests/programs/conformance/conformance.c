/*
 * Prints what the driver does, one fact a line. Run on the simulated driver and on a GPU, the difference of the
 * two outputs is what the simulator gets wrong. With an argument it is one of its own children: facts that end
 * a process or its context are found out in a process of their own.
 */
#include "conformance_capture.h"
#include "conformance_entry.h"
#include "conformance_graph.h"
#include "conformance_green.h"
#include "conformance_mapped.h"
#include "conformance_memops.h"
#include "conformance_memory.h"
#include "conformance_process.h"
#include "conformance_query.h"
#include "conformance_run.h"
#include "conformance_wait.h"

#include <spawn.h>
#include <sys/wait.h>

extern char **environ;

static const struct {
	const char *name;
	void (*run)(void);
} children[] = {
    {"uninitialised", child_uninitialised},
    {"illegal", child_illegal},
    {"illegal-memory", child_illegal_memory},
    {"contexts", child_contexts},
    {"memory-after-destroy", child_memory_after_destroy},
    {"memory-after-reset", child_memory_after_reset},
    {"destroyed-context", child_destroyed_context},
    {"fork", child_fork},
    {"exit", child_exit},
    {"host-function", child_host_function},
    {"freed-managed", child_freed_managed},
    {"freed-pinned", child_freed_pinned},
    {"null", child_null},
    {"null-copy", child_null_copy},
    {"kernel-name", child_kernel_name},
    {"library-unloaded", child_library_unloaded},
    {"unload-refused", child_unload_refused},
    {"memop-arguments", child_memop_arguments},
    {"green-alone", child_green_alone},
};

static void run_child(const char *name)
{
	char *argv[] = {"conformance", (char *)name, NULL};
	char how[40];
	int status = 0;
	pid_t pid;

	fflush(stdout);
	REQUIRE(!posix_spawn(&pid, "/proc/self/exe", NULL, NULL, argv, environ));
	waitpid(pid, &status, 0);
	snprintf(how, sizeof(how), WIFSIGNALED(status) ? "signal %d" : "status %d",
		 WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
	fact(how, "the process '%s' ended with", name);
}

static int be_child(const char *name)
{
	alarm(30); /* a stream may wait for what never comes */
	for (unsigned i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		if (!strcmp(children[i].name, name)) {
			children[i].run();
			return 0;
		}
	return child_green_batch(name);
}

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
	memop_facts();
	contextless_facts();
	wait_facts();
	capture_facts();
	graph_facts();
	green_facts();
	for (unsigned i = 0; i < sizeof(children) / sizeof(children[0]); i++)
		run_child(children[i].name);
	for (unsigned n = 0; n < GREEN_CHILDREN; n++)
		run_child(green_child_name(n));
	return 0;
}
