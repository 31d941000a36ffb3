/* Overruns a buffer; linked to be loaded anywhere (reports.sh). */
#include "make_buffer.h"

int main(void)
{
	tk_start();
	tk_flip(make_buffer(4096), 4096, 1);
	tk_sync();
}
