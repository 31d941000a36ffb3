// expect: heap-buffer-overflow size 3000 offset +0
// suspect: k_flip
/* The buffer was allocated by a library that has been unloaded since: its frames can no longer be named. */
#include "plugin.h"

int main(void)
{
	struct plugin plugin;
	CUdeviceptr p;

	tk_start();
	plugin = load_plugin();
	p = plugin.make_buffer(3000);
	REQUIRE(!dlclose(plugin.handle));
	tk_flip(p, 3000, 1);
	CK(cuMemFree(p));
}
