/*
 * TEST(name) heads the function of a test, and puts it into the list that run_listed_tests() goes through, in the order
 * of the file. For test programs of one file.
 */
#ifndef GMOD_TESTS_UNIT_TEST_H
#define GMOD_TESTS_UNIT_TEST_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

struct listed_test {
	struct CMUnitTest test;
	int line;
};

/* The linker gathers these, and says where they begin and end. */
#define LIST_TEST(id, name, setup, teardown) \
	static const struct listed_test listed_##id = {{#id, name, setup, teardown, NULL}, __LINE__}; \
	static const struct listed_test *const list_##id __attribute__((used, section("unit_tests"))) = &listed_##id

extern const struct listed_test *const __start_unit_tests[], *const __stop_unit_tests[];

#define TEST_FIXTURE(name, setup, teardown) \
	static void name(void **); \
	LIST_TEST(name, name, setup, teardown); \
	static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_FIXTURE(name, NULL, NULL)

/* The head of a setup or a teardown. */
#define FIXTURE(name) static inline int name(__attribute__((unused)) void **state)

static inline int by_line(const void *a, const void *b)
{
	return ((const struct listed_test *)a)->line - ((const struct listed_test *)b)->line;
}

/* The setup and the teardown are for all of them together. */
static inline int run_listed_tests(CMFixtureFunction setup, CMFixtureFunction teardown)
{
	enum { MOST = 64 };
	struct listed_test listed[MOST];
	struct CMUnitTest tests[MOST];
	size_t n = (size_t)(__stop_unit_tests - __start_unit_tests);

	if (n > MOST)
		abort();
	for (size_t i = 0; i < n; i++)
		listed[i] = *__start_unit_tests[i];
	qsort(listed, n, sizeof(*listed), by_line);
	for (size_t i = 0; i < n; i++)
		tests[i] = listed[i].test;
	return _cmocka_run_group_tests("tests", tests, n, setup, teardown);
}

#endif
