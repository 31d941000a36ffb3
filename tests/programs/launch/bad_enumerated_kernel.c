// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip
// needs: cuModuleEnumerateFunctions
/* The kernel is one of those that its module was asked for, and not by its name. */
#include "make_buffer.h"

#include <dlfcn.h>

static CUfunction found(const char *wanted)
{
	CUresult (*enumerate)(CUfunction *, unsigned, CUmodule), (*name_of)(const char **, CUfunction);
	CUfunction all[256] = {NULL};
	const char *name;

	enumerate = dlsym(RTLD_DEFAULT, "cuModuleEnumerateFunctions");
	name_of = dlsym(RTLD_DEFAULT, "cuFuncGetName");
	REQUIRE(enumerate && name_of);
	CK(enumerate(all, 256, tk_module));
	for (int i = 0; i < 256 && all[i]; i++) {
		CK(name_of(&name, all[i]));
		if (strcmp(name, wanted) == 0)
			return all[i];
	}
	return NULL;
}

int main(void)
{
	CUdeviceptr p = make_buffer(3000);
	long long end = 3000, count = 4;

	tk_launch(found("k_flip"), 1, 4, NULL, TK_ARGS(&p, &end, &count));
	tk_sync();
	CK(cuMemFree(p));
}
