/*
 * busy COUNT MS [launches]: so many buffers of 1000 bytes, and then the device is busy for so long: with one kernel, or
 * with a small one and a wait for it every millisecond. Natively as under GMOD; what that does meanwhile is counted.
 */
#include "testkit.h"

int main(int argc, char **argv)
{
	int count = argc > 1 ? atoi(argv[1]) : 2, ms = argc > 2 ? atoi(argv[2]) : 300;
	CUdeviceptr p = 0;
	double end;

	tk_start();
	while (count--)
		p = tk_alloc(1000);
	end = tk_ms() + ms;
	if (argc <= 3)
		tk_spin(NULL, ms);
	while (argc > 3 && tk_ms() < end) {
		tk_flip(p, 0, 1000);
		tk_sync();
		tk_sleep_ms(1);
	}
	tk_sync();
}
