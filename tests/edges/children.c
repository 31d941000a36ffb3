/*
 * Programs that must not meet what GMOD starts at a finding; each says in the end which children it has met.
 *
 * children wait     a thread of it waits for any child, over and over
 * children handler  SIGCHLD has a handler
 * children ignore   SIGCHLD is ignored
 * children reaper   orphans become its children, and a thread waits for them
 * children forks    threads of it fork all the time, and wait for any child
 * children close    it closes all descriptors all the time, and has files of its own there
 * children daemon   it goes on in a child of a child, without descriptors
 * children list     it lists its children, those too that have ended, until there is none or 3 s are over
 * children killed   it is killed 0.7 s after the finding
 * children sandbox  it may not start processes, and is killed if it does
 * children exec     it becomes another program, which has a handler of SIGCHLD
 * children layer    it has a close() of its own, which knows its files, where close_range is forbidden
 * children full     it has all descriptors in use that it may have
 * children many     100 findings, each of another place; says how many ms the calls took that reported them
 */
#include "make_buffer.h"
#include "proc.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static atomic_int met, forked, ended;

static void note(int number TK_UNUSED)
{
	met++;
}

static void *wait_for_any(void *unused TK_UNUSED)
{
	while (!ended) {
		if (waitpid(-1, NULL, 0) > 0)
			met++;
		else
			usleep(100);
	}
	return NULL;
}

static void *fork_for_ever(void *unused TK_UNUSED)
{
	while (!ended) {
		pid_t child = fork();

		if (!child)
			_exit(0);
		forked += child > 0;
		usleep(2000);
	}
	return NULL;
}

/* What its files hold is its own; 0 to 2 stay, for what the test reads. */
static void *close_for_ever(void *unused TK_UNUSED)
{
	while (!ended) {
		int first = open("data", O_RDWR | O_CREAT, 0600);

		while (first < 0 || dup(first) < 60)
			;
		for (int fd = 40; fd < 60; fd++)
			close(fd);
	}
	return NULL;
}

__attribute__((always_inline)) static inline CUdeviceptr make_inlined(size_t size)
{
	return make_buffer(size);
}

EXPORTED void overrun(void)
{
	CUdeviceptr p = make_inlined(1000);

	tk_flip(p, 1000, 1);
	tk_sync();
	CK(cuMemFree(p));
}

#define SITE(n) \
	__attribute__((noinline)) static void site_##n(void) \
	{ \
		overrun(); \
		__asm__ volatile(""); \
	}
#define TEN(n) \
	SITE(n##0) SITE(n##1) SITE(n##2) SITE(n##3) SITE(n##4) SITE(n##5) SITE(n##6) SITE(n##7) SITE(n##8) SITE(n##9)
TEN(0);
TEN(1);
TEN(2);
TEN(3);
TEN(4);
TEN(5);
TEN(6);
TEN(7);
TEN(8);
TEN(9);
#define NAMES(n) \
	site_##n##0, site_##n##1, site_##n##2, site_##n##3, site_##n##4, site_##n##5, site_##n##6, site_##n##7, \
	    site_##n##8, site_##n##9

static void overrun_many(void)
{
	static void (*const site[])(void) = {NAMES(0), NAMES(1), NAMES(2), NAMES(3), NAMES(4),
					     NAMES(5), NAMES(6), NAMES(7), NAMES(8), NAMES(9)};
	double began = tk_ms();

	for (size_t i = 0; i < sizeof(site) / sizeof(*site); i++)
		site[i]();
	printf("%d ms\n", (int)(tk_ms() - began));
	fflush(stdout);
}

static void become_daemon(void)
{
	for (int i = 0; i < 2; i++) {
		if (fork())
			_exit(0);
		setsid();
	}
	for (int fd = 0; fd < 256; fd++)
		close(fd);
}

static void use_all_descriptors(void)
{
	struct rlimit limit = {64, 64};

	REQUIRE(!setrlimit(RLIMIT_NOFILE, &limit));
	while (dup(0) >= 0)
		;
}

/* All of its threads. */
static void enter_sandbox(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	REQUIRE(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	REQUIRE(!syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program));
}

static bool has_children(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300];
	bool some = false;

	REQUIRE(tasks);
	for (struct dirent *e; (e = readdir(tasks));) {
		snprintf(path, sizeof(path), "/proc/self/task/%s/children", e->d_name);
		some |= e->d_name[0] != '.' && proc_number(path, NULL) > 0;
	}
	closedir(tasks);
	return some;
}

static int own_file = -1;

EXPORTED int close(int fd)
{
	if (fd >= 0 && fd == own_file)
		met++;
	return (int)syscall(SYS_close, fd);
}

static void forbid_close_range(void)
{
	struct sock_filter filter[] = {
	    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 436, 0, 1),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
	    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {sizeof(filter) / sizeof(filter[0]), filter};

	REQUIRE(!prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0));
	REQUIRE(!prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program));
	own_file = open("data", O_RDWR | O_CREAT, 0600);
}

static int meet_after_exec(void)
{
	double until = tk_ms() + 2000;

	signal(SIGCHLD, note);
	while (!met && tk_ms() < until)
		tk_sleep_ms(10);
	printf("%s\n", met ? "met children" : "met none");
	return 5;
}

int main(int argc, char **argv)
{
	const char *how = argc > 1 ? argv[1] : "";
	pthread_t thread;

	if (!strcmp(how, "after exec"))
		return meet_after_exec();
	if (!strcmp(how, "layer"))
		forbid_close_range();
	if (!strcmp(how, "daemon"))
		become_daemon();
	tk_start();
	tk_kernel("k_flip");
	if (!strcmp(how, "handler"))
		signal(SIGCHLD, note);
	if (!strcmp(how, "ignore"))
		signal(SIGCHLD, SIG_IGN);
	if (!strcmp(how, "reaper"))
		REQUIRE(!prctl(PR_SET_CHILD_SUBREAPER, 1));
	if (!strcmp(how, "wait") || !strcmp(how, "reaper") || !strcmp(how, "forks"))
		REQUIRE(!pthread_create(&thread, NULL, wait_for_any, NULL));
	for (int i = 0; i < 2 && !strcmp(how, "forks"); i++)
		REQUIRE(!pthread_create(&thread, NULL, fork_for_ever, NULL));
	if (!strcmp(how, "close"))
		REQUIRE(!pthread_create(&thread, NULL, close_for_ever, NULL));
	if (!strcmp(how, "sandbox"))
		enter_sandbox();
	if (!strcmp(how, "full"))
		use_all_descriptors();
	if (!strcmp(how, "many"))
		overrun_many();
	else
		overrun();
	tk_sleep_ms(!strcmp(how, "reaper") ? 4000 : 700); /* there until what it must not meet is killed */
	for (double until = tk_ms() + 3000; !strcmp(how, "list") && (met = has_children()) && tk_ms() < until;)
		tk_sleep_ms(100);
	if (!strcmp(how, "killed"))
		raise(SIGKILL);
	if (!strcmp(how, "exec")) {
		execv("/proc/self/exe", (char *[]){"children", "after exec", NULL});
		REQUIRE(0);
	}
	ended = 1;
	tk_sleep_ms(20);
	printf("%s\n", met > forked ? "met children" : "met none");
	return 5;
}
