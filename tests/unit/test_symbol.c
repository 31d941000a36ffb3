/* Addresses to frames and mangled names to readable ones, from inputs that may be anything. */
#include "monitor/report/demangle.h"
#include "monitor/report/view.h"
#include "monitor/report/symbol.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "tests/unit/test.h"

static struct gmod_symbol_scratch *scratch;
static char path[] = "/tmp/gmod test-XXXXXX";
static struct gmod_frames frames;

FIXTURE(make_scratch)
{
	scratch = malloc(sizeof(*scratch));
	memset(scratch, 0xa5, sizeof(*scratch)); /* needs no initialising */
	close(mkstemp(path));
	return 0;
}

FIXTURE(drop_scratch)
{
	free(scratch);
	return 0;
}

/* ---- names ---- */

static const char *short_name(const char *mangled)
{
	static char out[512];

	gmod_short_name(mangled, out, sizeof(out));
	return out;
}

static const char *substring(const char *mangled)
{
	static char out[512];
	size_t len;
	const char *last = gmod_kernel_substring(short_name(mangled), &len);

	return last ? memcpy(memset(out, 0, sizeof(out)), last, len) : NULL;
}

static const struct {
	const char *mangled, *readable, *last;
} names[] = {
    {"_Z7vec_addPfi", "vec_add", "vec_add"},
    {"_ZL7vec_addPfi", "vec_add", "vec_add"},
    {"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_11FillFunctorIfEESt5arrayIPcLm1EEEEviT0_T1_",
     "at::native::vectorized_elementwise_kernel", "vectorized_elementwise_kernel"},
    {"_ZN2at6native13reduce_kernelILi512ELi1ENS0_8ReduceOpIfNS0_14func_wrapper_tIfZNS0_11sum_functorIfffEclERNS_14"
     "TensorIteratorEEUlffE_EEjfLi4EEEEEvT1_",
     "at::native::reduce_kernel", "reduce_kernel"},
    {"_ZN3foo3barINS_3BazILb1EEELNS_4ModeE2EXadL_ZNS_3quxEiEEEEvT_", "foo::bar", "bar"},
    {"_Z4kernILin5ELb1ELc97ELf3f800000ELPKv0EEvv", "kern", "kern"},
    {"_Z4kernILSt12memory_order5EEvv", "kern", "kern"},
    {"_Z4kernILSt5SomEx5EEvv", "kern", "kern"},
    {"_Z4kernIL3FooIiE5EEvv", "kern", "kern"},
    {"_Z4kernIJifdEEvDpT_", "kern", "kern"},
    {"_Z4kernIDnEvv", "kern", "kern"},
    {"_Z4kernIPFviES0_EvT_", "kern", "kern"},
    {"_Z4kernIA10_fEvv", "kern", "kern"},
    {"_Z4kernIDTplfp_fp0_EEvv", "kern", "kern"},
    {"_ZN12_GLOBAL__N_14kernEv", "(anonymous namespace)::kern", "kern"},
    {"_ZN57_INTERNAL_fdd7dd54_23_tmpxft_00001_00000_6_a_cpp1_ii_4f3a4kernEPf", "(anonymous namespace)::kern", "kern"},
    {"_ZSt4sortIPiEvT_S1_", "std::sort", "sort"},
    {"_ZNSt6vectorIiSaIiEE9push_backEOi", "std::vector::push_back", "push_back"},
    {"_ZNKSs4sizeEv", "std::string::size", "size"},
    {"_ZN3FooC2Ev", "Foo::Foo", "Foo"},
    {"_ZN3FooD0Ev", "Foo::~Foo", "Foo"},
    {"_ZN3FooIiEC1ERKS0_", "Foo::Foo", "Foo"},
    {"_ZNK3Foo3barEv", "Foo::bar", "bar"},
    {"_ZNO3Foo3barEv", "Foo::bar", "bar"},
    {"_ZN3FooclEi", "Foo::operator()", "Foo"},
    {"_Z3fooB5cxx11v", "foo", "foo"},
    {"_ZN3FooB5cxx113barB5cxx11Ev", "Foo::bar", "bar"},
    {"_ZZ4mainENKUlvE_clEv", "main::{lambda}::operator()", "main"},
    {"_ZZN1a1bEiENKUlfE3_clEf", "a::b::{lambda}::operator()", "b"},
    {"_ZZ3foovE3bar", "foo::bar", "bar"},
    {"_ZZZ3foovENKUlvE_clEvENKUliE0_clEi", "foo::{lambda}::operator()::{lambda}::operator()", "foo"},
    {"_ZN3FooUt_C2Ev", "Foo::{unnamed}::Foo", "Foo"},
    /* By numba. */
    {"_ZN6cudapy8__main__3Net4step12_3clocals_3e4axpyB3v12B23cw51cXTLSUwHBinCqbbgUAAE5ArrayIfLi1E1C7mutable7alignedE",
     "Net.step.<locals>.axpy", "axpy"},
    {"_ZN8__main__4axpyB2v1B23cw51cXTLSUwHBinCqbbgUAAE5ArrayIfLi1E1C7mutable7alignedE", "axpy", "axpy"},
    {"_ZN5mypkg7kernels12_3clambda_3eB2v1Ex", "mypkg.kernels.<lambda>", "kernels"},
    {"_ZN3Foo5a_3ccB5cxx11Ev", "Foo::a_3cc", "a_3cc"},
    /* Not mangled, or not names of functions: as they are. */
    {"main", "main", "main"},
    {"triton_poi_fused_add_0d1d2d3de", "triton_poi_fused_add_0d1d2d3de", "triton_poi_fused_add_0d1d2d3de"},
    {"", "", NULL},
    {"_Z", "_Z", "_Z"},
    {"_ZTV3Foo", "_ZTV3Foo", "_ZTV3Foo"},
    {"_ZN3FoocvbEv", "_ZN3FoocvbEv", "_ZN3FoocvbEv"},
    {"_ZN3FooixEm", "_ZN3FooixEm", "_ZN3FooixEm"},
    {"_Znwm", "_Znwm", "_Znwm"},
    {"_Z4kernIDv4_fDF16_DnEvv", "_Z4kernIDv4_fDF16_DnEvv", "_Z4kernIDv4_fDF16_DnEvv"},
    {"_ZN", "_ZN", "_ZN"},
    {"_ZNE", "_ZNE", "_ZNE"},
    {"_Z7vec_ad", "_Z7vec_ad", "_Z7vec_ad"},
    {"_Z99999999999999999999x", "_Z99999999999999999999x", "_Z99999999999999999999x"},
    {"_Z0v", "_Z0v", "_Z0v"},
    {"_ZNS_3fooEv", "_ZNS_3fooEv", "_ZNS_3fooEv"},
    {"_Z4kernILi5", "_Z4kernILi5", "_Z4kernILi5"},
    {"_RNvC6_123foo3bar", "_RNvC6_123foo3bar", "_RNvC6_123foo3bar"},
    {"a b::c d", "a b::c d", NULL},
    {"x; rm -rf $HOME", "x; rm -rf $HOME", NULL},
    {"ns::kern", "ns::kern", "kern"},
};

