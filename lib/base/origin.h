/*
 * Where a log's lines come from, so that logs of many processes can be told apart and put together: the host, the rank
 * in a job, and which GPUs the ordinals of devices stand for.
 *
 * No function here allocates or changes errno. Before gmod_origin_read() there is neither host nor rank.
 */
#ifndef GMOD_LIB_BASE_ORIGIN_H
#define GMOD_LIB_BASE_ORIGIN_H

#include "lib/base/text.h"

/* Read the host and the rank. gmod_log_open() does, before others report. */
void gmod_origin_read(void);
extern struct gmod_origin {
	char host[65];
	char rank[12]; /* digits, as the launcher has put them into the environment; "": it has not */
} gmod_origin;

/* The 16 bytes of a device's UUID. From any thread, as often as one likes. */
void gmod_gpu_met(int device, const uint64_t uuid[2]);
/* Append "GPU-…" as nvidia-smi spells it; nothing if nobody has met that device. */
void gmod_text_gpu(struct gmod_text *t, int device);

#endif
