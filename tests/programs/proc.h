/* What /proc says of the process and of GMOD's thread. */
#pragma once

#include "testkit.h"
#include <dirent.h>
#include <limits.h>

/* The number behind `key` and a colon in a file, or its first number if key is NULL; -1: not there. */
static TK_UNUSED long long proc_number(const char *path, const char *key)
{
	long long n = -1;
	char line[300];
	FILE *f = fopen(path, "r");

	while (f && fgets(line, sizeof(line), f))
		if (!key || !strncmp(line, key, strlen(key))) {
			n = atoll(line + (key ? strlen(key) + 1 : 0));
			break;
		}
	if (f)
		fclose(f);
	return n;
}

static TK_UNUSED long long proc_lines(const char *path)
{
	FILE *f = fopen(path, "r");
	long long n = 0;

	REQUIRE(f);
	for (int c; (c = getc(f)) != EOF;)
		n += c == '\n';
	fclose(f);
	return n;
}

static TK_UNUSED long long proc_entries(const char *path)
{
	DIR *directory = opendir(path);
	long long n = 0;

	REQUIRE(directory);
	while (readdir(directory))
		n++;
	closedir(directory);
	return n;
}

/* The directory of the monitor's thread, or NULL. Threads that the driver makes in it have its name, too. */
static TK_UNUSED const char *proc_monitor(void)
{
	DIR *tasks = opendir("/proc/self/task");
	char path[300], name[64];
	static char found[256];
	long first = LONG_MAX;

	REQUIRE(tasks);
	for (struct dirent *e; (e = readdir(tasks));) {
		long tid = atol(e->d_name);
		FILE *f;

		snprintf(path, sizeof(path), "/proc/self/task/%s/comm", e->d_name);
		f = fopen(path, "r");
		if (!f)
			continue;
		if (tid < first && fgets(name, sizeof(name), f) && !strcmp(name, "gmod-monitor\n")) {
			snprintf(found, sizeof(found), "/proc/self/task/%.200s", e->d_name);
			first = tid;
		}
		fclose(f);
	}
	closedir(tasks);
	return found[0] ? found : NULL;
}

/* The program is skipped where there is none. */
static TK_UNUSED long long proc_monitor_number(const char *file, const char *key)
{
	const char *monitor = proc_monitor();
	char path[300];

	if (!monitor)
		tk_skip("no thread named gmod-monitor");
	snprintf(path, sizeof(path), "%s/%s", monitor, file);
	return proc_number(path, key);
}

/* CPU time of the monitor so far, in ns; as of its last tick if it is running. */
static TK_UNUSED long long proc_monitor_ns(void)
{
	return proc_monitor_number("schedstat", NULL);
}
