/*
 * exit_when_seen MILLISECONDS exit|_exit [free]: the program ends the moment the library has seen the damage, or so
 * long after, while that is still being reported: by the monitor, or by another thread's free.
 */
#include "make_buffer.h"
#include <dlfcn.h>

static unsigned (*seen)(void);

static void *free_it(void *p)
{
	CK(cuCtxSetCurrent(tk_context));
	CK(cuMemFree(*(CUdeviceptr *)p));
	tk_sleep_ms(10000);
	return NULL;
}

static void wait_until_seen(void)
{
	double end = tk_ms() + 5000;

	while (seen && !seen() && tk_ms() < end)
		;
}

static void seen_by_the_monitor(void)
{
	long long off = 4096, count = 1;
	volatile int *go_on = tk_flag();
	CUdeviceptr p = make_buffer(4096);

	tk_launch(tk_kernel("k_flip_and_spin"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &go_on));
	wait_until_seen();
	*go_on = 1;
	tk_sync();
}

static void seen_by_a_free(void)
{
	static CUdeviceptr p;

	p = make_buffer(1000);
	tk_flip(p, 1000, 1);
	tk_sync();
	tk_begin_thread(free_it, &p);
	wait_until_seen();
}

int main(int argc, char **argv)
{
	REQUIRE(argc > 2);
	*(void **)&seen = dlsym(RTLD_DEFAULT, "gmod_findings_seen");
	tk_start();
	if (argc > 3)
		seen_by_a_free();
	else
		seen_by_the_monitor();
	if (atoi(argv[1]) > 0)
		tk_sleep_ms(atoi(argv[1]));
	if (!strcmp(argv[2], "_exit"))
		_exit(7);
	return 7;
}
