/* gmod_dump_read() under libFuzzer. Seeds are the dumps of build/dumps: build/fuzz/dump FOLDER build/dumps */
#include "tests/unit/fault_reading.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct gmod_fault f;

	if (!gmod_dump_read(bytes, size, &f))
		read_all(&f);
	return 0;
}
