/*
 * Which buffer a fault's access missed, by which lane: with a driver that says what is mapped, buffers that live over
 * ordinary memory, and others that were freed.
 */
#include "monitor/watch/missed.h"

#include "lib/driver/driver.h"
#include "monitor/registry/freed.h"
#include "monitor/registry/index.h"
#include "tests/unit/buffer.h"

/* ---- the driver ---- */

static struct range {
	uint64_t base, size; /* as the driver tells it */
	uint64_t mapped_to;  /* from base on; the rest is reserved */
} ranges[4];

static CUresult CUDAAPI get_attribute(void *out, CUpointer_attribute attribute, CUdeviceptr at)
{
	for (unsigned i = 0; i < 4; i++) {
		const struct range *r = &ranges[i];

		if (at < r->base || at >= r->mapped_to)
			continue;
		if (attribute == CU_POINTER_ATTRIBUTE_MAPPED)
			*(int *)out = 1;
		else
			*(uint64_t *)out = attribute == CU_POINTER_ATTRIBUTE_RANGE_SIZE ? r->size : r->base;
		return CUDA_SUCCESS;
	}
	return CUDA_ERROR_INVALID_VALUE;
}

static void map(unsigned i, uint64_t base, uint64_t size, uint64_t mapped)
{
	ranges[i] = (struct range){base, size, base + mapped};
}

/* ---- a fault ---- */

enum { SIZE = 100000, FAR = 1 << 20 };

static struct buffer b;
static struct gmod_fault fault;

FIXTURE(make_one)
{
	gmod_driver.cuPointerGetAttribute = get_attribute;
	memset(ranges, 0, sizeof(ranges));
	memset(&fault, 0, sizeof(fault));
	fault.kind = GMOD_FAULT_ILLEGAL_ADDRESS;
	fault.operand.bytes = 4;
	b = new_buffer(SIZE, GMOD_MEM_DEVICE);
	map(0, b.place.user, SIZE + 512, SIZE + 512);
	if (!gmod_index_insert(b.record->bounds.head_from, b.record->bounds.tail_to, b.record->position))
		abort();
	return 0;
}

FIXTURE(free_it)
{
	gmod_index_remove(b.record->bounds.head_from, b.record->bounds.tail_to, b.record->position);
	if (release_buffer(&b))
		drop_buffer(&b);
	return 0;
}

#define MISSED(name) TEST_FIXTURE(name, make_one, free_it)

static void add_lane(uint64_t address)
{
	fault.lane[fault.lane_count++] = (struct gmod_fault_lane){.has_address = true, .address = address};
}

static struct gmod_finding find(void)
{
	struct gmod_finding f = {.class = GMOD_GPU_FAULT, .fault = &fault};

	gmod_find_missed(&f);
	return f;
}

static void check(const struct gmod_finding *f, unsigned lane, enum gmod_relation related, int64_t offset)
{
	CHECK(f->fault_lane == lane && f->related == related && f->offset == offset,
	      "lane %u, relation %d, %ld; expected %u, %d, %ld", f->fault_lane, f->related, (long)f->offset, lane,
	      related, (long)offset);
	assert_int_equal(f->address, fault.lane[lane].address);
	assert_int_equal(f->length, fault.operand.bytes);
}

static void add_freed(uint64_t base, uint64_t size, const char *backend)
{
	struct gmod_buffer_facts facts = {.base = base, .size = size, .serial = 77, .freed_ns = 1, .backend = backend};

	gmod_freed_remember(&facts);
}

MISSED(past_the_end)
{
	struct gmod_finding f;

	add_lane(b.place.user_end + FAR);
	f = find();
	check(&f, 0, GMOD_PAST_END, FAR);
	assert_int_equal(f.buffer.size, SIZE);
}

MISSED(before_the_start)
{
	struct gmod_finding f;

	add_lane(b.place.user - FAR);
	f = find();
	check(&f, 0, GMOD_BEFORE_START, -FAR);
}

/* Of the end of one and the start of the next the first. */
MISSED(the_end_of_one_comes_before_the_start_of_another)
{
	struct gmod_finding f;

	add_freed(b.place.user_end + 2 * FAR, 4096, "device");
	add_lane(b.place.user_end + FAR);
	f = find();
	check(&f, 0, GMOD_PAST_END, FAR);
	assert_int_equal(f.buffer.size, SIZE);
}

MISSED(lanes_where_memory_is_did_not_fault)
{
	struct gmod_finding f;

	add_lane(b.place.user_end - 8);
	add_lane(b.place.user_end + 64);
	add_lane(b.place.user_end + 512 - 2); /* half of it is behind what is mapped */
	add_lane(b.place.user_end + FAR);
	f = find();
	check(&f, 2, GMOD_PAST_END, 510);
}

