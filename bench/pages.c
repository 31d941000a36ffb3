/*
 * Counts the pages of managed memory that move in a program, and the faults that move them, with CUPTI's counters of
 * unified memory. The driver loads this library into a program where CUDA_INJECTION64_PATH names it.
 *
 * When the program exits a line is written to the file that GMOD_PAGES names, or to stderr: either
 *	htod_bytes=N dtoh_bytes=N cpu_faults=N gpu_faults=N dropped=N
 * or "skipped: " and why there are no counts. Bytes go to the device and to the host; of the GPU's faults those for the
 * same page that come together count as one; dropped are records for which CUPTI had no room: then all is too little.
 *
 * CUPTI is looked for when the program runs, at GMOD_CUPTI, by name and where toolkits have it, and what is used of it
 * is declared here: the bench builds without it.
 */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- of cupti.h, by other names ---- */

enum { SUCCESS, MAX_LIMIT_REACHED = 12 };
enum { DOMAIN_RESOURCE = 3, CONTEXT_CREATED = 1 };
enum { KIND_COUNTER = 25, FLUSH_FORCED = 1, SCOPE_ALL_DEVICES = 2 };
enum { HTOD_BYTES = 1, DTOH_BYTES, CPU_FAULT, GPU_FAULTS, COUNTERS = GPU_FAULTS };

struct config {
	int scope, kind;
	uint32_t device, enable;
};

/* How a record begins. Of a CPU's fault the value is the instruction that caused it. */
struct record {
	int kind, counter;
	uint64_t value;
};

typedef void callback(void *user, int domain, uint32_t id, const void *data);
typedef void requested(uint8_t **buffer, size_t *size, size_t *max_records);
typedef void completed(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid);

#define FUNCTIONS(X) \
	X(cuptiSubscribe, (void **subscriber, callback *called, void *user)) \
	X(cuptiEnableCallback, (uint32_t enable, void *subscriber, int domain, uint32_t id)) \
	X(cuptiActivityRegisterCallbacks, (requested * ask, completed * take)) \
	X(cuptiActivityConfigureUnifiedMemoryCounter, (void *config, uint32_t count)) \
	X(cuptiActivityEnable, (int kind)) \
	X(cuptiActivityFlushAll, (uint32_t flags)) \
	X(cuptiActivityGetNextRecord, (void *buffer, size_t valid, void *record)) \
	X(cuptiActivityGetNumDroppedRecords, (void *context, uint32_t stream, size_t *dropped)) \
	X(cuptiGetResultString, (int result, const char **text))

#if __has_include(<cupti.h>)
#include <cupti.h>