#define NAMES (SIZE_OF(names))

TEST(names_become_readable)
{
	for (size_t i = 0; i < NAMES; i++)
		assert_string_equal(short_name(names[i].mangled), names[i].readable);
}

TEST(the_last_identifier_names_the_kernel)
{
	for (size_t i = 0; i < NAMES; i++) {
		const char *last = substring(names[i].mangled);

		if (!names[i].last) {
			assert_null(last);
			continue;
		}
		assert_non_null(last);
		assert_string_equal(last, names[i].last);
		assert_non_null(strstr(names[i].mangled, last)); /* or the filter would match nothing */
	}
}

/* Every prefix of every name, each on a heap block of its exact size, into outputs of every small size. */
TEST(cut_names_are_safe)
{
	for (size_t i = 0; i < NAMES; i++) {
		for (size_t n = strlen(names[i].mangled) + 1; n-- > 0;) {
			char *cut = strndup(names[i].mangled, n), *out;
			size_t cap = n % 40 + 1, len;

			out = malloc(cap);
			gmod_short_name(cut, out, cap);
			assert_non_null(memchr(out, '\0', cap));
			assert_true(!gmod_kernel_substring(out, &len) || len < cap);
			free(out);
			free(cut);
		}
	}
}

static unsigned next_random(unsigned *seed)
{
	return *seed = *seed * 1664525u + 1013904223u;
}

