/*
 * Which hook stands for which request. tests/traces lists what real programs asked the driver for: each request must
 * get the hook of exactly the ABI that the toolkit's cudaTypedefs.h gives that name, version and flavour, or none.
 */
#include "lib/driver/driver.h"

#include <dlfcn.h>
#include <glob.h>

#include "tests/unit/support.h"

enum kind { HOOK, PLAIN, CALL };

struct row {
	enum kind kind;
	const char *symbol, *base;
	int version;
	const char *flavour;
	void *hook;
};

#define GMOD_HOOK(symbol, base, version, flavour) {HOOK, #symbol, #base, version, #flavour, (void *)symbol},
#define GMOD_PLAIN(symbol, base, version, flavour) {PLAIN, #symbol, #base, version, #flavour, NULL},
#define GMOD_CALL(symbol, base, version, flavour) {CALL, #symbol, #base, version, #flavour, NULL},
static const struct row rows[] = {
#include "lib/driver/entrypoints.def"
#include "tests/sim/plain.def"
};
enum { ROWS = SIZE_OF(rows) };

/* One typedef of the toolkit, PFN_<base>_v<version><flavour>. */
struct abi {
	char base[64];
	int version;
	char flavour[8];
};

enum { ABIS = 4096 };
static struct abi abis[ABIS];
static int abi_count;

/* ---- the toolkit's header ---- */

static void take_abi(const char *name, size_t length)
{
	char text[128];
	char *flavour, *version;
	struct abi *a = &abis[abi_count];

	CHECK(length < sizeof(text) && abi_count < ABIS, "%.*s", (int)length, name);
	snprintf(text, sizeof(text), "%.*s", (int)length, name);
	flavour = strstr(text, "_pts");
	if (!flavour)
		flavour = strstr(text, "_ptd");
	snprintf(a->flavour, sizeof(a->flavour), "%.7s", flavour ? flavour : "");
	if (flavour)
		*flavour = '\0';
	version = text + strlen(text);
	while (version > text && version[-1] >= '0' && version[-1] <= '9')
		version--;
	if (version - text < 3 || version[-1] != 'v' || version[-2] != '_')
		return;
	a->version = (int)strtol(version, NULL, 10);
	version[-2] = '\0';
	snprintf(a->base, sizeof(a->base), "%.63s", text);
	abi_count++;
}

static FILE *open_toolkits_header(void)
{
	const char *include = getenv("CUDA_INC"), *home = getenv("CUDA_HOME");
	char path[4096];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cudaTypedefs.h", include ? include : "/usr/local/cuda/include");
	f = fopen(path, "re");
	if (f || !home)
		return f;
	snprintf(path, sizeof(path), "%s/include/cudaTypedefs.h", home);
	return fopen(path, "re");
}

static void take_abis(FILE *f)
{
	char line[8192];

	while (fgets(line, sizeof(line), f)) {
		/* typedef CUresult (CUDAAPI *PFN_cuInit_v2000)(unsigned int Flags); */
		const char *name = strstr(line, "*PFN_cu");

		if (name && strchr(name, ')'))
			take_abi(name + 5, strcspn(name + 5, ")"));
	}
	fclose(f);
}

/* The toolkit's, and what it may be too old for. */
FIXTURE(read_headers)
{
	FILE *toolkits = open_toolkits_header(), *ours = fopen("lib/driver/newer.h", "re");

	if (toolkits && ours) {
		take_abis(toolkits);
		take_abis(ours);
	}
	return 0;
}

/* What the driver gives for a request: the newest ABI up to the version, of the wanted flavour where there is one. */
static const struct abi *abi_for(const char *name, int version, int flags)
{
	const struct abi *best = NULL;

	for (int i = 0; i < abi_count; i++) {
		const struct abi *a = &abis[i];
		bool flavoured = a->flavour[0] != '\0', best_flavoured = best && best->flavour[0] != '\0';

		if (strcmp(a->base, name) != 0 || a->version > version || (flavoured && flags != 2))
			continue;
		if (!best || (flavoured && !best_flavoured) ||
		    (flavoured == best_flavoured && a->version > best->version))
			best = a;
	}
	return best;
}

static bool is_hooked_name(const char *name)
{
	for (int i = 0; i < ROWS; i++)
		if (rows[i].kind == HOOK && !strcmp(rows[i].base, name))
			return true;
	return false;
}