MISSED(inside_what_was_freed)
{
	struct gmod_finding f;

	add_freed(b.place.user_end + 16 * FAR, 4096, "device");
	add_lane(b.place.user_end + 16 * FAR + 100);
	f = find();
	check(&f, 0, GMOD_INSIDE, 100);
	assert_int_equal(f.buffer.serial, 77);
}

/* A freed one ended where one ends that lives. */
MISSED(the_one_that_the_kernel_was_given)
{
	uint64_t base = b.place.user + 1024, words[] = {5, base};
	struct gmod_finding f;

	add_freed(base, SIZE - 1024, "device");
	add_lane(b.place.user_end + FAR);
	f = find();
	assert_int_equal(f.buffer.base, b.place.user);
	fault.parameters = (struct gmod_bytes){(const unsigned char *)words, sizeof(words)};
	f = find();
	check(&f, 0, GMOD_PAST_END, FAR);
	assert_int_equal(f.buffer.base, base);
	words[0] = b.place.user;
	f = find();
	assert_int_equal(f.buffer.base, b.place.user);
}

MISSED(too_far_from_any)
{
	struct gmod_finding f;

	add_lane(b.place.user_end + (UINT64_C(3) << 30));
	f = find();
	check(&f, 0, GMOD_NOT_RELATED, 0);
	assert_int_equal(f.buffer.base, 0);
}

/* The last byte of a mapping that GMOD does not guard is no fault, and the byte behind it is that mapping's. */
MISSED(behind_memory_that_is_native)
{
	uint64_t base = b.place.user_end + 4 * FAR;
	struct gmod_finding f;

	map(1, base, FAR, FAR);
	fault.operand.bytes = 1;
	add_lane(base + FAR - 1);
	add_lane(base + FAR);
	f = find();
	check(&f, 1, GMOD_PAST_END, 0);
	assert_string_equal(f.buffer.backend, "native");
	assert_int_equal(f.buffer.size, FAR);
}

/* The driver tells the reservation, which has the address in it: then no buffer is named, not even another. */
MISSED(behind_a_mapping_in_a_reservation)
{
	uint64_t base = b.place.user_end + 4 * FAR;
	struct gmod_finding f;

	map(1, base, 4 * FAR, FAR);
	add_lane(base + FAR - 4);
	add_lane(base + FAR);
	f = find();
	check(&f, 1, GMOD_NOT_RELATED, 0);
}

/* A tensor's block stays mapped when Python has dropped it, in the one reservation of all fences. */
MISSED(behind_a_fenced_one_that_was_freed)
{
	uint64_t base = b.place.user_end + 4 * FAR;
	struct gmod_finding f;

	map(1, base, 4 * FAR, FAR);
	add_freed(base + FAR - 4096, 4096, "fence");
	add_lane(base + FAR - 4);
	add_lane(base + FAR);
	f = find();
	check(&f, 1, GMOD_PAST_END, 0);
	assert_int_equal(f.buffer.serial, 77);
}

/* What GMOD has not kept may be somebody else's by now, of whom it knows nothing. */
MISSED(behind_native_memory_where_one_was_freed)
{
	uint64_t base = b.place.user_end + 40 * FAR; /* freed ones are remembered from test to test */
	struct gmod_finding f;

	map(1, base, FAR, FAR);
	add_freed(base + FAR - 4096, 4096, "device");
	add_lane(base + FAR - 4);
	add_lane(base + FAR);
	f = find();
	check(&f, 1, GMOD_PAST_END, 0);
	assert_string_equal(f.buffer.backend, "native");
}

/* Memory of a device that this one may not access. */
MISSED(all_are_where_memory_is)
{
	struct gmod_finding f;

	add_lane(b.place.user + 40);
	add_lane(b.place.user + 44);
	f = find();
	check(&f, 0, GMOD_INSIDE, 40);
	assert_int_equal(f.buffer.size, SIZE);
}

MISSED(a_misaligned_one)
{
	struct gmod_finding f;

	fault.kind = GMOD_FAULT_MISALIGNED;
	add_lane(b.place.user + 40);
	add_lane(b.place.user + 45);
	f = find();
	check(&f, 1, GMOD_INSIDE, 45);
}

MISSED(no_address_is_known)
{
	struct gmod_finding f;

	fault.lane_count = 2;
	f = find();
	assert_int_equal(f.related, GMOD_NOT_RELATED);
	assert_int_equal(f.length, 0);
}

FIXTURE(start)
{
	return start_gmod("");
}

static CMFixtureFunction group_setup = start, group_teardown = end_gmod;
