/* gmod-tool doctor: driver, devices, backends and hooks on this machine. See lib/tool/tool.h. */
#include <cuda.h>

#include "lib/tool/tool.h"
#include "lib/base/options.h"
#include "lib/driver/newer.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *symbol, *base;
} hooks[] = {
#define GMOD_HOOK(symbol, base, version, flavour) {#symbol, #base},
#include "lib/driver/entrypoints.def"
};

#define HOOK_COUNT (sizeof(hooks) / sizeof(hooks[0]))

struct driver {
	void *handle;
	CUresult (*init)(unsigned);
	CUresult (*version)(int *);
	CUresult (*device_count)(int *);
	CUresult (*device_get)(CUdevice *, int);
	CUresult (*device_name)(char *, int, CUdevice);
	CUresult (*device_memory)(size_t *, CUdevice);
	CUresult (*device_attribute)(int *, CUdevice_attribute, CUdevice);
	CUresult (*error_name)(CUresult, const char **);
	CUresult (*address)(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);
};

/* What was found of what guarding needs. */
struct found {
	const char *missing; /* in words, NULL: nothing */
	int devices, guarded;
};

__attribute__((format(printf, 2, 3))) static void line(const char *what, const char *format, ...)
{
	va_list arguments;

	printf("%-10s", what);
	va_start(arguments, format);
	vprintf(format, arguments);
	va_end(arguments);
	putchar('\n');
}

static bool in_library(void *address)
{
	Dl_info info;

	return address && dladdr(address, &info) && info.dli_fname && strstr(info.dli_fname, "libgmod.so");
}

/* The first thing that is missing is the one to name. */
static bool lacks(struct found *found, const char *what)
{
	if (!found->missing)
		found->missing = what;
	return false;
}

/* Is libgmod.so in this process? The wrapper preloads it. */
static void check_library(struct found *found)
{
	void *ours = dlsym(RTLD_DEFAULT, "gmod_version");
	Dl_info info;

	if (in_library(ours) && dladdr(ours, &info)) {
		line("library", "%s, loaded", info.dli_fname);
		return;
	}
	line("library", "libgmod.so is not loaded into this process; run it as: gmod doctor");
	lacks(found, "libgmod.so is not loaded");
}

static bool find(const struct driver *driver, const char *symbol, void *slot)
{
	void *address = dlsym(driver->handle, symbol);

	memcpy(slot, &address, sizeof(address));
	return address != NULL;
}

static bool find_all(struct driver *driver)
{
	return find(driver, "cuInit", &driver->init) && find(driver, "cuDriverGetVersion", &driver->version) &&
	       find(driver, "cuDeviceGetCount", &driver->device_count) &&
	       find(driver, "cuDeviceGet", &driver->device_get) &&
	       find(driver, "cuDeviceGetName", &driver->device_name) &&
	       find(driver, "cuDeviceTotalMem_v2", &driver->device_memory) &&
	       find(driver, "cuDeviceGetAttribute", &driver->device_attribute) &&
	       find(driver, "cuGetErrorName", &driver->error_name);
}

/* What helps depends on whether there is a GPU that the driver cannot reach, or none that it may see. */
static void advise(CUresult result)
{
	if (result == CUDA_ERROR_NO_DEVICE)
		line("", "no GPU is to be seen: look at CUDA_VISIBLE_DEVICES and at what nvidia-smi says");
	else
		line("", "see whether nvidia-smi works; a driver that was updated needs its kernel module reloaded");
}

