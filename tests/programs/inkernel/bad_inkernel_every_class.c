// expect: 39 x heap-buffer-overflow offset +0
// suspect: d_flip
/* One buffer of each of the heap's size classes is written behind. */
#include "inkernel.h"

#include "include/gmod/device_buffer.h"

_Thread_local struct gmod_cpu_thread gmod_cpu_thread;

int main(void)
{
	ik_start();
	for (gmod_u32 class_ = 0; class_ < GMOD_CLASSES; class_++) {
		long long size = (long long)gmod_class_size(class_) - GMOD_HEAD_SIZE - GMOD_TAIL_MIN;

		ik_flip(ik_alloc(3, size), 1, size, 1);
	}
	tk_sync();
}
