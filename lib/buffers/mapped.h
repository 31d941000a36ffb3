/*
 * What mapped buffers are made of (lib/buffers/backend_mapped.c): the driver's own device memory, mapped between two
 * canary pages of host memory.
 *
 *     │<──────────────── one reservation of addresses, in multiples of 2 MiB ────────────────>│
 *     │ (nothing)   │ head page │ body: N x 2 MiB of device memory │ tail page │   (nothing) │
 *                       host                                           host
 *
 * The body is what cuMemCreate gives: not managed, never evicted, filled and copied at native speed, and counted in
 * cuMemGetInfo as natively. The driver keeps a reservation as inaccessible pages of this process; the two beside the
 * body are made accessible and registered as pinned host memory, at the same address for the device, which writes to
 * them across the bus while the CPU reads them by plain loads. All of it was tried on an H200, driver 580: kernels
 * store on both sides of either border, a copy or fill across a border is refused, cuMemHostRegister waits for
 * nothing (80 us beside a kernel) and is refused in a capture as cuMemAlloc is, cuMemHostUnregister waits as cuMemFree
 * does. A buffer costs no device memory beyond what a native one takes, two pages of the host, and 110 to 170 us to
 * allocate where native memory takes 40 to 110.
 *
 * Neither mapping nor memory belongs to a context, as natively they would: they are given back when it goes.
 *
 * Functions return what the driver said; none of them invents an error for the program.
 */
#ifndef GMOD_LIB_BUFFERS_MAPPED_H
#define GMOD_LIB_BUFFERS_MAPPED_H

#include "lib/buffers/backend.h"

/* The buffers this process may have mapped at once: each splits the kernel's list of mappings in five places, and
 * Linux allows 65530 in all (vm.max_map_count). */
enum { GMOD_MAPPED_MAX = 4096 };

/* Wanted, and possible on the device? */
bool gmod_mapped_works(int device);

/* May one be made in the context now? */
bool gmod_mapped_takes_more(const struct gmod_context *c);

/* Device memory and host pages for a buffer of that size. */
CUresult gmod_mapped_alloc(const struct gmod_context *c, size_t size, struct gmod_place *out);

/*
 * Give them back, by where the reservation begins. _free waits for the device as cuMemFree does; an error that a native
 * free would give leaves all as it was. _drop is for a context that is gone.
 */
CUresult gmod_mapped_free(const struct gmod_context *c, size_t size, uint64_t raw);
void gmod_mapped_drop(size_t size, uint64_t raw);

/* As in lib/buffers/backend.h. */
void gmod_mapped_open(const struct gmod_record *r, uint64_t devices);

#endif