TEST(damaged_names_are_safe)
{
	static const char letters[] = "_ZNESTILXJFDUACKPRVO0123456789abtlcipvxfn";
	unsigned seed = 1;

	for (int round = 0; round < 20000; round++) {
		const char *from = names[next_random(&seed) / 7 % NAMES].mangled;
		char *name = strdup(from), out[64];
		size_t n = strlen(name);

		for (unsigned hits = 1 + next_random(&seed) / 9 % 4; n > 2 && hits > 0; hits--)
			name[2 + next_random(&seed) / 11 % (n - 2)] =
			    letters[next_random(&seed) / 13 % (sizeof(letters) - 1)];
		gmod_short_name(name, out, sizeof(out));
		assert_non_null(memchr(out, '\0', sizeof(out)));
		free(name);
	}
}

TEST(deep_nesting_is_bounded)
{
	char *name = malloc(100003);

	memset(name, 'I', 100002);
	memcpy(name, "_Z1f", 4);
	name[100002] = '\0';
	assert_int_equal(strncmp(short_name(name), "_Z1fIII", 7), 0);
	memset(name + 2, 'Z', 100000);
	assert_int_equal(strncmp(short_name(name), "_ZZZZZ", 6), 0);
	free(name);
}

/* ---- frames ---- */

static void symbolize(const struct gmod_stack *stack)
{
	gmod_symbolize(&frames, stack, scratch);
}

static const struct gmod_frame *frame_at(uintptr_t pc)
{
	struct gmod_stack s = {.depth = 1, .pc = {pc}};

	symbolize(&s);
	assert_int_equal(frames.depth, 1);
	return &frames.frame[0];
}

static __attribute__((noinline)) uintptr_t a_static_function(void)
{
	return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}

static uintptr_t base_of(const void *address)
{
	Dl_info info;

	assert_int_not_equal(dladdr(address, &info), 0);
	return (uintptr_t)info.dli_fbase;
}

TEST(a_return_address_names_its_caller)
{
	uintptr_t pc = a_static_function();
	const struct gmod_frame *f = frame_at(pc);

	assert_string_equal(f->symbol, __func__); /* static: from .symtab */
	assert_string_equal(f->module, "test_symbol");
	assert_int_equal(f->pc, pc - 1);
	assert_int_equal(f->offset, pc - 1 - base_of((void *)make_scratch));
}

/* The byte behind a call that never returns may belong to the next function. */
TEST(the_first_byte_of_a_function_is_its_predecessors)
{
	uintptr_t start = (uintptr_t)a_static_function;

	assert_string_not_equal(frame_at(start)->symbol, "a_static_function");
	assert_string_equal(frame_at(start + 1)->symbol, "a_static_function");
}

TEST(a_library_function_is_found)
{
	void *address = dlsym(RTLD_NEXT, "getpid");
	const struct gmod_frame *f = frame_at((uintptr_t)address + 1);
	Dl_info info;

	assert_int_not_equal(dladdr(address, &info), 0);
	assert_non_null(strstr(info.dli_fname, f->module));
	assert_int_equal(strncmp(f->module, "lib", 3), 0);
	assert_int_equal(f->offset, (uintptr_t)address - base_of(address));
	assert_non_null(strstr(f->symbol, "getpid"));
}

TEST(a_whole_stack_is_resolved_in_one_go)
{
	struct gmod_stack s = {.depth = 5};

	s.pc[0] = (uintptr_t)dlsym(RTLD_NEXT, "getpid") + 1;
	s.pc[1] = (uintptr_t)a_static_function + 1;
	s.pc[2] = 0;
	s.pc[3] = (uintptr_t)a_static_function + 1;
	s.pc[4] = (uintptr_t)drop_scratch + 1;
	errno = EBUSY;
	symbolize(&s);
	assert_int_equal(errno, EBUSY);
	assert_int_equal(frames.depth, 5);
	assert_non_null(strstr(frames.frame[0].symbol, "getpid"));
	assert_string_equal(frames.frame[1].symbol, "a_static_function");
	assert_string_equal(frames.frame[2].module, "");
	assert_string_equal(frames.frame[3].symbol, "a_static_function");
	assert_string_equal(frames.frame[4].symbol, "drop_scratch");
}

TEST(a_depth_from_elsewhere_is_bounded)
{
	struct gmod_stack s = {.depth = 1000000};

	symbolize(&s);
	assert_int_equal(frames.depth, GMOD_STACK_MAX);
}

