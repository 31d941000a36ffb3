// expect: 38 x heap-buffer-overflow offset +0
// suspect: d_flip
/* One buffer of each of the heap's size classes is written behind, which the heap's numbers say, too. */
#include "inkernel.h"

#include "include/gmod.h"
#include "include/gmod/device_buffer.h"

#pragma weak gmod_device_check
#pragma weak gmod_device_get_stats

static void require_found(void)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	if (!gmod_device_get_stats)
		return;
	REQUIRE(gmod_device_check() == GMOD_OK && gmod_device_get_stats(&s) == GMOD_OK);
	REQUIRE(s.findings == GMOD_CLASSES && s.findings_lost == 0);
}

int main(void)
{
	ik_start();
	for (gmod_u32 class_ = 0; class_ < GMOD_CLASSES; class_++) {
		long long size = (long long)gmod_class_shape(class_).size - GMOD_HEAD_SIZE - GMOD_TAIL_MIN;

		ik_flip(ik_alloc(3, size), 1, size, 1);
	}
	tk_sync();
	require_found();
}
