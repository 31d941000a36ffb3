/* The same, and it hooks dlsym. */
#define PLUGIN_HOOKS_DLSYM
#include "plugin_wrap_alloc.c"
