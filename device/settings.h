/*
 * What device heaps and their guard are made with: the options, unless the program has said otherwise
 * (gmod_device_configure). Heaps read it when they are made.
 */
#ifndef GMOD_HOST_DEVICE_SETTINGS_H
#define GMOD_HOST_DEVICE_SETTINGS_H

#include <stddef.h>
#include <stdint.h>

#include "include/gmod.h"
#include "include/gmod/device_heap.h"

/* For canaries, entries and rounding, which take most of a heap of tiny buffers (device/README.md); what CUDA's own
 * heap takes for such was not measured. */
enum { GMOD_HEAP_PER_LIMIT = 2 };

/* Of chunks. limit: of CUDA's own heap, which programs raise that need more than it has at first. */
size_t gmod_settings_heap_bytes(size_t limit);
uint32_t gmod_settings_guards(void);

/* A heap has been made of them. */
void gmod_settings_are_used(void);

/* GMOD_INVALID, and nothing is changed, for what is out of range; GMOD_TOO_LATE where a heap has been made already. */
enum gmod_status gmod_settings_change(const struct gmod_device_config *config);

#endif
