/*
 * The driver's compiler: a library that the driver loads for its first PTX, and whose clean-up at exit takes away what
 * a compilation under way works with (measured: with driver 580, a process that ends meanwhile crashes).
 */
#include <stdlib.h>

__attribute__((visibility("default"))) int sim_compiling;

static void clean_up(void)
{
	if (__atomic_load_n(&sim_compiling, __ATOMIC_SEQ_CST))
		abort();
}

__attribute__((constructor)) static void at_load(void)
{
	atexit(clean_up);
}
