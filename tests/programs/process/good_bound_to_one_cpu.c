/*
 * A program that binds the thread that uses the GPU to one CPU, as parallel runtimes do, has that CPU for itself:
 * GMOD's own thread is free to run on any that the process had at first. Nor does it run in real time where that thread
 * does, if it may.
 */
#include "proc.h"
#include <errno.h>
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

static void run_in_real_time(void)
{
	struct sched_param least = {.sched_priority = sched_get_priority_min(SCHED_FIFO)};

	if (sched_setscheduler(0, SCHED_FIFO, &least))
		REQUIRE(errno == EPERM);
}

/* Natively there is none. */
static void look_at_monitor(void)
{
	const char *monitor = proc_monitor();
	cpu_set_t its;
	int thread;

	if (!monitor)
		return;
	thread = atoi(strrchr(monitor, '/') + 1);
	REQUIRE(!sched_getaffinity(thread, sizeof(its), &its));
	REQUIRE(CPU_EQUAL(&its, &at_first));
	REQUIRE(sched_getscheduler(thread) == SCHED_OTHER);
}

int main(void)
{
	CUdeviceptr p;

	bind_to_one();
	run_in_real_time();
	tk_start();
	CK(cuMemAlloc(&p, 4096));
	tk_flip(p, 0, 4096);
	tk_sync();
	tk_sleep_ms(200);
	look_at_monitor();
	CK(cuMemFree(p));
	puts("done");
}
