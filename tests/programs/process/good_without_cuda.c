// guarded: no
/* Linked with the driver, but never calls it: nothing of GMOD may show. */
#include "testkit.h"
#include <dirent.h>

int main(void)
{
	DIR *threads = opendir("/proc/self/task");
	int n = 0;

	REQUIRE(threads);
	for (struct dirent *e; (e = readdir(threads));)
		n += e->d_name[0] != '.';
	closedir(threads);
	printf("%d thread\n", n);
}
