/* A library whose destructor has something to write: coverage data, a file that is still open. */
#include <stdio.h>

__attribute__((destructor)) static void write_it(void)
{
	printf(", written");
}