/* The table's row of exactly that ABI, which must be there for every name that GMOD hooks in any ABI. */
static void *expected_hook(const char *name, int version, int flags)
{
	const struct abi *a = abi_for(name, version, flags);

	if (!a || version > GMOD_NEWEST_CUDA || !is_hooked_name(name))
		return NULL;
	for (int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].base, name) && rows[i].version == a->version &&
		    !strcmp(rows[i].flavour, a->flavour))
			return rows[i].hook;
	CHECK(false, "there is no row for %s of %d%s", name, a->version, a->flavour);
	return NULL;
}

static void need_header(void)
{
	if (!abi_count)
		print_message("there is no cudaTypedefs.h below CUDA_INC, CUDA_HOME or /usr/local/cuda\n");
	if (!abi_count)
		skip();
}

/* ---- by symbol ---- */

static _Atomic int wrong;

static void *look_all_up(void *unused)
{
	for (int i = 0; i < ROWS; i++)
		wrong += gmod_hook_by_symbol(rows[i].symbol) != rows[i].hook;
	return unused;
}

/* The first test: the map is made by whoever comes first, here by all at once. */
TEST(threads_may_ask_first_at_once)
{
	in_threads(8, look_all_up);
	assert_int_equal(wrong, 0);
}

static const struct row *row_of(const char *symbol)
{
	for (int i = 0; i < ROWS; i++)
		if (!strcmp(rows[i].symbol, symbol))
			return &rows[i];
	return NULL;
}

static void check_symbol(const char *symbol)
{
	const struct row *r = row_of(symbol);

	CHECK(gmod_hook_by_symbol(symbol) == (r ? r->hook : NULL), "%s", symbol);
}

TEST(symbols_are_matched_exactly)
{
	static const char *const suffixes[] = {"x",     "_",        "_v2",      "_v3",   "_ptsz",
					       "_ptds", "_v2_ptsz", "_v2_ptds", "Async", " "};
	char name[128];

	for (int i = 0; i < ROWS; i++) {
		const struct row *r = &rows[i];

		CHECK(gmod_hook_by_symbol(r->symbol) == r->hook, "%s", r->symbol);
		CHECK((r->kind == HOOK) == (r->hook != NULL), "%s", r->symbol);
		for (size_t length = 0; length < strlen(r->symbol); length++) {
			snprintf(name, sizeof(name), "%.*s", (int)length, r->symbol);
			check_symbol(name);
		}
		for (unsigned k = 0; k < SIZE_OF(suffixes); k++) {
			snprintf(name, sizeof(name), "%s%s", r->symbol, suffixes[k]);
			check_symbol(name);
		}
		snprintf(name, sizeof(name), "%s", r->symbol);
		name[2] ^= 'a' ^ 'A';
		check_symbol(name);
	}
	check_symbol("");
	check_symbol("c");
	check_symbol("cu");
	check_symbol("cudaMalloc");
	check_symbol("malloc");
	check_symbol("dlsym");
}

TEST(every_hook_is_a_function_of_its_own)
{
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < i; k++) {
			CHECK(!rows[i].hook || rows[i].hook != rows[k].hook, "%s and %s", rows[i].symbol,
			      rows[k].symbol);
			CHECK(strcmp(rows[i].symbol, rows[k].symbol) != 0, "%s has two rows", rows[i].symbol);
		}
}

/* ---- by name, version and flags ---- */

static void check_request(const char *name, int version, int flags)
{
	void *hook = gmod_hook_by_version(name, version, (cuuint64_t)flags),
	     *expected = expected_hook(name, version, flags);
	const char *got = "no hook", *want = "no hook";

	for (int i = 0; i < ROWS; i++) {
		got = hook && rows[i].hook == hook ? rows[i].symbol : got;
		want = expected && rows[i].hook == expected ? rows[i].symbol : want;
	}
	CHECK(hook == expected, "%s %d %d gave %s, not %s", name, version, flags, got, want);
}

static bool is_first_of_its_base(int i)
{
	for (int k = 0; k < i; k++)
		if (!strcmp(rows[k].base, rows[i].base))
			return false;
	return true;
}

