/* The program returns from main while a kernel runs and buffers live. */
#include "testkit.h"

int main(void)
{
	CUdeviceptr p = tk_alloc(4000);

	tk_flip(p, 0, 4000);
	tk_spin(NULL, 300);
	puts("leaving");
	return 4;
}
