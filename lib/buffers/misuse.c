#include "lib/buffers/misuse.h"

#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lib/base/phase.h"
#include "lib/base/facts.h"
#include "lib/base/clock.h"
#include "lib/base/unwind.h"
#include "monitor/registry/freed.h"
#include "monitor/registry/index.h"
#include "monitor/report/report.h"

static void remember_buffer(const struct gmod_record *r, const struct gmod_stack *at, bool ended)
{
	struct gmod_buffer_facts f = gmod_record_facts(r);

	f.freed_ns = gmod_now().ns;
	f.freed_tid = syscall(SYS_gettid);
	f.freed_at = *at;
	f.ended = ended;
	gmod_freed_remember(&f);
}

void gmod_misuse_remember_free(const struct gmod_record *r)
{
	struct gmod_stack at;

	gmod_unwind(&at, gmod_options()->stack_depth);
	remember_buffer(r, &at, false);
}

void gmod_misuse_remember_end(const struct gmod_record *r, const struct gmod_stack *at)
{
	if (!gmod_record_details(r)->kept_back)
		remember_buffer(r, at, true);
}

static void begin_finding(struct gmod_finding *f, enum gmod_class class, uint64_t address, const char *entry_point,
			  CUresult error)
{
	memset(f, 0, sizeof(*f));
	f->id = gmod_finding_next_id();
	f->class = class;
	f->status = GMOD_FINAL;
	f->address = address;
	f->entry_point = entry_point;
	f->error = error;
	f->error_name = error == CUDA_ERROR_INVALID_VALUE ? "CUDA_ERROR_INVALID_VALUE" : NULL;
	f->seen_ns = gmod_now().ns;
	f->called_tid = syscall(SYS_gettid);
	gmod_unwind(&f->called_at, gmod_options()->stack_depth);
}

/* Facts of a buffer that was live and that somebody else may be freeing: whole or, when it is gone, not at all. */
static bool copy_facts(const struct gmod_found *found, struct gmod_buffer_facts *facts)
{
	*facts = gmod_record_facts(found->record);
	atomic_thread_fence(memory_order_acquire);
	return atomic_load_explicit(&found->record->word, memory_order_relaxed) >> 2 == found->word >> 2;
}

/* A native buffer: the driver knows its bounds, nobody knows who allocated it. */
static void ask_driver(uint64_t address, struct gmod_buffer_facts *facts)
{
	CUdeviceptr base = 0;
	size_t size = 0;

	CUresult r = NEXT(cuMemGetAddressRange_v2)(&base, &size, address);

	/* Memory of no allocation is not found, and no failure of ours. */
	if (r != CUDA_SUCCESS && r != CUDA_ERROR_NOT_FOUND && r != CUDA_ERROR_INVALID_VALUE)
		gmod_degraded("cuMemGetAddressRange");
	if (r != CUDA_SUCCESS)
		return;
	facts->base = base;
	facts->size = size;
	facts->backend = "native";
}

static void find_around(uint64_t address, struct gmod_found found, struct gmod_buffer_facts *facts)
{
	if (!found.record || !copy_facts(&found, facts)) {
		memset(facts, 0, sizeof(*facts));
		ask_driver(address, facts);
	}
}

/* What lay there comes first: another buffer may have begun there before it. */
static bool is_second_free(uint64_t address, const struct gmod_found *found, struct gmod_buffer_facts *facts)
{
	if (found->record && copy_facts(found, facts))
		return facts->base == address && !gmod_record_live(found->record);
	if (gmod_freed_find(address, facts))
		return true;
	find_around(address, gmod_index_find(address), facts);
	return false;
}

static void report_free(uint64_t address, const struct gmod_found *found, const char *entry_point, CUresult error)
{
	struct gmod_finding f;

	begin_finding(&f, GMOD_INVALID_FREE, address, entry_point, error);
	if (is_second_free(address, found, &f.buffer))
		f.class = GMOD_DOUBLE_FREE;
	f.offset = f.buffer.base ? (int64_t)(address - f.buffer.base) : 0;
	gmod_report(&f);
}

