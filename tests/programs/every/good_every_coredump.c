// guarded: no
/* The settings of exception dumps: of the process before there is a context, and of a context. */
#include "testkit.h"

#include <stdbool.h>

int main(void)
{
	bool on = false;
	size_t size = sizeof(on);

	tk_init();
	CK(cuCoredumpSetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size));
	CK(cuCoredumpGetAttributeGlobal(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size));
	REQUIRE(!on);
	CK(cuDevicePrimaryCtxRetain(&tk_context, tk_device));
	CK(cuCtxSetCurrent(tk_context));
	CK(cuCoredumpGetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size));
	CK(cuCoredumpSetAttribute(CU_COREDUMP_ENABLE_ON_EXCEPTION, &on, &size));
	puts("done");
}