/* Loads and initialises the driver. */
static bool check_driver(struct driver *driver, struct found *found)
{
	const char *name = NULL;
	int version = 0;
	Dl_info info = {0};

	driver->handle = dlopen("libcuda.so.1", RTLD_NOW);
	if (!driver->handle) {
		line("driver", "none: %s", dlerror());
		line("", "install the NVIDIA driver; a container gets the host's, as with docker run --gpus all");
		return lacks(found, "there is no driver");
	}
	if (!find_all(driver)) {
		line("driver", "libcuda.so.1 lacks entry points of CUDA 4; it is not a driver GMOD can use");
		return lacks(found, "the driver cannot be used");
	}
	find(driver, "cuGetProcAddress_v2", &driver->address);
	dladdr((void *)driver->device_name, &info);
	CUresult result = driver->init(0);
	if (result != CUDA_SUCCESS) {
		driver->error_name(result, &name);
		line("driver", "%s: cuInit says %s", info.dli_fname ? info.dli_fname : "libcuda.so.1",
		     name ? name : "an unknown error");
		advise(result);
		return lacks(found, "the driver does not start");
	}
	driver->version(&version);
	line("driver", "%s, CUDA %d.%d", info.dli_fname ? info.dli_fname : "libcuda.so.1", version / 1000,
	     version % 1000 / 10);
	return true;
}

static int attribute(const struct driver *driver, CUdevice_attribute which, CUdevice device)
{
	int value = 0;

	return driver->device_attribute(&value, which, device) == CUDA_SUCCESS ? value : 0;
}

/* Whether faults=exact can be had, as far as can be known without a fault. */
static void say_faults(const struct driver *driver, int devices)
{
	int version = 0, mps = 0;

	driver->version(&version);
	for (int i = 0; i < devices; i++)
		mps |= attribute(driver, CU_DEVICE_ATTRIBUTE_MPS_ENABLED, i);
	line("faults", "%s",
	     version < 12050 ? "by suspects only: faults=exact needs a driver of CUDA 12.5 or later"
	     : mps           ? "by suspects only: under MPS a dump would end the other clients"
			     : "named exactly with faults=exact (gmod --exact)");
}

/* What the options ask for and the device has not; NULL: it has all. */
static const char *shortage(bool concurrent, bool mappings, bool mapped, const struct gmod_options *options)
{
	if (options->backend == GMOD_OPTION_BACKEND_MANAGED && !concurrent)
		return "backend managed needs concurrentManagedAccess: device buffers are not guarded";
	if (options->backend == GMOD_OPTION_BACKEND_FENCE && !mappings)
		return "backend fence; the device has no virtual memory management, and buffers are as with device";
	if (options->backend == GMOD_OPTION_BACKEND_UNIFIED && !mapped)
		return "backend unified; the device cannot map host pages, and large buffers are as with device";
	return NULL;
}

static void say_backend(bool concurrent, bool mappings, bool mapped, const struct gmod_options *options)
{
	static const char *const says[] = {
	    [GMOD_OPTION_BACKEND_DEVICE] = "backend device: canaries in the driver's own allocations",
	    [GMOD_OPTION_BACKEND_UNIFIED] = "backend unified: buffers of 2 MiB and more are mapped between host pages",
	    [GMOD_OPTION_BACKEND_MANAGED] = "backend managed: device buffers are managed memory",
	    [GMOD_OPTION_BACKEND_FENCE] = "backend fence: nothing is mapped behind the buffers",
	    [GMOD_OPTION_BACKEND_NATIVE] = "backend native, as backend=native asks; any other would do too",
	};
	const char *shorter = shortage(concurrent, mappings, mapped, options);

	line("", "%s", shorter ? shorter : says[options->backend]);
}

static void check_device(const struct driver *driver, int ordinal, const struct gmod_options *options,
			 struct found *found)
{
	char title[32], name[256] = "?";
	size_t bytes = 0;
	CUdevice device;

	snprintf(title, sizeof(title), "device %d", ordinal);
	if (driver->device_get(&device, ordinal) != CUDA_SUCCESS) {
		line(title, "cannot be used");
		return;
	}
	driver->device_name(name, sizeof(name), device);
	driver->device_memory(&bytes, device);
	int concurrent = attribute(driver, CU_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS, device);
	int pageable = attribute(driver, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS, device);
	int mappings = attribute(driver, CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED, device);
	int mapped = mappings && attribute(driver, CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM, device);

	line(title, "%s, %.1f GiB, concurrentManagedAccess=%d, pageableMemoryAccess=%d", name,
	     (double)bytes / (1 << 30), concurrent, pageable);
	say_backend(concurrent, mappings, mapped, options);
	found->guarded += options->backend != GMOD_OPTION_BACKEND_MANAGED || concurrent;
}

