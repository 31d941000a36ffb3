/* Entry points: what cuGetProcAddress says of every row of the table that the driver is as new as. */
#include "conformance.h"

#include <dlfcn.h>

struct row {
	const char *symbol, *base;
	int version;
	const char *flavour;
};

#define GMOD_HOOK(symbol, base, version, flavour) {#symbol, #base, version, #flavour},
#define GMOD_PLAIN(symbol, base, version, flavour) {#symbol, #base, version, #flavour},
#define GMOD_CALL(symbol, base, version, flavour) {#symbol, #base, version, #flavour},

static const struct row rows[] = {
#undef cuGetProcAddress
#include "lib/driver/entrypoints.def"
#include "tests/sim/plain.def"
};

typedef CUresult get_proc_v1(const char *, void **, int, cuuint64_t);
typedef CUresult get_proc_v2(const char *, void **, int, cuuint64_t, CUdriverProcAddressQueryResult *);

static get_proc_v1 *proc_v1;
static get_proc_v2 *proc_v2;

static void row_fact(const struct row *row)
{
	cuuint64_t flags = *row->flavour ? CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM : CU_GET_PROC_ADDRESS_DEFAULT;
	void *wanted = dlsym(RTLD_DEFAULT, row->symbol), *v1 = NULL, *v2 = NULL;
	CUdriverProcAddressQueryResult status;

	if (!wanted) {
		fact("not exported", "%s", row->symbol);
		return;
	}
	proc_v1(row->base, &v1, row->version, flags);
	proc_v2(row->base, &v2, row->version, flags, &status);
	fact(yes_no(v1 == wanted && v2 == wanted), "%s is %s of %d%s", row->symbol, row->base, row->version,
	     row->flavour);
}

static void proc_fact(const char *name, int version, cuuint64_t flags)
{
	void *v1 = (void *)1, *v2 = (void *)1, *bare = (void *)1;
	CUdriverProcAddressQueryResult status = 77;
	CUresult r1 = proc_v1(name, &v1, version, flags), r2 = proc_v2(name, &v2, version, flags, &status);
	CUresult r3 = proc_v2(name, &bare, version, flags, NULL);
	Dl_info info;
	char text[200];

	if (!v2 || v2 == (void *)1 || !dladdr(v2, &info))
		info.dli_sname = v2 == (void *)1 ? "untouched" : "NULL";
	snprintf(text, sizeof(text), "%s %s %s, status %d, %s", code(r1), code(r2), code(r3), (int)status,
		 info.dli_sname ? info.dli_sname : "?");
	fact(text, "cuGetProcAddress %s %d %d", name, version, (int)flags);
}

void procaddr_facts(void)
{
	static const struct {
		const char *name;
		int version;
		unsigned flags;
	} asked[] = {
	    {"cuNoSuchFunction", 12000, 0},
	    {"cuMemAlloc_v2", 12000, 0},
	    {"cuMemAllocManaged", 5000, 0},
	    {"cuMemAlloc", 1000, 0},
	    {"cuMemAlloc", 13010, 0},
	    {"cuMemcpy", 4000, 2},
	    {"cuMemcpy", 6050, 2},
	    {"cuMemcpy", 7000, 1},
	    {"cuMemcpyAsync", 12000, 3},
	    {"cuMemcpyAsync", 12000, 4},
	    {"cuMemcpyHtoD", 4000, 2},
	    {"cuCtxSynchronize", 12080, 0},
	    {"cuGetProcAddress", 11030, 0},
	    {"cuGetProcAddress", 11080, 0},
	    {"cuGetProcAddress", 12000, 0},
	    {"cuGetProcAddress", 13000, 0},
	    {"cuGetProcAddress_v2", 12000, 0},
	    {"cuStreamBeginCapture", 10000, 0},
	    {"cuStreamBeginCapture", 10010, 2},
	    {"cuMemAdvise", 12010, 0},
	    {"cuGraphInstantiate", 11000, 0},
	    {"cuGraphInstantiate", 12000, 0},
	    {"", 12000, 0},
	    {"cuStreamWriteValue32", 11070, 0},
	    {"cuStreamWaitValue64", 12000, 2},
	    {"cuStreamBatchMemOp", 13000, 0},
	};

	int newest = 0;

	CK(cuDriverGetVersion(&newest));
	*(void **)&proc_v1 = dlsym(RTLD_DEFAULT, "cuGetProcAddress");
	*(void **)&proc_v2 = dlsym(RTLD_DEFAULT, "cuGetProcAddress_v2");
	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (rows[i].version <= newest)
			row_fact(&rows[i]);
	for (unsigned i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		proc_fact(asked[i].name, asked[i].version, asked[i].flags);
}
