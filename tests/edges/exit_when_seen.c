/* The program ends the moment the library has seen the damage, while that is still being reported. */
#include "make_buffer.h"
#include <dlfcn.h>

int main(int argc, char **argv)
{
	long long off = 4096, count = 1;
	volatile int *go_on;
	unsigned (*seen)(void);
	CUdeviceptr p;
	double end;

	*(void **)&seen = dlsym(RTLD_DEFAULT, "gmod_findings_seen");
	tk_start();
	go_on = tk_flag();
	p = make_buffer(4096);
	tk_launch(tk_kernel("k_flip_and_spin"), 1, 1, NULL, TK_ARGS(&p, &off, &count, &go_on));
	for (end = tk_ms() + 5000; seen && !seen() && tk_ms() < end;)
		;
	*go_on = 1;
	tk_sync();
	if (argc > 1 && atoi(argv[1]) > 0)
		tk_sleep_ms(atoi(argv[1]));
	if (argc > 2)
		_exit(7);
	return 7;
}
