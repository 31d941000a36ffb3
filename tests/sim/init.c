/* The life of the driver: cuInit, forked children, the teardown at exit; and what needs no device. */
#include "sim.h"

#include <stdlib.h>
#include <unistd.h>

struct sim sim = {.done = PTHREAD_COND_INITIALIZER};
bool sim_forked;

static size_t from_environment(const char *name, size_t otherwise)
{
	const char *value = getenv(name);

	return value && *value ? strtoull(value, NULL, 0) : otherwise;
}

static void __attribute__((constructor)) read_environment(void)
{
	size_t devices = from_environment("SIM_DEVICES", 1);

	sim.devices = devices < SIM_MAX_DEVICES ? (int)devices : SIM_MAX_DEVICES;
	sim.memory = from_environment("SIM_MEMORY", (size_t)16 << 30);
	sim.concurrent_managed = from_environment("SIM_CONCURRENT_MANAGED", 1);
	sim.seal = from_environment("SIM_SEAL", 0);
	sim.mps = from_environment("SIM_MPS", 0);
	sim.dump.delay = from_environment("SIM_DUMP_DELAY", 45);
	sim.dump.cut = from_environment("SIM_DUMP_CUT", SIZE_MAX);
	sim.dump.empty = from_environment("SIM_DUMP_EMPTY", 0);
	sim.dump.forgotten = from_environment("SIM_DUMP_FORGOTTEN", 0);
	sim.page = sysconf(_SC_PAGESIZE);
}

/* The device is not the child's: a store there must not reach the parent's, and ends it. */
static void in_forked_child(void)
{
	sim_forked = true;
	range_close(sim_device_arena.base, sim_device_arena.size);
}

/*
 * As the driver's own: after this every call fails and device memory is gone. What the host can use stays to the end,
 * which nobody should rely on (SIM_SEAL). Workers that touch what is gone are parked by the fault handler, the others
 * die with the process; nobody waits for them.
 */
static void tear_down(void)
{
	if (sim_forked)
		return;
	sim_lock();
	coredump_finish();
	sim.state = SIM_TORN_DOWN;
	ledger_write();
	arenas_seal(sim.seal);
	pthread_cond_broadcast(&sim.done);
	sim_unlock();
}

static CUresult initialise(unsigned flags)
{
	if (sim_forked)
		return CUDA_ERROR_NOT_INITIALIZED;
	if (flags)
		return CUDA_ERROR_INVALID_VALUE;
	if (sim.state == SIM_TORN_DOWN)
		return CUDA_ERROR_DEINITIALIZED;
	if (sim.state == SIM_READY)
		return CUDA_SUCCESS;
	if (sim.devices == 0)
		return CUDA_ERROR_NO_DEVICE;
	if (!arenas_create())
		return CUDA_ERROR_OPERATING_SYSTEM;
	fault_install();
	coredump_read_environment();
	pthread_atfork(NULL, NULL, in_forked_child);
	atexit(tear_down);
	sim.state = SIM_READY;
	return CUDA_SUCCESS;
}

ENTRY(cuInit, NEEDS_NOTHING, TAKES(unsigned int Flags), initialise(Flags))
ENTRY(cuDriverGetVersion, NEEDS_NOTHING, TAKES(int *driverVersion), ANSWER(driverVersion, sim_version))
