/*
 * What every unit test is made of. TEST(name) heads the function of a test, and puts it into the list that main() goes
 * through, in the order of the file. For test programs of one file.
 */
#pragma once

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define SIZE_OF(array) (sizeof(array) / sizeof((array)[0]))

/* ---- tests ---- */

struct listed_test {
	struct CMUnitTest test;
	int line;
	void (*body)(void); /* of a TEST_IN_CHILD */
};

/* The linker gathers these, and says where they begin and end. */
#define LIST_TEST(id, test, setup, teardown, body) \
	static const struct listed_test listed_##id = {{#id, test, setup, teardown, NULL}, __LINE__, body}; \
	static const struct listed_test *const list_##id __attribute__((used, section("unit_tests"))) = &listed_##id

extern const struct listed_test *const __start_unit_tests[], *const __stop_unit_tests[];

#define TEST_FIXTURE(name, setup, teardown) \
	static void name(void **); \
	LIST_TEST(name, name, setup, teardown, NULL); \
	static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_FIXTURE(name, NULL, NULL)

/* Its body runs in a forked child, and uses CHECK and NEED of support.h only: cmocka's assertions jump. */
#define TEST_IN_CHILD(name) \
	static void name(void); \
	LIST_TEST(name, run_in_child, NULL, NULL, name); \
	static void name(void)

/* The head of a setup or a teardown. */
#define FIXTURE(name) static inline int name(__attribute__((unused)) void **state)

/* A file that needs them gives these a value: the setup and the teardown of all its tests together. */
static CMFixtureFunction group_setup, group_teardown;

/* ... and this, if it runs itself with arguments. */
static int (*main_with_arguments)(char **argv);

static char program[4096]; /* its own path */

static inline int by_line(const void *a, const void *b)
{
	return ((const struct listed_test *)a)->line - ((const struct listed_test *)b)->line;
}

int main(int argc, char **argv)
{
	enum { MOST = 64 };
	struct listed_test listed[MOST];
	struct CMUnitTest tests[MOST];
	size_t n = (size_t)(__stop_unit_tests - __start_unit_tests);

	if (argc > 1 && main_with_arguments)
		return main_with_arguments(argv);
	if (n > MOST || readlink("/proc/self/exe", program, sizeof(program) - 1) <= 0)
		abort();
	for (size_t i = 0; i < n; i++)
		listed[i] = *__start_unit_tests[i];
	qsort(listed, n, sizeof(*listed), by_line);
	for (size_t i = 0; i < n; i++) {
		tests[i] = listed[i].test;
		tests[i].initial_state = listed[i].body ? &listed[i] : NULL;
	}
	return _cmocka_run_group_tests("tests", tests, n, group_setup, group_teardown);
}

/* ---- threads ---- */

static inline pthread_t begin_thread(void *(*body)(void *), void *argument)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, body, argument))
		abort();
	return thread;
}

static inline void *end_thread(pthread_t thread)
{
	void *result;

	if (pthread_join(thread, &result))
		abort();
	return result;
}

static inline void *in_a_thread(void *(*body)(void *), void *argument)
{
	return end_thread(begin_thread(body, argument));
}

/* In n threads at once, each with its number from 0 on as the argument. */
static inline void in_threads(size_t n, void *(*body)(void *))
{
	pthread_t thread[64];

	if (n > 64)
		abort();
	for (size_t i = 0; i < n; i++)
		thread[i] = begin_thread(body, (void *)i);
	for (size_t i = 0; i < n; i++)
		end_thread(thread[i]);
}