static bool is_first_of_its_version(int i)
{
	for (int k = 0; k < i; k++)
		if (rows[k].version == rows[i].version)
			return false;
	return true;
}

/* At each version that matters to any name, and just below and above it. */
TEST(every_name_gives_the_abi_of_its_version)
{
	need_header();
	for (int i = 0; i < ROWS; i++)
		for (int k = 0; k < ROWS; k++)
			for (int flags = 0; flags < 3 && is_first_of_its_base(i) && is_first_of_its_version(k); flags++)
				for (int off = -10; off <= 10; off += 10)
					check_request(rows[i].base, rows[k].version + off, flags);
}

TEST(names_that_are_not_in_the_table_give_nothing)
{
	need_header();
	for (int i = 0; i < abi_count; i++) {
		if (is_hooked_name(abis[i].base))
			continue;
		for (int flags = 0; flags < 3; flags++)
			CHECK(!gmod_hook_by_version(abis[i].base, CUDA_VERSION, (cuuint64_t)flags), "%s", abis[i].base);
	}
	/* What is exported under a version's name is not what one asks for. */
	for (int i = 0; i < ROWS; i++)
		if (strcmp(rows[i].symbol, rows[i].base) != 0)
			CHECK(!gmod_hook_by_version(rows[i].symbol, CUDA_VERSION, 0), "%s", rows[i].symbol);
	assert_null(gmod_hook_by_version("", CUDA_VERSION, 0));
	assert_null(gmod_hook_by_version("cu", CUDA_VERSION, 0));
	assert_null(gmod_hook_by_version("cuMem", CUDA_VERSION, 0));
	assert_null(gmod_hook_by_version("cuMemAllo", CUDA_VERSION, 0));
	assert_null(gmod_hook_by_version("cuMemAllocX", CUDA_VERSION, 0));
}

/* Spelled out, in case the rule and its test are wrong in the same way. */
TEST(some_requests_are_known_by_heart)
{
	assert_null(gmod_hook_by_version("cuMemAlloc", 2000, 0)); /* 32-bit */
	assert_null(gmod_hook_by_version("cuMemAlloc", 3010, 0));
	assert_ptr_equal(gmod_hook_by_version("cuMemAlloc", 3020, 0), cuMemAlloc_v2);
	assert_ptr_equal(gmod_hook_by_version("cuMemAlloc", 12000, 2), cuMemAlloc_v2);
	assert_ptr_equal(gmod_hook_by_version("cuMemcpy", 12000, 0), cuMemcpy);
	assert_ptr_equal(gmod_hook_by_version("cuMemcpy", 12000, 1), cuMemcpy);
	assert_ptr_equal(gmod_hook_by_version("cuMemcpy", 12000, 2), cuMemcpy_ptds);
	assert_ptr_equal(gmod_hook_by_version("cuMemcpy", 6000, 2), cuMemcpy);
	assert_ptr_equal(gmod_hook_by_version("cuLaunchKernel", 4000, 0), cuLaunchKernel);
	assert_ptr_equal(gmod_hook_by_version("cuLaunchKernel", 7000, 2), cuLaunchKernel_ptsz);
	assert_ptr_equal(gmod_hook_by_version("cuStreamBeginCapture", 10000, 0), cuStreamBeginCapture);
	assert_ptr_equal(gmod_hook_by_version("cuStreamBeginCapture", 10010, 0), cuStreamBeginCapture_v2);
	assert_ptr_equal(gmod_hook_by_version("cuGetProcAddress", 11030, 0), cuGetProcAddress);
	assert_ptr_equal(gmod_hook_by_version("cuGetProcAddress", 12000, 0), cuGetProcAddress_v2);
	assert_ptr_equal(gmod_hook_by_version("cuCtxCreate", 12050, 0), cuCtxCreate_v4);
	assert_ptr_equal(gmod_hook_by_version("cuGraphAddNode", 13030, 0), cuGraphAddNode_v2);
	assert_ptr_equal(gmod_hook_by_version("cuGraphAddNode", 13040, 0), cuGraphAddNode_v3);
	assert_ptr_equal(gmod_hook_by_version("cuLaunchHostFunc", 13010, 0), cuLaunchHostFunc_v2);
	assert_null(gmod_hook_by_version("cuGraphNodeSetParams", 13040, 0)); /* known, and left alone, in any ABI */
	assert_non_null(row_of("cuGraphNodeSetParams_v2"));
	assert_null(gmod_hook_by_version("cuMemAlloc", GMOD_NEWEST_CUDA + 10, 0)); /* who knows, whatever the toolkit */
	assert_null(gmod_hook_by_version("cuMemMap", 12000, 0));
	assert_null(gmod_hook_by_version("cuCtxGetCurrent", 12000, 0)); /* called, not hooked */
	assert_null(gmod_hook_by_symbol("cuMemAlloc"));
	assert_ptr_equal(gmod_hook_by_symbol("cuMemAlloc_v2"), cuMemAlloc_v2);
	assert_ptr_equal(gmod_hook_by_symbol("cuMemcpy_ptds"), cuMemcpy_ptds);
}

