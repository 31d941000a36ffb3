/* A module for the simulated driver whose kernels have names that no compiler makes: see hostile_names.c. */
#define GT_KERNEL_MODULE
#include "kernels.h"
#include "hostile.h"

static void flip(const struct gt_thread *self, void *const *args)
{
	char *p = *(char **)args[0];
	long long off = *(long long *)args[1];

	(void)self;
	p[off] ^= 0x5a;
}

#define HOSTILE_KERNEL(number, text) \
	static const struct gt_kernel kernel_##number = {text, flip, 2, {sizeof(char *), sizeof(long long)}, NULL, 0}; \
	static const struct gt_kernel *const entry_##number __attribute__((used, section("gt_kernels"))) = \
	    &kernel_##number;
HOSTILE_KERNEL(0, HOSTILE_0)
HOSTILE_KERNEL(1, HOSTILE_1)
HOSTILE_KERNEL(2, HOSTILE_2)
HOSTILE_KERNEL(3, HOSTILE_3)
