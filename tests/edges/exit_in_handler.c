/*
 * exit_in_handler HOW: one buffer has been overrun, and a handler of SIGALRM calls _exit(9) in the midst of something.
 *
 *   call            in whatever driver call SIM_SIGNAL names, of those that the program makes and of those that the
 *                   library makes for it
 *   call small      the same, with a buffer whose end lies on the device
 *   check N         in gmod_check(), at the Nth mapping it makes; 0 if it makes fewer
 *   storm MICROSECONDS   after so long, while eight threads allocate, launch and free
 *   again MICROSECONDS   every so many, while one thread calls exit(9) and another _exit(9)
 */
#include "make_buffer.h"
#include <dlfcn.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>

static CUfunction flip;
static atomic_int armed;

static void leave(int signal TK_UNUSED)
{
	_exit(9);
}

/* Everybody's, the library's too. */
EXPORTED void *mmap(void *at, size_t size, int protection, int flags, int fd, off_t offset)
{
	void *p = (void *)syscall(SYS_mmap, at, size, protection, flags, fd, offset);

	if (atomic_load(&armed) && syscall(SYS_gettid) == getpid() && atomic_fetch_sub(&armed, 1) == 1)
		raise(SIGALRM);
	return p;
}

static void allocate_launch_free(size_t size)
{
	long long zero = 0, n = (long long)size;
	CUdeviceptr p = make_buffer(size);

	tk_launch(flip, 1, 128, NULL, TK_ARGS(&p, &zero, &n));
	CK(cuMemFree(p));
}

static void call(size_t size)
{
	size_t free_bytes, total;
	CUdeviceptr p = make_buffer(size);

	tk_flip(make_buffer(4096), 4096, 1);
	CK(cuCtxSynchronize());
	tk_sleep_ms(60); /* the monitor looks at it: who ends in a driver that does not answer has no last look */
	CK(cuCtxSynchronize());
	allocate_launch_free(size);
	CK(cuMemGetInfo(&free_bytes, &total));
	CK(cuStreamQuery(NULL));
	CK(cuMemFree(p));
}

static void check(int n)
{
	int (*look)(void);

	*(void **)&look = dlsym(RTLD_DEFAULT, "gmod_check");
	REQUIRE(look);
	tk_flip(make_buffer(1000), 1000, 1);
	tk_sync();
	atomic_store(&armed, n);
	look();
	atomic_store(&armed, 0);
}

static void *work(void *unused TK_UNUSED)
{
	CK(cuCtxSetCurrent(tk_context));
	for (;;)
		allocate_launch_free(1000);
	return NULL;
}

static void ring_after(long first, long then)
{
	struct itimerval t = {{0, then}, {first / 1000000, first % 1000000}};

	REQUIRE(!setitimer(ITIMER_REAL, &t, NULL));
}

static void storm(long microseconds)
{
	tk_flip(make_buffer(4096), 4096, 1);
	tk_sync();
	tk_sleep_ms(60);
	ring_after(microseconds, 0);
	for (int i = 0; i < 7; i++)
		tk_begin_thread(work, NULL);
	work(NULL);
}

static void *end(void *both)
{
	pthread_barrier_wait(both);
	_exit(9);
}

static void again(long microseconds)
{
	pthread_barrier_t both;

	REQUIRE(!pthread_barrier_init(&both, NULL, 2));
	tk_flip(make_buffer(1000), 1000, 1);
	tk_sync();
	tk_begin_thread(end, &both);
	pthread_barrier_wait(&both);
	ring_after(1, microseconds);
	exit(9);
}

int main(int argc, char **argv)
{
	REQUIRE(argc > 1);
	tk_start();
	flip = tk_kernel("k_flip");
	signal(SIGALRM, leave);
	if (!strcmp(argv[1], "call"))
		call(argc > 2 ? 1000 : 4096);
	else if (!strcmp(argv[1], "check"))
		check(atoi(argv[2]));
	else if (!strcmp(argv[1], "storm"))
		storm(atol(argv[2]));
	else
		again(atol(argv[2]));
}
