/*
 * A program that binds the thread that uses the GPU to one CPU, as parallel runtimes do, has that CPU for itself:
 * GMOD's own thread is free to run on any that the process had at first.
 */
#include "testkit.h"
#include <dirent.h>
#include <sched.h>

static cpu_set_t at_first;

static void bind_to_one(void)
{
	cpu_set_t one;
	int cpu = 0;

	REQUIRE(!sched_getaffinity(0, sizeof(at_first), &at_first));
	while (!CPU_ISSET(cpu, &at_first))
		cpu++;
	CPU_ZERO(&one);
	CPU_SET(cpu, &one);
	REQUIRE(!sched_setaffinity(0, sizeof(one), &one));
}

static int is_gmods(const char *task)
{
	char path[300], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/comm", task);
	f = fopen(path, "r");
	if (f && !fgets(name, sizeof(name), f))
		name[0] = 0;
	if (f)
		fclose(f);
	return !strcmp(name, "gmod-monitor\n");
}

/* Natively there is none. */
static void look_at_monitor(void)
{
	DIR *tasks = opendir("/proc/self/task");
	cpu_set_t its;

	REQUIRE(tasks);
	for (struct dirent *e; (e = readdir(tasks));) {
		if (!is_gmods(e->d_name))
			continue;
		REQUIRE(!sched_getaffinity(atoi(e->d_name), sizeof(its), &its));
		REQUIRE(CPU_EQUAL(&its, &at_first));
	}
	closedir(tasks);
}

int main(void)
{
	CUdeviceptr p;

	bind_to_one();
	tk_start();
	CK(cuMemAlloc(&p, 4096));
	tk_flip(p, 0, 4096);
	tk_sync();
	tk_sleep_ms(200);
	look_at_monitor();
	CK(cuMemFree(p));
	puts("done");
	return 0;
}
