/*
 * Where a kernel's parameters lie: by the handle of its function or kernel, as the driver says (12.4 and later).
 *
 * A handle that the program was given is known from then on, and gets its signature at its first launch: asking the
 * driver loads a kernel that is loaded when it is needed (driver 580: 53 us, and it takes a current context), which the
 * launch would do at once, too. A handle that GMOD has not seen the program get has none, and its parameters are not
 * read: an array that is shorter than what the signature says would be read past its end. All signatures end with what
 * the handles go with, and with any context: functions go with it, and handles are used again.
 *
 * Signatures are kept for ever (lib/base/keep.h): who has one may go on reading it. Takes no lock; any thread, any
 * hook.
 */
#ifndef GMOD_MONITOR_LAUNCHES_SIGNATURES_H
#define GMOD_MONITOR_LAUNCHES_SIGNATURES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * UNASKED: the driver has not been asked yet. PARAMETERS: no kernel has more that are of any use: 4 KiB of pointers.
 * BYTES: of the parameters so many are read; since CUDA 12.1 there may be 32764.
 */
enum { GMOD_SIGNATURE_UNASKED = -1, GMOD_SIGNATURE_PARAMETERS = 512, GMOD_SIGNATURE_BYTES = 4096 };

/* Of those parameters that may hold an address: of 8 bytes and more. With a journal (option journal) of all. */
struct gmod_signature {
	int32_t count;      /* of these, or GMOD_SIGNATURE_UNASKED */
	uint16_t is_kernel; /* the handle is a CUkernel, else a CUfunction */
	uint16_t is_cut;    /* there are more, which are not read */
	uint32_t bytes;     /* of the parameters together, a multiple of 8 */
	struct gmod_parameter {
		uint16_t number;       /* among all parameters, from 0 */
		uint16_t offset, size; /* bytes; where it lies in a buffer of all of them */
	} at[];
};

/* Bytes of the struct with so many parameters. */
static inline size_t gmod_signature_size(int32_t count)
{
	return sizeof(struct gmod_signature) + (count > 0 ? (size_t)count : 0) * sizeof(struct gmod_parameter);
}

/* The handle was given to the program; module: the module or library that it goes with. */
void gmod_signature_expect(uint64_t handle, bool is_kernel, uint64_t module);
/* The same of the function of a kernel, with which it goes. */
void gmod_signature_expect_as(uint64_t function, uint64_t kernel);
/* A copy that stays; NULL: there is no room. */
const struct gmod_signature *gmod_signature_keep(const struct gmod_signature *s);
/* What the driver said of a handle, which was kept. NULL: nothing is known of it from now on. */
void gmod_signature_learn(uint64_t handle, const struct gmod_signature *l);
/* A module or library is gone, or was about to be at `ticks`; module GMOD_ANY_OWNER: a context, with all it has. */
void gmod_signatures_end(uint64_t module, uint64_t ticks);

/* NULL: not known. */
const struct gmod_signature *gmod_signature_of(uint64_t handle);

/* Changes whenever any handle's signature does: what gmod_signature_of() said before may not hold any more. */
extern _Atomic uint64_t gmod_signature_changes;

#endif
