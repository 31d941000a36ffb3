// expect: leak size 4000 in make_buffer
// options: leak_check=1
/* One of three buffers is never freed. */
#include "make_buffer.h"

int main(void)
{
	CUdeviceptr kept, freed[2];

	tk_start();
	freed[0] = make_buffer(3000);
	kept = make_buffer(4000);
	freed[1] = make_buffer(5000);
	CK(cuMemsetD8(kept, 0, 4000));
	CK(cuMemFree(freed[0]));
	CK(cuMemFree(freed[1]));
}