#define AS_DECLARED(here, there) _Static_assert((size_t)(here) == (size_t)(there), #there)
AS_DECLARED(SUCCESS, CUPTI_SUCCESS);
AS_DECLARED(MAX_LIMIT_REACHED, CUPTI_ERROR_MAX_LIMIT_REACHED);
AS_DECLARED(DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_RESOURCE);
AS_DECLARED(CONTEXT_CREATED, CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
AS_DECLARED(KIND_COUNTER, CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER);
AS_DECLARED(FLUSH_FORCED, CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
AS_DECLARED(SCOPE_ALL_DEVICES, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_SCOPE_PROCESS_ALL_DEVICES);
AS_DECLARED(HTOD_BYTES, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD);
AS_DECLARED(DTOH_BYTES, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH);
AS_DECLARED(CPU_FAULT, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT);
AS_DECLARED(GPU_FAULTS, CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT);
AS_DECLARED(sizeof(struct config), sizeof(CUpti_ActivityUnifiedMemoryCounterConfig));
AS_DECLARED(offsetof(struct config, kind), offsetof(CUpti_ActivityUnifiedMemoryCounterConfig, kind));
AS_DECLARED(offsetof(struct config, enable), offsetof(CUpti_ActivityUnifiedMemoryCounterConfig, enable));
AS_DECLARED(offsetof(struct record, counter), offsetof(CUpti_ActivityUnifiedMemoryCounter2, counterKind));
AS_DECLARED(offsetof(struct record, value), offsetof(CUpti_ActivityUnifiedMemoryCounter2, value));
#endif

#define MEMBER(name, arguments) int(*name) arguments;
static struct {
	FUNCTIONS(MEMBER)
} cupti;

/* ---- counting ---- */

enum { BUFFER = 4 << 20 };

static _Atomic uint64_t counts[COUNTERS + 1], dropped;
static atomic_bool begun;
static char skipped[300];

/* For the line at the end; the first reason stands. */
static bool because(const char *what, const char *why)
{
	if (!skipped[0])
		snprintf(skipped, sizeof(skipped), "%s: %s", what, why);
	return false;
}

static bool done(int result, const char *what)
{
	const char *text = NULL;

	if (result == SUCCESS)
		return true;
	cupti.cuptiGetResultString(result, &text);
	return because(what, text ? text : "an error without a name");
}

static void ask(uint8_t **buffer, size_t *size, size_t *max_records)
{
	*buffer = aligned_alloc(8, BUFFER);
	*size = *buffer ? BUFFER : 0;
	*max_records = 0; /* as many as there is room for */
}

static void count(const struct record *r)
{
	if (r->kind == KIND_COUNTER && r->counter >= HTOD_BYTES && r->counter <= COUNTERS)
		atomic_fetch_add(&counts[r->counter], r->counter == CPU_FAULT ? 1 : r->value);
}

static void take(void *context, uint32_t stream, uint8_t *buffer, size_t size, size_t valid)
{
	struct record *r = NULL;
	size_t lost = 0;
	int result = SUCCESS;

	(void)size;
	while (valid && (result = cupti.cuptiActivityGetNextRecord(buffer, valid, &r)) == SUCCESS)
		count(r);
	if (result != MAX_LIMIT_REACHED)
		done(result, "cuptiActivityGetNextRecord");
	if (done(cupti.cuptiActivityGetNumDroppedRecords(context, stream, &lost), "cuptiActivityGetNumDroppedRecords"))
		atomic_fetch_add(&dropped, lost);
	free(buffer);
}

static void begin(void)
{
	struct config config[COUNTERS];

	for (int i = 0; i < COUNTERS; i++)
		config[i] = (struct config){.scope = SCOPE_ALL_DEVICES, .kind = i + 1, .enable = 1};
	if (done(cupti.cuptiActivityConfigureUnifiedMemoryCounter(config, COUNTERS),
		 "cuptiActivityConfigureUnifiedMemoryCounter"))
		done(cupti.cuptiActivityEnable(KIND_COUNTER), "cuptiActivityEnable");
}

/* The counters want a driver that is initialised, which it is not yet when it loads this library. */
static void called(void *user, int domain, uint32_t id, const void *data)
{
	(void)user;
	(void)data;
	if (domain == DOMAIN_RESOURCE && id == CONTEXT_CREATED && !atomic_exchange(&begun, true))
		begin();
}

/* ---- the program's life ---- */

static void *open_cupti(void)
{
	static const char *const places[] = {
	    "libcupti.so.13",
	    "libcupti.so.12",
	    "/usr/local/cuda/lib64/libcupti.so",
	    "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so",
	};
	const char *named = getenv("GMOD_CUPTI");
	void *library = NULL;

	if (named)
		return dlopen(named, RTLD_NOW);
	for (size_t i = 0; i < sizeof(places) / sizeof(*places) && !library; i++)
		library = dlopen(places[i], RTLD_NOW);
	return library;
}

static bool load(void)
{
	void *library = open_cupti();

	if (!library)
		return because("libcupti", "it is not here");
#define LOOK_UP(name, arguments) \
	if (!(*(void **)&cupti.name = dlsym(library, #name))) \
		return because("libcupti has no", #name);
	FUNCTIONS(LOOK_UP)
	return true;
}

static bool start(void)
{
	void *subscriber = NULL;

	return load() && done(cupti.cuptiActivityRegisterCallbacks(ask, take), "cuptiActivityRegisterCallbacks") &&
	       done(cupti.cuptiSubscribe(&subscriber, called, NULL), "cuptiSubscribe") &&
	       done(cupti.cuptiEnableCallback(1, subscriber, DOMAIN_RESOURCE, CONTEXT_CREATED), "cuptiEnableCallback");
}

static void say(void)
{
	const char *path = getenv("GMOD_PAGES");
	FILE *file = path ? fopen(path, "w") : stderr;

	if (!file)
		return;
	if (skipped[0])
		fprintf(file, "skipped: %s\n", skipped);
	else
		fprintf(file, "htod_bytes=%ju dtoh_bytes=%ju cpu_faults=%ju gpu_faults=%ju dropped=%ju\n",
			(uintmax_t)counts[HTOD_BYTES], (uintmax_t)counts[DTOH_BYTES], (uintmax_t)counts[CPU_FAULT],
			(uintmax_t)counts[GPU_FAULTS], (uintmax_t)dropped);
	if (path)
		fclose(file);
}

static void end(void)
{
	if (!skipped[0] && !begun)
		because("CUPTI", "it saw no context");
	if (!skipped[0])
		done(cupti.cuptiActivityFlushAll(FLUSH_FORCED), "cuptiActivityFlushAll");
	say();
}

int InitializeInjection(void);

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	start();
	return atexit(end) == 0;
}
