#include "lib/base/object.h"

#include <dlfcn.h>
#include <stddef.h>

#include "lib/base/loaded.h"

/*
 * glibc answers without a lock from 2.35 on. Before that the loader's list is walked under its lock, as unwinders did;
 * the thread that is in the loader already may have it twice.
 */
struct search {
	uintptr_t pc;
	struct gmod_object found;
	void *unwind_table;
};

static int visit(struct dl_phdr_info *info, size_t size, void *arg)
{
	struct search *s = arg;
	struct gmod_object o = {UINTPTR_MAX, 0, info->dlpi_addr, info->dlpi_name};
	void *table = NULL;
	bool in = false;

	(void)size;
	for (const ElfW(Phdr) *h = info->dlpi_phdr; h < info->dlpi_phdr + info->dlpi_phnum; h++) {
		uintptr_t start = info->dlpi_addr + h->p_vaddr, end = start + h->p_memsz;

		if (h->p_type == PT_GNU_EH_FRAME)
			table = (void *)start;
		if (h->p_type != PT_LOAD)
			continue;
		o.start = start < o.start ? start : o.start;
		o.end = end > o.end ? end : o.end;
		in |= s->pc >= start && s->pc < end;
	}
	if (in) {
		s->found = o;
		s->unwind_table = table;
	}
	return in;
}

static bool search(uintptr_t pc, struct search *s)
{
	s->pc = pc;
	return gmod_loaded_walk(visit, s) != 0;
}

#if __GLIBC_PREREQ(2, 35)

static int (*find)(void *pc, struct dl_find_object *out);

/* By name, so that the library loads where there is none. */
__attribute__((constructor)) static void look_up(void)
{
	*(void **)&find = dlvsym(RTLD_DEFAULT, "_dl_find_object", "GLIBC_2.35");
}

/* For libgcc's unwinder, which is linked in and asks by this name. */
__attribute__((visibility("hidden"))) int _dl_find_object(void *pc, struct dl_find_object *out)
{
	struct search s;

	if (find)
		return find(pc, out);
	if (!search((uintptr_t)pc, &s))
		return -1;
	*out = (struct dl_find_object){.dlfo_map_start = (void *)s.found.start,
				       .dlfo_map_end = (void *)s.found.end,
				       .dlfo_eh_frame = s.unwind_table};
	return s.unwind_table ? 0 : -1;
}

static bool find_at_once(uintptr_t pc, struct gmod_object *out)
{
	struct dl_find_object o;

	if (find((void *)pc, &o) != 0)
		return false;
	*out = (struct gmod_object){(uintptr_t)o.dlfo_map_start, (uintptr_t)o.dlfo_map_end, o.dlfo_link_map->l_addr,
				    o.dlfo_link_map->l_name};
	return true;
}

#endif

bool gmod_object_at(uintptr_t pc, struct gmod_object *out)
{
	struct search s;

#if __GLIBC_PREREQ(2, 35)
	if (find)
		return find_at_once(pc, out);
#endif
	if (!search(pc, &s))
		return false;
	*out = s.found;
	return true;
}
