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

/* What this thread's kernel accesses, and what it has said of it and of which address. */
static __thread struct fault last __attribute__((tls_model("initial-exec")));
static __thread uintptr_t said_at __attribute__((tls_model("initial-exec")));

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

void fault_expect(uintptr_t at, size_t bytes, bool store)
{
	last.at = at;
	last.bytes = bytes;
	last.store = store;
}

struct fault fault_last(void)
{
	struct fault fault = last;

	if (last.at != said_at) {
		fault.what = GT_ACCESS;
		fault.line = 0;
	}
	return fault;
}

/* Called by kernels (GT_FAULTS). What the processor would let pass faults here. */
void fault_said(enum gt_fault what, uintptr_t at, unsigned line)
{
	last.what = what;
	last.line = line;
	said_at = at;
	if (what < GT_MISALIGNED)
		return;
	fault_expect(at, 4, what == GT_MISALIGNED);
	fault_now();
}

static bool is_store(const void *context)
{
#if defined(__x86_64__)
	return ((const ucontext_t *)context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
	return false;
#endif
}

static void on_fault(int signal, siginfo_t *info, void *context)
{
	if (guard) {
		uintptr_t at = (uintptr_t)info->si_addr;

		if (at - last.at >= last.bytes)
			fault_expect(at, 4, is_store(context));
		fault_now();
	}
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

static CUresult error_of(enum gt_fault what)
{
	static const CUresult errors[] = {
	    [GT_ACCESS] = CUDA_ERROR_ILLEGAL_ADDRESS,
	    [GT_STAYS] = CUDA_ERROR_ILLEGAL_ADDRESS,
	    [GT_ADDS] = CUDA_ERROR_ILLEGAL_ADDRESS,
	    [GT_MISALIGNED] = CUDA_ERROR_MISALIGNED_ADDRESS,
	    [GT_SHARED] = CUDA_ERROR_ILLEGAL_INSTRUCTION,
	    [GT_TRAPS] = CUDA_ERROR_LAUNCH_FAILED,
	    [GT_ASSERTS] = CUDA_ERROR_ASSERT,
	};

	return errors[what];
}

CUresult fault_guard(void (*run)(void *), void *arg)
{
	sigjmp_buf here;

	if (sigsetjmp(here, 1)) {
		guard = NULL;
		park_if_torn_down();
		return error_of(fault_last().what);
	}
	last = (struct fault){0};
	guard = &here;
	run(arg);
	guard = NULL;
	return CUDA_SUCCESS;
}
