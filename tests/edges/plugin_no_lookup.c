/* LD_AUDIT=plugin_no_lookup.so: _dl_find_object is not found by its name, as in glibc before 2.35. */
#include <link.h>
#include <string.h>

unsigned la_version(unsigned version)
{
	return version;
}

unsigned la_objopen(struct link_map *map, Lmid_t id, uintptr_t *cookie)
{
	(void)map;
	(void)id;
	(void)cookie;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned index, uintptr_t *from, uintptr_t *to, unsigned *flags,
		       const char *name)
{
	(void)index;
	(void)from;
	(void)to;
	return *flags & LA_SYMB_DLSYM && strcmp(name, "_dl_find_object") == 0 ? 0 : symbol->st_value;
}
