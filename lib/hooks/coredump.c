/* Exception dumps that the program asks for, or asks about: GMOD's make place for them (lib/faults/keeper.h). */
#include "lib/faults/keeper.h"
#include "lib/hooks/hook.h"

GMOD_EXPORT CUresult cuCoredumpGetAttribute(CUcoredumpSettings attribute, void *value, size_t *size)
{
	gmod_keeper_withdraw();
	return gmod_done(NEXT(cuCoredumpGetAttribute)(attribute, value, size), __func__);
}

GMOD_EXPORT CUresult cuCoredumpGetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size)
{
	gmod_keeper_withdraw();
	return gmod_done(NEXT(cuCoredumpGetAttributeGlobal)(attribute, value, size), __func__);
}

GMOD_EXPORT CUresult cuCoredumpSetAttribute(CUcoredumpSettings attribute, void *value, size_t *size)
{
	gmod_keeper_withdraw();
	return gmod_done(NEXT(cuCoredumpSetAttribute)(attribute, value, size), __func__);
}

GMOD_EXPORT CUresult cuCoredumpSetAttributeGlobal(CUcoredumpSettings attribute, void *value, size_t *size)
{
	gmod_keeper_withdraw();
	return gmod_done(NEXT(cuCoredumpSetAttributeGlobal)(attribute, value, size), __func__);
}
