/* The latest frees, of which reports speak: some thousands are remembered. From any thread. */
#ifndef GMOD_MONITOR_REGISTRY_FREED_H
#define GMOD_MONITOR_REGISTRY_FREED_H

#include "monitor/registry/finding.h"

/* By the thread that has freed it. */
void gmod_freed_remember(const struct gmod_buffer_facts *facts);

/* The n-th of the latest freed buffers, from 0, the latest first. false: there is none, or no longer. */
bool gmod_freed_nth(uint64_t n, struct gmod_buffer_facts *out);

/* The latest buffer freed that began at this address. */
bool gmod_freed_find(uint64_t address, struct gmod_buffer_facts *out);

/* Was the byte in a fenced one of them? Nobody but GMOD gives its address out (lib/buffers/fence.h). */
bool gmod_freed_had_fenced(uint64_t address);

#endif
