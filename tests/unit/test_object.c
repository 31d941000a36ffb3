/* Which loaded file an address lies in, by glibc's own answer and by the loader's list; and unwinding over the latter.
 */
#include <dlfcn.h>
#include <unwind.h>

#include "lib/base/object.c" // NOLINT(bugprone-suspicious-include): its own functions are tried
#include "tests/unit/support.h"

static struct gmod_object object_of(void *pc)
{
	struct gmod_object o = {0};

	assert_true(gmod_object_at((uintptr_t)pc, &o));
	return o;
}

/* Without what glibc has from 2.35 on. */
static int (*kept)(void *pc, struct dl_find_object *out);

FIXTURE(forget)
{
	kept = find;
	find = NULL;
	return 0;
}

FIXTURE(remember)
{
	find = kept;
	return 0;
}

TEST(both_ways_say_the_same)
{
	void *places[] = {(void *)object_of, (void *)malloc, (void *)dlopen};

	for (size_t i = 0; i < SIZE_OF(places); i++) {
		struct gmod_object now = object_of(places[i]), older;

		forget(NULL);
		older = object_of(places[i]);
		remember(NULL);
		assert_true(now.start <= (uintptr_t)places[i] && (uintptr_t)places[i] < now.end);
		assert_int_equal(older.bias, now.bias);
		assert_string_equal(older.path, now.path);
		assert_int_equal(older.start & ~UINT64_C(4095), now.start);
		assert_true(older.end > (uintptr_t)places[i] && older.end <= now.end);
	}
}

TEST(what_is_loaded_nowhere_is_in_none)
{
	struct gmod_object o;
	char stack;

	assert_false(gmod_object_at((uintptr_t)&stack, &o));
	assert_false(gmod_object_at(0, &o));
	forget(NULL);
	assert_false(gmod_object_at((uintptr_t)&stack, &o));
	assert_false(gmod_object_at(0, &o));
	remember(NULL);
}

static _Unwind_Reason_Code count(struct _Unwind_Context *context, void *arg)
{
	(void)context;
	++*(int *)arg;
	return _URC_NO_REASON;
}

static __attribute__((noinline)) int depth(int more)
{
	int frames = 0;
	volatile int result;

	if (more)
		result = depth(more - 1);
	else
		_Unwind_Backtrace(count, &frames), result = frames;
	return result;
}

TEST_FIXTURE(unwinders_go_by_the_loaders_list, forget, remember)
{
	struct dl_find_object o = {0};
	char stack;

	assert_true(depth(10) > 12);
	assert_int_equal(_dl_find_object((void *)depth, &o), 0);
	assert_non_null(o.dlfo_eh_frame);
	assert_int_not_equal(_dl_find_object(&stack, &o), 0);
}
