/*
 * A kernel in a second context, which nothing is allocated in, on its default stream. A wait for the first context says
 * nothing about it: it is still a suspect when it overruns memory that both can use.
 */
#pragma once

#include "make_buffer.h"

/* second: makes it, current, on tk_device, and returns k_wait_flip for it. tk_start() has been called. */
static void overrun_from(CUfunction (*second)(void))
{
	long long off = 6000, count = 8;
	CUcontext popped;
	char *p = make_portable(6000);
	volatile int *flag = (volatile int *)(void *)make_portable(sizeof(int));

	*flag = 0;
	tk_launch(second(), 1, 32, NULL, TK_ARGS(&p, &off, &count, &flag));
	CK(cuCtxPopCurrent(&popped));
	tk_sync();
	/* The canaries are seen intact after that wait. */
	tk_sleep_ms(50);
	*flag = 1;
	CK(cuCtxPushCurrent(popped));
	tk_sync();
}
