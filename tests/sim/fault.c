/*
 * A kernel or copy that touches unmapped memory must end in an error of its context, not of the process:
 * who runs it does so inside fault_guard(), and the handler jumps back there. A fault anywhere else is the
 * program's own and goes to whoever handled it before.
 */
#include "sim.h"

#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

/* initial-exec: the handler must not allocate this thread's copy. */
static __thread sigjmp_buf *guard __attribute__((tls_model("initial-exec")));

static struct sigaction previous_segv, previous_bus;

static void pass_on(int signal, siginfo_t *info, void *context)
{
	const struct sigaction *previous = signal == SIGBUS ? &previous_bus : &previous_segv;

	if (previous->sa_flags & SA_SIGINFO)
		previous->sa_sigaction(signal, info, context);
	else if (previous->sa_handler == SIG_DFL || previous->sa_handler == SIG_IGN)
		sigaction(signal, previous, NULL); /* the access is repeated and ends the process */
	else
		previous->sa_handler(signal);
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	if (guard)
		siglongjmp(*guard, 1);
	pass_on(signal, info, context);
}

void fault_now(void)
{
	siglongjmp(*guard, 1);
}

void fault_install(void)
{
	struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK};

	sigemptyset(&action.sa_mask);
	sigaction(SIGSEGV, &action, &previous_segv);
	sigaction(SIGBUS, &action, &previous_bus);
}

/* After the teardown a faulting worker has nothing to go back to. */
static void park_if_torn_down(void)
{
	bool gone;

	sim_lock();
	gone = sim.state == SIM_TORN_DOWN;
	sim_unlock();
	if (gone)
		for (;;)
			pause();
}

CUresult fault_guard(void (*run)(void *), void *arg)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 1)) {
		guard = NULL;
		park_if_torn_down();
		return CUDA_ERROR_ILLEGAL_ADDRESS;
	}
	guard = &here;
	run(arg);
	guard = NULL;
	return CUDA_SUCCESS;
}
