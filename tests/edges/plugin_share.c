/*
 * As nvshare's libnvshare.so: it exports what it wraps, and dlsym by the C library's versions (plugin_share.map). What
 * dlsym hands out is the first definition in the process, be it another library's.
 */
#define OF_API EXPORTED
#include "plugin_sharing.h"

EXPORTED void *dlsym_old(void *handle, const char *name)
{
	void *wrapper = wrapper_of(name, 1);

	return wrapper ? wrapper : real_dlsym(handle, name);
}

EXPORTED void *dlsym_new(void *handle, const char *name)
{
	return dlsym_old(handle, name);
}

__asm__(".symver dlsym_old, dlsym@@GLIBC_2.2.5");
__asm__(".symver dlsym_new, dlsym@GLIBC_2.34");
