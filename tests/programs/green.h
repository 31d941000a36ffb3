/* A green context over all of the device, made current. */
#pragma once

#include "testkit.h"

static CUgreenCtx make_green(CUcontext *c)
{
	CUdevResource all;
	CUdevResourceDesc what;
	CUgreenCtx green;

	CK(cuDeviceGetDevResource(tk_device, &all, CU_DEV_RESOURCE_TYPE_SM));
	CK(cuDevResourceGenerateDesc(&what, &all, 1));
	CK(cuGreenCtxCreate(&green, what, tk_device, CU_GREEN_CTX_DEFAULT_STREAM));
	CK(cuCtxFromGreenCtx(c, green));
	CK(cuCtxSetCurrent(*c));
	return green;
}
