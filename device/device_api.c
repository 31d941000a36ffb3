/* The functions of include/gmod.h that are about memory that kernels allocate. */
#include <string.h>

#include "device/guard.h"
#include "device/heaps.h"
#include "device/settings.h"
#include "device/stats.h"
#include "lib/driver/driver.h"
#include "lib/base/deadline.h"
#include "monitor/launches/activity.h"
#include "monitor/report/report.h"
#include "monitor/watch/damage.h"

#define CHECK_PATIENCE GMOD_SECONDS(2)

GMOD_EXPORT enum gmod_status gmod_device_configure(const struct gmod_device_config *config)
{
	struct gmod_device_config c = {0};

	if (!config)
		return GMOD_INVALID;
	memcpy(&c, config, config->struct_size < sizeof(c) ? config->struct_size : sizeof(c));
	return gmod_settings_change(&c);
}

/* What is asked of one heap, and how that went. */
struct request {
	enum gmod_status status;
	bool stop;
	struct gmod_device_stats stats;
};

static enum gmod_status ask(void (*what)(struct gmod_heap *h, void *request), struct request *r)
{
	enum gmod_status status;

	if (!gmod_on())
		return GMOD_INACTIVE;
	r->status = GMOD_FAILED;
	status = gmod_guard_visit(gmod_context_owner(), what, r);
	return status == GMOD_OK ? r->status : status;
}

static void set_stopped(struct gmod_heap *h, void *request)
{
	struct request *r = request;

	h->stopped = r->stop;
	r->status = GMOD_OK;
}

GMOD_EXPORT enum gmod_status gmod_device_start(void)
{
	struct request r = {.stop = false};
	enum gmod_status status = ask(set_stopped, &r);

	if (status == GMOD_OK)
		gmod_activity_wake();
	return status;
}

GMOD_EXPORT enum gmod_status gmod_device_stop(void)
{
	struct request r = {.stop = true};
	enum gmod_status status = ask(set_stopped, &r);

	/* Nothing of the guard's is on the device when we return. */
	if (status == GMOD_OK && !gmod_guard_settle(NULL, CHECK_PATIENCE))
		status = GMOD_BUSY;
	return status;
}

GMOD_EXPORT enum gmod_status gmod_device_check(void)
{
	bool complete;

	if (!gmod_on())
		return GMOD_INACTIVE;
	complete = gmod_guard_check(NULL, CHECK_PATIENCE);
	gmod_damage_settle(false);
	gmod_report_await();
	return complete ? GMOD_OK : GMOD_BUSY;
}

static void get_stats(struct gmod_heap *h, void *request)
{
	struct request *r = request;

	if (gmod_heap_stats(h, &r->stats))
		r->status = GMOD_OK;
}

GMOD_EXPORT enum gmod_status gmod_device_get_stats(struct gmod_device_stats *stats)
{
	struct request r = {.stop = false};
	enum gmod_status status = stats ? ask(get_stats, &r) : GMOD_INVALID;

	if (!stats)
		return status;
	r.stats.struct_size = stats->struct_size;
	memcpy(stats, &r.stats, stats->struct_size < sizeof(r.stats) ? stats->struct_size : sizeof(r.stats));
	return status;
}
