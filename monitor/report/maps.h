/*
 * Which module an address lies in: /proc/thread-self/maps. For monitor/report/symbol.c.
 */
#ifndef GMOD_MONITOR_MAPS_H
#define GMOD_MONITOR_MAPS_H

#include "monitor/report/symbol.h"

/*
 * Fill in module and offset (from its load address) of each frame whose pc lies in a file, and in *s the modules that
 * were met.
 */
void gmod_maps_place(struct gmod_frames *frames, struct gmod_symbol_scratch *s);

#endif
