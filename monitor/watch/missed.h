/*
 * Which buffer an access has missed that faulted. A dump marks all lanes of the warp that were active; where
 * memory is mapped, an access did not fault for its address.
 */
#ifndef GMOD_MONITOR_WATCH_MISSED_H
#define GMOD_MONITOR_WATCH_MISSED_H

#include "lib/faults/bytes.h"
#include "monitor/registry/finding.h"

/*
 * By f->fault, say which lane it was, its address, and the closest buffer within 1 GiB: live ones come before freed
 * ones, and the end of one before the start of the next. Under the sweep's lock. Time: lanes times buffers.
 */
void gmod_find_missed(struct gmod_finding *f);

/* Does a parameter point into memory of so many bytes there? Parameters are aligned as in memory. */
bool gmod_is_given(struct gmod_bytes parameters, uint64_t base, uint64_t size);

#endif