static bool check_devices(const struct driver *driver, const struct gmod_options *options, struct found *found)
{
	int count = 0;

	if (driver->device_count(&count) != CUDA_SUCCESS || count == 0) {
		line("devices", "none");
		advise(CUDA_ERROR_NO_DEVICE);
		return lacks(found, "there is no device");
	}
	for (int i = 0; i < count; i++)
		check_device(driver, i, options, found);
	found->devices = count;
	say_faults(driver, count);
	return true;
}

/* hook: that of the newest ABI that GMOD knows, in one row of each name. The driver may have a newer one. */
static void say_if_outdated(const struct driver *driver, const char *base, const void *hook)
{
	CUdriverProcAddressQueryResult unused;
	void *known = NULL, *latest = NULL;
	int version = 0;

	driver->version(&version);
	if (!hook || version <= GMOD_NEWEST_CUDA)
		return;
	driver->address(base, &known, GMOD_NEWEST_CUDA, 0, &unused);
	driver->address(base, &latest, version, 0, &unused);
	if (known == hook && latest != hook)
		line("newer", "%s is newer than this GMOD, and is passed through", base);
}

/* A hook is armed when a program that asks the driver for the entry point gets GMOD's. */
static bool check_hooks(const struct driver *driver, struct found *found)
{
	size_t armed = 0, absent = 0;
	Dl_info info;

	for (size_t i = 0; i < HOOK_COUNT; i++) {
		void *address = dlsym(driver->handle, hooks[i].symbol);

		armed += in_library(address);
		absent += address == NULL;
		say_if_outdated(driver, hooks[i].base, address);
	}
	line("hooks", "%zu of %zu armed%s", armed, HOOK_COUNT,
	     absent ? ", those this driver does not have left out" : "");
	if (armed > 0 && armed + absent == HOOK_COUNT)
		return true;
	if (!found->missing && dladdr((void *)dlsym, &info) && !in_library((void *)dlsym)) {
		line("", "dlsym is that of %s, which passes GMOD by: put libgmod.so first in LD_PRELOAD",
		     info.dli_fname);
		return lacks(found, "another library passes GMOD by");
	}
	return lacks(found, "not every hook is armed");
}

/* What keeps device memory from being guarded, NULL: nothing. */
static const char *limit(const struct found *found, const struct gmod_options *options)
{
	if (!options->enabled)
		return "off (enabled=0)";
	if (options->backend == GMOD_OPTION_BACKEND_NATIVE)
		return "pinned memory only (backend=native)";
	return found->guarded ? NULL
			      : "pinned memory only (backend=managed, and no device has concurrentManagedAccess)";
}

/* The last line: what a program would get here, with these options. */
static bool conclude(const struct found *found, const struct gmod_options *options)
{
	const char *limited = limit(found, options);
	char sampled[64] = "";

	if (options->sample_rate > 1)
		snprintf(sampled, sizeof(sampled), ", one allocation in %u (sample_rate)", options->sample_rate);
	if (found->missing)
		line("guarding", "no: %s", found->missing);
	else if (limited)
		line("guarding", "%s", limited);
	else if (found->guarded < found->devices)
		line("guarding", "yes, on %d of %d devices%s; pinned memory only on what lacks concurrentManagedAccess",
		     found->guarded, found->devices, sampled);
	else
		line("guarding", "yes%s", sampled);
	return !found->missing && !limited;
}

int tool_doctor(char **arguments __attribute__((unused)))
{
	struct driver driver = {0};
	struct found found = {0};
	struct gmod_options options;
	const char *text = getenv("GMOD_OPTIONS");

	gmod_options_defaults(&options);
	gmod_options_parse(&options, text, NULL, NULL);
	check_library(&found);
	line("options", "%s", text && *text ? text : "all at their defaults");
	line("python", "%s native frames only",
	     options.python_lines ? "lines of CPython 3.11 to 3.14; free-threaded, in sub-interpreters, others:" : "");
	if (check_driver(&driver, &found) && check_devices(&driver, &options, &found))
		check_hooks(&driver, &found);
	return conclude(&found, &options) ? 0 : TOOL_FAILED;
}
