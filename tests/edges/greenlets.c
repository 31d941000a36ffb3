/* Allocates, overruns and frees in a coroutine of plugin_greenlet.so, whose path is given. */
#include "make_buffer.h"
#include <dlfcn.h>

static void work(void)
{
	CUdeviceptr p = make_buffer(1000);

	tk_flip(p, 1000, 1);
	CK(cuMemFree(p));
}

int main(int argc TK_UNUSED, char **argv)
{
	void *plugin = dlopen(argv[1], RTLD_NOW);
	int (*run)(void (*)(void)) = NULL;

	tk_start();
	if (plugin)
		*(void **)&run = dlsym(plugin, "plugin_run");
	REQUIRE(run && run(work));
	puts("done");
}
