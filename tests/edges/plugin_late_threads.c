/*
 * A machine with more to do than it has CPUs: each new thread begins a fifth of a second late.
 */
#include "testkit.h"
#include <dlfcn.h>
#include <pthread.h>

struct start {
	void *(*run)(void *);
	void *argument;
};

static void *begin(void *p)
{
	struct start start = *(struct start *)p;

	free(p);
	tk_sleep_ms(200);
	return start.run(start.argument);
}

__attribute__((visibility("default"))) int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
							  void *(*run)(void *), void *argument)
{
	int (*create)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct start *start = malloc(sizeof(*start));

	REQUIRE(start);
	*start = (struct start){run, argument};
	*(void **)&create = dlsym(RTLD_NEXT, "pthread_create");
	return create(thread, attributes, begin, start);
}
