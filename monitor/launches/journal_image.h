/* How long an image is that the program gives to the driver, which is not told, and what kind of one. Pure. */
#ifndef GMOD_MONITOR_LAUNCHES_JOURNAL_IMAGE_H
#define GMOD_MONITOR_LAUNCHES_JOURNAL_IMAGE_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define GMOD_IMAGE_MAX (UINT64_C(256) << 20)

/* Copies n bytes, or the first ones as far as there are any: how many; below 0: none. As gmod_peek() does. */
typedef ssize_t gmod_image_reader(uintptr_t from, void *to, size_t n);

struct gmod_image_extent {
	uintptr_t start;  /* where the bytes lie: a fatbin's wrapper points elsewhere */
	uint64_t size;    /* 0: not known, or more than GMOD_IMAGE_MAX */
	const char *kind; /* "ptx", "fatbin", "cubin" or "unknown" */
};

/* Nothing of the image is believed: it is read by `read` only, which says what is there. */
struct gmod_image_extent gmod_image_measure(uintptr_t image, gmod_image_reader *read);

#endif
