/* A library that used CUDA is unloaded; its buffers live on and are used and freed by the program. */
#include "plugin.h"

int main(void)
{
	struct plugin plugin;
	CUdeviceptr p[3];

	tk_start();
	for (int i = 0; i < 3; i++) {
		plugin = load_plugin();
		p[i] = plugin.make_buffer(3000);
		plugin.flip(tk_module, p[i], 0, 3000);
		REQUIRE(!dlclose(plugin.handle));
		tk_flip(p[i], 0, 3000);
	}
	tk_sync();
	CK(cuMemFree(p[0]));
	CK(cuMemFree(p[1]));
	puts("done");
}