/* ---- what real programs ask ---- */

static bool replay_line(const char *line)
{
	char name[256];
	int version, flags;

	if (sscanf(line, "dlsym %255s", name) == 1) { // NOLINT: our own file
		check_symbol(name);
		return gmod_hook_by_symbol(name) != NULL;
	}
	/* How the trace writes that the runtime asked for no name at all. */
	if (!strncmp(line, "cuGetProcAddress v0 f0 ->", 25)) {
		check_request("", 0, 0);
		return false;
	}
	CHECK(sscanf(line, "cuGetProcAddress %255s %d %d", name, &version, &flags) == 3, "%s",
	      line); // NOLINT: the same
	check_request(name, version, flags);
	return gmod_hook_by_version(name, version, (cuuint64_t)flags) != NULL;
}

static void replay(const char *path)
{
	FILE *f = fopen(path, "re");
	int requests = 0, hooked = 0;
	char line[512];

	CHECK(f, "%s", path);
	while (fgets(line, sizeof(line), f))
		if (line[0] != '#') {
			hooked += replay_line(line);
			requests++;
		}
	fclose(f);
	print_message("%s: %d requests, %d of them hooked\n", path, requests, hooked);
	CHECK(requests > 370 && hooked > 100, "%s", path);
}

TEST(real_programs_get_what_they_ask_for)
{
	glob_t found;

	need_header();
	assert_int_equal(glob("tests/traces/*.txt", 0, NULL, &found), 0);
	assert_true(found.gl_pathc >= 10);
	for (size_t i = 0; i < found.gl_pathc; i++)
		replay(found.gl_pathv[i]);
	globfree(&found);
}

/* ---- without a driver ---- */

TEST(nothing_is_armed_without_a_driver)
{
	CUdeviceptr p = 7;

	if (gmod_driver_resolve())
		skip(); /* something has loaded one */
	assert_int_equal(gmod_hooks_armed(), 0);
	assert_null(gmod_hook_of((void *)cuMemAlloc_v2));
	assert_null(gmod_hook_of(NULL));
	assert_int_equal(NEXT(cuMemAlloc_v2)(&p, 100), CUDA_ERROR_NOT_INITIALIZED);
	assert_int_equal(p, 7);
}

/* ---- a driver that hands out what it does not export ---- */

static CUresult hand_out(const char *symbol, void **pfn, int version, cuuint64_t flags,
			 CUdriverProcAddressQueryResult *found)
{
	(void)symbol;
	(void)version;
	(void)flags;
	(void)found;
	*pfn = (void *)open_toolkits_header; /* of nobody's */
	return CUDA_SUCCESS;
}

static void *asked_for_itself(int version)
{
	void *p = NULL;

	assert_int_equal(cuGetProcAddress_v2("cuGetProcAddress", &p, version, 0, NULL), CUDA_SUCCESS);
	return p;
}

/* That of CUDA 11 has an argument less. */
TEST(who_asks_for_the_asking_gets_that_of_its_version)
{
	assert_non_null(dlopen("libcuda.so.1", RTLD_LAZY));
	assert_true(gmod_driver_resolve());
	gmod_driver.cuGetProcAddress_v2 = hand_out;
	assert_ptr_equal(asked_for_itself(11030), cuGetProcAddress);
	assert_ptr_equal(asked_for_itself(12000), cuGetProcAddress_v2);
	assert_ptr_equal(asked_for_itself(13000), cuGetProcAddress_v2);
}

static CMFixtureFunction group_setup = read_headers;
