// case: bad_then_c99_exit _Exit
// case: bad_then_underscore_exit _exit
// expect: heap-buffer-overflow size 4000 offset +0 in make_buffer
// suspect: k_flip
// exit: 7
/* _Exit() or _exit() at once: no exit handler runs, nothing is freed. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr p = make_buffer(4000);

	tk_flip(p, 4000, 8);
	tk_sync();
	CASE(7);
}
