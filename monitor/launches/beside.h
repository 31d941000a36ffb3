/* What may run beside a launch: work in other streams than its own. */
#ifndef GMOD_MONITOR_LAUNCHES_BESIDE_H
#define GMOD_MONITOR_LAUNCHES_BESIDE_H

#include "monitor/launches/thread.h"

/* Is a launch in another stream not proven complete, or in its call? */
bool gmod_others_outstanding(uint64_t stream);

/* Between these ticks: has anything been launched in another stream, or in this one by another thread? */
bool gmod_others_launched(uint64_t stream, const struct gmod_thread *own, uint64_t from, uint64_t to);

#endif
