#include "lib/driver/homonyms.h"

#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/base/loaded.h"
#include "lib/driver/driver.h"

/* Where the loader put an object, and what its dynamic section says, by tag. */
struct object {
	uintptr_t base, dynamic[DT_NUM];
};

static void read_dynamic(struct object *o, const ElfW(Dyn) * d)
{
	for (; d->d_tag != DT_NULL; d++)
		if ((size_t)d->d_tag < DT_NUM)
			o->dynamic[d->d_tag] = d->d_un.d_val;
}

/* In most objects the loader has added the base by itself. */
static const void *table(const struct object *o, int tag)
{
	uintptr_t p = o->dynamic[tag];

	return (const void *)(p < o->base ? p + o->base : p);
}

/* Where the loader has taken away the right to write, it is given back for good: such objects are rare. */
static void put(void **slot, void *value)
{
	uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);

	if (!mprotect((void *)((uintptr_t)slot & -page), page, PROT_READ | PROT_WRITE))
		__atomic_store_n(slot, value, __ATOMIC_RELAXED);
}

static void give_back(const struct object *o, const ElfW(Rela) * r, bool without_driver)
{
	const ElfW(Sym) *s = (const ElfW(Sym) *)table(o, DT_SYMTAB) + ELF64_R_SYM(r->r_info);
	bool absent = s->st_shndx == SHN_UNDEF, own_data = !absent && ELF64_ST_TYPE(s->st_info) == STT_OBJECT;
	void **slot = (void **)(o->base + r->r_offset), *hook;

	if (!own_data && !(absent && without_driver && ELF64_ST_BIND(s->st_info) == STB_WEAK))
		return;
	hook = gmod_hook_by_symbol((const char *)table(o, DT_STRTAB) + s->st_name);
	if (hook && *slot == hook)
		put(slot, own_data ? (void *)(o->base + s->st_value) : NULL);
}

#if defined(__x86_64__)
enum { SLOT_OF_A_SYMBOL = R_X86_64_GLOB_DAT, ADDRESS_OF_A_SYMBOL = R_X86_64_64 };
#else
enum { SLOT_OF_A_SYMBOL = R_AARCH64_GLOB_DAT, ADDRESS_OF_A_SYMBOL = R_AARCH64_ABS64 };
#endif

static void give_all_back(const struct object *o, bool without_driver)
{
	const ElfW(Rela) *r = table(o, DT_RELA), *end = r + o->dynamic[DT_RELASZ] / sizeof(*r);

	for (; r < end; r++)
		if (ELF64_R_TYPE(r->r_info) == SLOT_OF_A_SYMBOL || ELF64_R_TYPE(r->r_info) == ADDRESS_OF_A_SYMBOL)
			give_back(o, r, without_driver);
}

/* How many objects had ever come at the last look. Under the loader's lock. */
static unsigned long long seen;

struct look {
	bool without_driver;
	unsigned long long index, first; /* in the loader's list, where what is new comes last */
};

static int look_at(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct object o = {.base = info->dlpi_addr};
	struct look *look = argument;

	(void)size;
	if (!look->index) {
		if (info->dlpi_adds == seen)
			return 1;
		look->first = seen > info->dlpi_subs ? seen - info->dlpi_subs : 0;
		seen = info->dlpi_adds;
	}
	if (look->index++ < look->first)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			read_dynamic(&o, (const void *)(o.base + info->dlpi_phdr[i].p_vaddr));
	give_all_back(&o, look->without_driver);
	return 0;
}

void gmod_homonyms_start(void)
{
	struct look look = {.without_driver = !gmod_libcuda_is_loaded()};

	seen = 0;
	gmod_loaded_walk(look_at, &look);
}

void gmod_homonyms_look(bool anyhow)
{
	struct look look = {0};

	if (anyhow || (seen && !gmod_is_forked()))
		gmod_loaded_walk(look_at, &look);
}
