/*
 * Findings out of a heap's ring, and as reports. What is in the ring may have been written by anybody: a finding is
 * copied, its seal verified on the copy, and only then believed.
 */
#ifndef GMOD_HOST_DEVICE_FINDINGS_H
#define GMOD_HOST_DEVICE_FINDINGS_H

#include "device/heaps.h"

/* Report what there is. The context is entered. */
void gmod_findings_take(struct gmod_heap *h);

#endif
