/* The dumps that make unpacks from tests/dumps/places.tar.xz. */
#pragma once

#include "tests/unit/support.h"

struct dump {
	unsigned char *bytes;
	size_t size;
};

static inline struct dump read_file(const char *name)
{
	struct dump d;
	char path[sizeof(program) + 128];
	FILE *f;

	snprintf(path, sizeof(path), "%.*s/../dumps/%s", (int)(strrchr(program, '/') - program), program, name);
	f = fopen(path, "re");
	CHECK(f, "%s is missing", path);
	fseek(f, 0, SEEK_END);
	d.size = (size_t)ftell(f);
	rewind(f);
	d.bytes = malloc(d.size);
	assert_true(d.bytes && fread(d.bytes, 1, d.size, f) == d.size);
	fclose(f);
	return d;
}

static inline struct dump read_dump(const char *kernel)
{
	char name[64];

	snprintf(name, sizeof(name), "%s.dump", strcmp(kernel, "scaled") != 0 ? kernel : "_Z6scaledIfLi4EEvPT_i");
	return read_file(name);
}