TEST(addresses_of_no_module_stay_numbers)
{
	char *code = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	const struct gmod_frame *f;

	assert_ptr_not_equal(code, MAP_FAILED);
	f = frame_at((uintptr_t)code + 17);
	assert_string_equal(f->module, "");
	assert_string_equal(f->symbol, "");
	assert_int_equal(f->offset, (uintptr_t)code + 16);
	munmap(code, 4096);
	assert_int_equal(frame_at(0)->offset, 0);
	assert_string_equal(frame_at(UINTPTR_MAX)->module, "");
}

/* ---- files that lie ---- */

/* The smallest library with one function in it: header, segments, three sections, one symbol, its name. */
struct image {
	Elf64_Ehdr header;
	Elf64_Phdr segment[2];
	Elf64_Dyn dynamic[3];
	Elf64_Shdr section[3];
	Elf64_Sym symbol[3];
	char strings[16];
	char code[2048];
};

static struct image good_image(void)
{
	struct image i = {.strings = "\0planted"};

	memset(i.code, 'c', sizeof(i.code)); /* what a name read past the strings would be */
	memcpy(i.header.e_ident, ELFMAG, SELFMAG);
	i.header.e_ident[EI_CLASS] = ELFCLASS64;
	i.header.e_ident[EI_DATA] = ELFDATA2LSB;
	i.header.e_ident[EI_VERSION] = i.header.e_version = EV_CURRENT;
	i.header.e_type = ET_DYN;
	i.header.e_machine = EM_X86_64;
	i.header.e_ehsize = sizeof(Elf64_Ehdr);
	i.header.e_phoff = offsetof(struct image, segment);
	i.header.e_shoff = offsetof(struct image, section);
	i.header.e_phentsize = sizeof(Elf64_Phdr);
	i.header.e_shentsize = sizeof(Elf64_Shdr);
	i.header.e_phnum = 2;
	i.header.e_shnum = 3;
	i.segment[0] = (Elf64_Phdr){.p_type = PT_LOAD,
				    .p_flags = PF_R | PF_W | PF_X,
				    .p_vaddr = 0x400000,
				    .p_filesz = sizeof(i),
				    .p_memsz = sizeof(i),
				    .p_align = 4096};
	i.segment[1] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
				    .p_flags = PF_R,
				    .p_offset = offsetof(struct image, dynamic),
				    .p_vaddr = 0x400000 + offsetof(struct image, dynamic),
				    .p_filesz = sizeof(i.dynamic),
				    .p_memsz = sizeof(i.dynamic),
				    .p_align = 8};
	i.dynamic[0] = (Elf64_Dyn){DT_STRTAB, {0x400000 + offsetof(struct image, strings)}};
	i.dynamic[1] = (Elf64_Dyn){DT_SYMTAB, {0x400000 + offsetof(struct image, symbol)}};
	i.section[1] = (Elf64_Shdr){.sh_type = SHT_SYMTAB,
				    .sh_offset = offsetof(struct image, symbol),
				    .sh_size = sizeof(i.symbol),
				    .sh_entsize = sizeof(Elf64_Sym),
				    .sh_link = 2};
	i.section[2] = (Elf64_Shdr){
	    .sh_type = SHT_STRTAB, .sh_offset = offsetof(struct image, strings), .sh_size = sizeof(i.strings)};
	i.symbol[1] = (Elf64_Sym){.st_name = 1,
				  .st_info = ELF64_ST_INFO(STB_LOCAL, STT_FUNC),
				  .st_shndx = 1,
				  .st_value = 0x400000 + 1000,
				  .st_size = 100};
	return i;
}

static void write_file(const void *image, size_t size)
{
	int fd;

	unlink(path); /* what is loaded stays as it was */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL, 0700);
	assert_int_equal(write(fd, image, size), size);
	close(fd);
}

/* Load the one as a library, put the other in its file's place (NULL: none), and look its bytes up. */
static const struct gmod_frame *frame_in(const struct image *loaded, const void *file, size_t size)
{
	const struct gmod_frame *f;
	struct link_map *map;

	write_file(loaded, sizeof(*loaded));
	map = dlopen(path, RTLD_NOW);
	assert_non_null(map);
	if (file)
		write_file(file, size);
	else
		unlink(path);
	f = frame_at(map->l_addr + 0x400000 + 1025);
	dlclose(map);
	unlink(path);
	return f;
}

