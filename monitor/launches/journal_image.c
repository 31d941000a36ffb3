#include "monitor/launches/journal_image.h"

#include <elf.h>
#include <string.h>

#define WRAPPER UINT32_C(0x466243b1)
#define FATBIN UINT32_C(0xba55ed50)
enum { CHUNK = 4096 };

/* What an image begins with: a wrapper's bytes lie elsewhere, a fatbin's size is without its head. */
union head {
	Elf64_Ehdr elf;
	struct {
		uint32_t magic;
		uint16_t version, head;
		uint64_t size; /* of a wrapper where its fatbin lies */
	} fatbin;
};

/* Compilers put one of the tables last. A product of two 16-bit numbers does not overflow, and a sum is looked at. */
static uint64_t elf_size(const Elf64_Ehdr *e)
{
	uint64_t programs = e->e_phoff + (uint64_t)e->e_phnum * e->e_phentsize;
	uint64_t sections = e->e_shoff + (uint64_t)e->e_shnum * e->e_shentsize;

	if (e->e_phoff > GMOD_IMAGE_MAX || e->e_shoff > GMOD_IMAGE_MAX)
		return 0;
	return programs > sections ? programs : sections;
}

/* To its zero byte, which is not a part of it. */
static void measure_text(struct gmod_image_extent *e, gmod_image_reader *read)
{
	char chunk[CHUNK];
	ssize_t n = CHUNK;

	for (uint64_t at = 0; at < GMOD_IMAGE_MAX && n == CHUNK && !e->size; at += CHUNK) {
		const char *zero = (n = read(e->start + at, chunk, CHUNK)) > 0 ? memchr(chunk, 0, (size_t)n) : NULL;

		e->size = zero ? at + (uint64_t)(zero - chunk) : 0;
		if (n > 0 && memmem(chunk, zero ? (size_t)(zero - chunk) : (size_t)n, ".version", 8))
			e->kind = "ptx";
	}
}

struct gmod_image_extent gmod_image_measure(uintptr_t image, gmod_image_reader *read)
{
	struct gmod_image_extent e = {image, 0, "unknown"};
	union head head = {.fatbin.magic = 0};

	if (read(e.start, &head, sizeof(head)) >= (ssize_t)sizeof(head.fatbin) && head.fatbin.magic == WRAPPER) {
		e.start = head.fatbin.size;
		read(e.start, &head, sizeof(head));
	}
	if (head.fatbin.magic == FATBIN) {
		e.size = head.fatbin.size > GMOD_IMAGE_MAX ? 0 : head.fatbin.head + head.fatbin.size;
		e.kind = "fatbin";
	} else if (!memcmp(head.elf.e_ident, ELFMAG, SELFMAG)) {
		e.size = elf_size(&head.elf);
		e.kind = "cubin";
	} else {
		measure_text(&e, read);
	}
	if (e.size > GMOD_IMAGE_MAX)
		e.size = 0;
	return e;
}
