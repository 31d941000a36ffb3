/* Findings about calls rather than bytes: frees and copies that the program should not have made. */
#ifndef GMOD_LIB_BUFFERS_MISUSE_H
#define GMOD_LIB_BUFFERS_MISUSE_H

#include "lib/driver/driver.h"
#include "monitor/registry/index.h"

/* Keep what a double-free report needs; the caller owns the record. The last few thousand frees are remembered. */
void gmod_misuse_remember_free(const struct gmod_record *r);
/* The same for one that goes with its context, by the call whose stack that is. */
void gmod_misuse_remember_end(const struct gmod_record *r, const struct gmod_stack *at);

/*
 * `address` cannot be freed: a double free when the buffer that began there has been freed, or another thread is
 * freeing it at this moment, else an invalid one. found: what lay there when the call came. 0 is no finding.
 */
void gmod_misuse_free(uint64_t address, const struct gmod_found *found, const char *entry_point, CUresult error);

/*
 * An access of `length` bytes at `address` by a copy or fill goes past the end of a live buffer, or starts outside
 * it in its redzone. Looks only: true when the call must be refused.
 */
bool gmod_misuse_is_outside(uint64_t address, uint64_t length);

/* The same, and such a call is reported: the program gets CUDA_ERROR_INVALID_VALUE. */
bool gmod_misuse_refuses(uint64_t address, uint64_t length, const char *entry_point);

/*
 * The driver itself refused a copy or fill: reported if that is because it goes past the end of an allocation which
 * the driver knows and GMOD does not guard. true when it was.
 */
bool gmod_misuse_refused(uint64_t address, uint64_t length, const char *entry_point, CUresult error);

/* Buffers that are live now, each a leak. For the process's end. */
void gmod_misuse_report_leaks(void);

#endif
