/* Loading plugin_cuda.so, which lies beside the program. */
#pragma once

#include "testkit.h"
#include <dlfcn.h>

struct plugin {
	void *handle;
	CUdeviceptr (*make_buffer)(size_t size);
	void (*flip)(CUmodule module, CUdeviceptr p, long long off, long long count);
};

static TK_UNUSED struct plugin load_plugin(void)
{
	struct plugin plugin;
	char path[4096];
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 32);

	REQUIRE(n > 0);
	path[n] = 0;
	strcpy(strrchr(path, '/'), "/plugin_cuda.so");
	plugin.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!plugin.handle)
		fprintf(stderr, "%s\n", dlerror());
	REQUIRE(plugin.handle);
	*(void **)&plugin.make_buffer = dlsym(plugin.handle, "plugin_make_buffer");
	*(void **)&plugin.flip = dlsym(plugin.handle, "plugin_flip");
	REQUIRE(plugin.make_buffer && plugin.flip);
	return plugin;
}
