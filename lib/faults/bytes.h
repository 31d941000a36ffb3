/* Pieces of a file that nobody vouches for. Whatever is read of them goes through gmod_part(). */
#ifndef GMOD_LIB_FAULTS_BYTES_H
#define GMOD_LIB_FAULTS_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct gmod_bytes {
	const unsigned char *at;
	size_t size;
};

/* false: it does not lie inside, and *out is as it was. */
static inline bool gmod_part(struct gmod_bytes whole, uint64_t from, uint64_t size, struct gmod_bytes *out)
{
	if (from > whole.size || size > whole.size - from)
		return false;
	*out = (struct gmod_bytes){whole.at + from, size};
	return true;
}

static inline bool gmod_read(struct gmod_bytes whole, uint64_t from, void *out, size_t size)
{
	struct gmod_bytes part;

	if (!gmod_part(whole, from, size, &part))
		return false;
	memcpy(out, part.at, size);
	return true;
}

/* A string of a table. Where the table's last byte ends a string, each of its strings ends inside. Else NULL. */
static inline const char *gmod_text(struct gmod_bytes table, uint64_t from)
{
	return from < table.size && !table.at[table.size - 1] ? (const char *)table.at + from : NULL;
}

#endif
