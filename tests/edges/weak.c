/* Asks by a weak reference whether there is a driver, as programs do that run without one, too. Not linked with it. */
#include <stdio.h>

extern __attribute__((weak)) int cuInit(unsigned);

int main(void)
{
	printf("a driver: %s\n", cuInit ? "yes" : "no");
	return cuInit && cuInit(0);
}
