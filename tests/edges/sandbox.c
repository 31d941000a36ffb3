/*
 * A sandbox answers what it traps by a handler for SIGSYS, as browsers' do, and may not be killed by what a report
 * opens, or by how a signal is sent on. sandbox TERM: ends by that.
 */
#include "make_buffer.h"
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <ucontext.h>

static volatile int asked;

static void refuse(int signal, siginfo_t *info, void *context)
{
	ucontext_t *c = context;

	(void)signal;
	(void)info;
	asked++;
#ifdef __x86_64__
	c->uc_mcontext.gregs[REG_RAX] = -EPERM;
#else
	c->uc_mcontext.regs[0] = (unsigned long)-EPERM;
#endif
}

static void enter_sandbox(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat, 1, 0),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_rt_tgsigqueueinfo, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};
	struct sigaction action = {.sa_sigaction = refuse, .sa_flags = SA_SIGINFO};

	REQUIRE(!sigaction(SIGSYS, &action, NULL));
	REQUIRE(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	REQUIRE(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
}

int main(int argc, char **argv TK_UNUSED)
{
	CUdeviceptr p;

	tk_start();
	tk_kernel("k_flip");
	enter_sandbox();
	p = make_buffer(4096);
	tk_flip(p, 4096, 1);
	tk_sync();
	for (int i = 0; i < 1000 && !asked; i++)
		tk_sleep_ms(10);
	printf("opened: %s\n", asked ? "yes" : "no");
	fflush(stdout);
	if (argc > 1)
		raise(SIGTERM);
	return 5;
}
