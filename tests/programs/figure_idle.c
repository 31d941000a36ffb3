/*
 * How often the monitor wakes up while the GPU has nothing to do.
 *
 *	figure_idle [pinned [seconds]]
 *
 * A hundred buffers have been worked on and all work is proven done; with `pinned` not 0 a pinned buffer lives too,
 * which the CPU could write at any time. Counts the voluntary context switches of the monitor's thread and the CPU time
 * it took.
 */
#include "testkit.h"
#include <dirent.h>

#define BUFFERS 100

/* The number behind `key` in a file of the monitor's task, or the first one if key is NULL; -1: not there. */
static long long task_number(const char *task, const char *file, const char *key)
{
	char path[300], line[300];
	long long n = -1;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%s/%s", task, file);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f))
		if (!key || !strncmp(line, key, strlen(key))) {
			n = atoll(line + (key ? strlen(key) + 1 : 0));
			break;
		}
	if (f)
		fclose(f);
	return n;
}

/* The monitor's thread id as text; 0: there is none. */
static int find_monitor(char *task, size_t size)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], name[64] = "";

	REQUIRE(tasks);
	for (struct dirent *e; (e = readdir(tasks));) {
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (fgets(name, sizeof(name), f) && !strcmp(name, "gmod-monitor\n"))
			snprintf(task, size, "%.200s", e->d_name);
		fclose(f);
	}
	closedir(tasks);
	return task[0] != 0;
}

int main(int argc, char **argv)
{
	int pinned = argc > 1 ? atoi(argv[1]) : 0, seconds = argc > 2 ? atoi(argv[2]) : 5;
	long long wakes, ns;
	char task[256] = "";
	CUdeviceptr p;
	void *host;

	tk_start();
	for (int i = 0; i < BUFFERS; i++) {
		CK(cuMemAlloc(&p, 4000 + i));
		tk_flip(p, 0, 4000 + i);
	}
	if (pinned)
		CK(cuMemHostAlloc(&host, 4000, 0));
	tk_sync();
	if (!find_monitor(task, sizeof(task)))
		tk_skip("no thread named gmod-monitor");
	tk_sleep_ms(1500);
	wakes = task_number(task, "status", "voluntary_ctxt_switches");
	ns = task_number(task, "schedstat", NULL);
	tk_sleep_ms(seconds * 1000);
	wakes = task_number(task, "status", "voluntary_ctxt_switches") - wakes;
	ns = task_number(task, "schedstat", NULL) - ns;
	printf("pinned=%d wakeups_per_s=%.2f cpu_percent=%.4f\n", pinned, (double)wakes / seconds,
	       (double)ns / 1e7 / seconds);
	return 0;
}
