/*
 * Uses plugin_pointers.so, which is preloaded, or whose path is given. Not linked with the driver.
 */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv)
{
	void *plugin = argc > 1 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : RTLD_DEFAULT;
	int (*use)(void) = NULL;

	*(void **)&use = dlsym(plugin, "plugin_use_pointers");
	if (!use) {
		fprintf(stderr, "%s\n", dlerror());
		return 3;
	}
	return use();
}
