/* The program asks for too much, and stops and starts the guard while a kernel allocates. */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_configure
#pragma weak gmod_device_start
#pragma weak gmod_device_stop
#pragma weak gmod_device_get_stats

enum { BUFFERS = 300, SIZE = 100 };

static CUdeviceptr missing, bad;
static volatile int *stop;

static enum gmod_status configure(uint64_t heap_bytes, unsigned guards)
{
	struct gmod_device_config c = {sizeof(c), heap_bytes, guards};

	return gmod_device_configure(&c);
}

static void ask_for_too_much(void)
{
	if (!gmod_device_configure)
		return;
	REQUIRE(gmod_device_configure(NULL) == GMOD_INVALID);
	REQUIRE(configure(0, 300) == GMOD_INVALID);
	REQUIRE(configure(GMOD_DEVICE_HEAP_MAX + 1, 0) == GMOD_INVALID);
	REQUIRE(configure(64 << 20, 0) == GMOD_TOO_LATE);
	REQUIRE(configure(0, 8) == GMOD_TOO_LATE);
	REQUIRE(configure(0, 0) == GMOD_OK);
}

/* Calls that wait for the device, or need all of it, with buffers of kernels around them. */
static void use_the_device(void)
{
	long long count = BUFFERS, size = SIZE;
	CUdeviceptr p, memory;
	CUmodule module;

	p = ik_alloc(count, size);
	tk_launch_n(ik_kernel("d_fill"), count, NULL, TK_ARGS(&p, &count, &size));
	CK(cuMemAlloc(&memory, 5000));
	module = ik_another();
	CK(cuMemsetD8(memory, 7, 5000));
	CK(cuModuleUnload(module));
	CK(cuMemFree(memory));
	tk_launch_n(ik_kernel("d_check"), count, NULL, TK_ARGS(&p, &count, &size, &bad));
	ik_free(p, count, 0);
	tk_sync();
	CK(cuMemFree(p));
}

static uint64_t passes(void)
{
	struct gmod_device_stats s = {.struct_size = sizeof(s)};

	REQUIRE(gmod_device_get_stats(&s) == GMOD_OK);
	return s.passes;
}

/* The guard makes passes beside a kernel that does not end. */
static void require_passes(void)
{
	double end = tk_ms() + 10000;
	uint64_t now;

	if (!gmod_device_get_stats)
		return;
	for (now = passes(); passes() < now + 10 && tk_ms() < end;)
		tk_sleep_ms(1);
	REQUIRE(passes() >= now + 10);
}

static void require_none_while_stopped(void)
{
	uint64_t now;

	if (!gmod_device_stop)
		return;
	REQUIRE(gmod_device_stop() == GMOD_OK);
	now = passes();
	tk_sleep_ms(50);
	REQUIRE(passes() == now);
	REQUIRE(gmod_device_start() == GMOD_OK);
}

static void stop_and_start(void)
{
	long long rounds = 1ll << 40, size = SIZE;

	*stop = 0;
	tk_launch(ik_kernel("d_pairs"), 1, 32, NULL, TK_ARGS(&rounds, &size, &missing, &stop));
	require_passes();
	require_none_while_stopped();
	require_passes();
	*stop = 1;
	tk_sync();
}

int main(void)
{
	ik_start();
	missing = ik_counter();
	bad = ik_counter();
	stop = tk_flag();
	use_the_device();
	ask_for_too_much();
	for (int i = 0; i < 5; i++)
		use_the_device();
	stop_and_start();
	printf("not got: %d, bytes gone: %d\n", ik_count(missing), ik_count(bad));
}
