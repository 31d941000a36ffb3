/* For the figure_*.c: medians and the like. */
#pragma once

#include <stdlib.h>

static inline int sorted_compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* In place, the least first. */
static inline double *sorted(double *values, size_t count)
{
	qsort(values, count, sizeof(*values), sorted_compare);
	return values;
}
