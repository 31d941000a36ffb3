/*
 * Included first in kernels that are compiled for the simulated driver with -fsanitize=kernel-address: each of their
 * loads and stores calls a function of these first, which asks the driver. It does not return where a device would
 * fault.
 */
#ifndef SIM_CHECKED_H
#define SIM_CHECKED_H

#include <stddef.h>
#include <stdint.h>

/* Set by the driver when it loads the module. */
__attribute__((visibility("default"))) void (*gt_before_access)(uintptr_t at, size_t bytes, int write);

/* The linker's: where this module, and so its own variables, start and end. */
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));

#define GT_UNCHECKED __attribute__((no_sanitize("kernel-address")))
#define GT_HOOK GT_UNCHECKED __attribute__((visibility("hidden")))

GT_UNCHECKED static inline void gt_access(const void *at, size_t bytes, int write)
{
	if (gt_before_access && ((const char *)at < __ehdr_start || (const char *)at >= _end))
		gt_before_access((uintptr_t)at, bytes, write);
}

#define GT_ACCESS(name, bytes, write) \
	GT_HOOK void __asan_##name##bytes##_noabort(void *at); \
	GT_HOOK void __asan_##name##bytes##_noabort(void *at) \
	{ \
		gt_access(at, bytes, write); \
	}
#define GT_ACCESS_OF_ANY(name, write) \
	GT_HOOK void __asan_##name##N_noabort(void *at, long bytes); \
	GT_HOOK void __asan_##name##N_noabort(void *at, long bytes) \
	{ \
		gt_access(at, (size_t)bytes, write); \
	} \
	GT_ACCESS(name, 1, write) \
	GT_ACCESS(name, 2, write) \
	GT_ACCESS(name, 4, write) \
	GT_ACCESS(name, 8, write) \
	GT_ACCESS(name, 16, write)

GT_ACCESS_OF_ANY(load, 0)
GT_ACCESS_OF_ANY(store, 1)

#endif
