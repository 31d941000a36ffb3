/*
 * A buffer is freed by a library that passes GMOD by, whose path is given, and its memory is the next one's, which is
 * larger: the program writes where the canaries of the first were.
 */
#include "make_buffer.h"
#include <dlfcn.h>

int main(int argc TK_UNUSED, char **argv)
{
	void *plugin = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
	CUresult (*give_back)(CUdeviceptr) = NULL;
	CUdeviceptr p, q;

	REQUIRE(plugin);
	*(void **)&give_back = dlsym(plugin, "plugin_free");
	p = make_buffer(1000);
	CK(give_back(p));
	q = make_buffer(1100);
	REQUIRE(p == q);
	tk_flip(q, 0, 1100);
	tk_sync();
	tk_sleep_ms(100);
	CK(cuMemFree(q));
	puts("done");
}
