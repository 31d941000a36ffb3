/* What the two halves of the driver that does nothing share: every name, as in lib/driver/entrypoints.def. */
#pragma once

struct null_name {
	const char *base, *flavour;
	int version;
	void *address;
};

extern const struct null_name null_names[] __attribute__((visibility("hidden"))); /* ends with base NULL */
