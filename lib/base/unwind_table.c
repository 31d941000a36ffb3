/*
 * In front of libgcc's search for the unwind table of an address: the linker puts it there (--wrap). Where there is no
 * table, libgcc reads the code, to see whether it returns from a signal handler; on a coroutine's stack made by hand
 * the address can be anything. For one that cannot be read libgcc gets a table that it does not understand, and ends
 * the walk.
 */
#include <stdint.h>

#include "lib/base/peek.h"

const void *__real__Unwind_Find_FDE(void *pc, void *bases);
const void *__wrap__Unwind_Find_FDE(void *pc, void *bases);

/* As in .eh_frame: a common entry, whose augmentation nobody knows, and behind it a function's. */
static const struct {
	struct {
		uint32_t length, id;
		uint8_t version;
		char augmentation[7];
	} common;
	uint32_t length, back; /* bytes from `back` to the common one */
} strange = {{12, 0, 1, "?"}, 4, sizeof(strange.common) + sizeof(strange.length)};

const void *__wrap__Unwind_Find_FDE(void *pc, void *bases)
{
	const void *table = __real__Unwind_Find_FDE(pc, bases);
	char code[16]; /* libgcc reads no further */

	return table || gmod_peek((uintptr_t)pc, code, sizeof(code)) == sizeof(code) ? table : &strange.length;
}