static const char *symbol_in(const struct image *i)
{
	return frame_in(i, i, sizeof(*i))->symbol;
}

TEST(a_planted_symbol_is_found)
{
	struct image i = good_image();
	const struct gmod_frame *f = frame_in(&i, &i, sizeof(i));

	assert_string_equal(f->symbol, "planted"); /* its segment's address is not its file offset */
	assert_int_equal(f->offset, 0x400000 + 1024);
	assert_int_equal(strncmp(f->module, "gmod test-", 10), 0);
}

TEST(a_deleted_file_gives_no_names)
{
	struct image i = good_image();
	const struct gmod_frame *f = frame_in(&i, NULL, 0);

	assert_string_equal(f->symbol, "");
	assert_int_equal(f->offset, 0x400000 + 1024);
	assert_int_equal(strncmp(f->module, "gmod test-", 10), 0);
}

TEST(a_file_put_in_its_place_gives_no_names)
{
	struct image i = good_image(), newer = i;

	newer.header.e_entry++; /* the rest would be found */
	assert_string_equal(frame_in(&i, &newer, sizeof(newer))->symbol, "");
	assert_string_equal(frame_in(&i, ELFMAG, SELFMAG)->symbol, "");
}

TEST(a_symbol_must_cover_the_address)
{
	struct image i = good_image();

	i.symbol[1].st_size = 24; /* up to 1023 */
	assert_string_equal(symbol_in(&i), "");
	i.symbol[1].st_size = 25;
	assert_string_equal(symbol_in(&i), "planted");
	i.symbol[1].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_OBJECT);
	assert_string_equal(symbol_in(&i), "");
}

TEST(the_innermost_symbol_wins)
{
	struct image i = good_image();

	i.symbol[2] = i.symbol[1];
	i.symbol[2].st_value -= 500; /* around the first: "lanted" */
	i.symbol[2].st_size += 1000;
	i.symbol[2].st_name++;
	assert_string_equal(symbol_in(&i), "planted");
	i.symbol[2].st_value += 510; /* within it */
	assert_string_equal(symbol_in(&i), "lanted");
	i.symbol[2].st_value = i.symbol[1].st_value; /* at the same place */
	assert_string_equal(symbol_in(&i), "planted");
	i.symbol[2].st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
	assert_string_equal(symbol_in(&i), "lanted");
}

TEST(a_name_past_its_table_is_none)
{
	struct image i = good_image();

	i.symbol[1].st_name = sizeof(i.strings);
	assert_string_equal(symbol_in(&i), "");
	i.symbol[1].st_name = sizeof(i.strings) + 4;
	assert_string_equal(symbol_in(&i), "");
	i.symbol[1].st_name = UINT32_MAX;
	assert_string_equal(symbol_in(&i), "");
	i.symbol[1].st_name = 1;
	i.section[2].sh_size = 4; /* the name has no end within the table */
	assert_string_equal(symbol_in(&i), "pla");
	i.section[1].sh_link = 77;
	assert_string_equal(symbol_in(&i), "");
}

/* Wild sizes and offsets in all that the loader does not look at: no crash, no endless loop. */
TEST(damaged_files_are_safe)
{
	const size_t from = offsetof(struct image, section), to = offsetof(struct image, code);
	unsigned seed = 7;

	for (int round = 0; round < 600; round++) {
		struct image i = good_image();

		if (round % 4 == 0)
			i.header.e_shoff = next_random(&seed) * (uint64_t)next_random(&seed);
		if (round % 4 == 1)
			i.header.e_shnum = (uint16_t)next_random(&seed);
		for (unsigned hits = 1 + next_random(&seed) / 9 % 3; hits > 0; hits--) {
			size_t at = from + next_random(&seed) / 11 % ((to - from) / 4) * 4;
			unsigned value = next_random(&seed) % 3 ? next_random(&seed) : ~0u;

			memcpy((char *)&i + at, &value, next_random(&seed) / 5 % 4 + 1);
		}
		assert_non_null(memchr(symbol_in(&i), '\0', GMOD_SYMBOL_NAME_MAX));
	}
}

static CMFixtureFunction group_setup = make_scratch, group_teardown = drop_scratch;