/* The driver is asked before the report: a thread that is cancelled there would take the finding with it. */
void gmod_misuse_free(uint64_t address, const struct gmod_found *found, const char *entry_point, CUresult error)
{
	struct gmod_cancel cancel;

	if (!gmod_on() || !address)
		return;
	cancel = gmod_cancel_begin();
	report_free(address, found, entry_point, error);
	gmod_cancel_end(cancel);
}

bool gmod_misuse_is_outside(uint64_t address, uint64_t length)
{
	struct gmod_found found = gmod_index_find(address);

	if (!found.record || !length)
		return false;
	return address < found.bounds.user || address - found.bounds.user > found.bounds.size ||
	       length > found.bounds.size - (address - found.bounds.user);
}

/* The buffer that a range reaches which begins before it, where nothing is. */
static struct gmod_found find_reached(uint64_t address, uint64_t length)
{
	struct gmod_found found = gmod_index_find(address + length - 1);

	if (!found.record || address >= found.bounds.user || address + length <= found.bounds.user)
		found.record = NULL;
	return found;
}

/*
 * Whose the range was to be: it may begin in what lies behind one buffer and reach into the next one. The one that is
 * nearer to its beginning, as for what kernels change (monitor/watch/damage.c).
 */
static struct gmod_found find_meant(uint64_t address, uint64_t length)
{
	struct gmod_found front = gmod_index_find(address), behind;
	uint64_t past, before;

	if (!front.record)
		return find_reached(address, length);
	if (address < front.bounds.user + front.bounds.size)
		return front;
	behind = gmod_index_find(front.bounds.tail_to);
	past = address - front.bounds.user - front.bounds.size;
	before = behind.bounds.user - address;
	return behind.record && before < length && before <= past ? behind : front;
}

static void out_of_bounds(uint64_t address, uint64_t length, const char *entry_point, CUresult error)
{
	struct gmod_finding f;
	uint64_t end_of_buffer;
	struct gmod_cancel cancel;

	if (!gmod_on())
		return;
	cancel = gmod_cancel_begin();
	begin_finding(&f, GMOD_API_OUT_OF_BOUNDS, address, entry_point, error);
	find_around(address, find_meant(address, length), &f.buffer);
	f.length = length;
	end_of_buffer = f.buffer.base + f.buffer.size;
	f.offset = address < f.buffer.base   ? (int64_t)(address - f.buffer.base)
		   : address > end_of_buffer ? (int64_t)(address - end_of_buffer)
					     : 0;
	gmod_report(&f);
	gmod_cancel_end(cancel);
}

bool gmod_misuse_refuses(uint64_t address, uint64_t length, const char *entry_point)
{
	if (gmod_phase() == GMOD_OFF || !gmod_misuse_is_outside(address, length))
		return false;
	out_of_bounds(address, length, entry_point, CUDA_ERROR_INVALID_VALUE);
	return true;
}

bool gmod_misuse_refused(uint64_t address, uint64_t length, const char *entry_point, CUresult error)
{
	struct gmod_buffer_facts facts = {0}, behind = {0};
	struct gmod_cancel cancel = gmod_cancel_begin();
	bool refused = false;

	if (address && length) {
		ask_driver(address, &facts);
		refused = !facts.base && find_reached(address, length).record;
	}
	if (facts.base && length > facts.size - (address - facts.base)) {
		/* A range over several mappings side by side is valid: then the driver has refused something else. */
		ask_driver(facts.base + facts.size, &behind);
		refused = !behind.base;
	}
	if (refused)
		out_of_bounds(address, length, entry_point, error);
	gmod_cancel_end(cancel);
	return refused;
}

void gmod_misuse_report_leaks(void)
{
	uint32_t positions = gmod_registry_used();

	for (uint32_t i = 0; i < positions; i++) {
		struct gmod_record *r = gmod_record_at(i);
		struct gmod_found found = {.record = r};
		struct gmod_finding f = {.class = GMOD_LEAK, .status = GMOD_FINAL, .seen_ns = gmod_now().ns};

		found.word = gmod_record_snapshot(r, &found.bounds);
		if (!found.word || gmod_record_details(r)->kept_back || gmod_record_details(r)->name ||
		    !copy_facts(&found, &f.buffer))
			continue;
		f.id = gmod_finding_next_id();
		gmod_report(&f);
	}
}
