/* Every launch there is, of kernels found in every way that modules and libraries have. */
#include "every.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#define N 1000

static CUdeviceptr p;

/* The module's file in memory. */
static void *image_of(const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat s;
	void *at;

	REQUIRE(fd >= 0 && !fstat(fd, &s));
	at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	REQUIRE(at != MAP_FAILED);
	close(fd);
	return at;
}

static void launches(CUfunction f, CUstream stream)
{
	long long off = 100, count = 40;
	void *params[] = {&p, &off, &count};
	CUlaunchConfig config = {2, 1, 1, 32, 1, 1, 0, stream, NULL, 0};
	CUDA_LAUNCH_PARAMS several = {f, 2, 1, 1, 32, 1, 1, 0, stream, params};

	BOTH(cuLaunchKernel, _ptsz, f, 2, 1, 1, 32, 1, 1, 0, stream, params, NULL);
	say_bytes("twice", p, N);
	off++;
	BOTH(cuLaunchKernelEx, _ptsz, &config, f, params, NULL);
	count++;
	SAY(cuLaunchKernelEx, &config, f, params, NULL);
	say_bytes("three times", p, N);
	BOTH(cuLaunchCooperativeKernel, _ptsz, f, 2, 1, 1, 32, 1, 1, 0, stream, params);
	off++;
	SAY(cuLaunchCooperativeKernel_ptsz, f, 2, 1, 1, 32, 1, 1, 0, stream, params);
	say_bytes("once more", p, N);
	SAY(cuLaunchCooperativeKernelMultiDevice, &several, stream ? 1 : 0, 0);
	say_bytes("on all devices", p, N);
	SAY(cuLaunchKernel, f, 0, 1, 1, 32, 1, 1, 0, stream, params, NULL);
	SAY(cuLaunchKernelEx_ptsz, NULL, f, params, NULL);
}

static void add_one(void *to)
{
	++*(int *)to;
}

static void add_two(CUstream stream TK_UNUSED, CUresult r, void *to)
{
	*(int *)to += r == CUDA_SUCCESS ? 2 : 1000;
}

static void host_functions(CUstream stream)
{
	int calls = 0;

	BOTH(cuLaunchHostFunc, _ptsz, stream, add_one, &calls);
	BOTH(cuLaunchHostFunc_v2, _ptsz, stream, add_one, &calls, 0);
	BOTH(cuStreamAddCallback, _ptsz, stream, add_two, &calls, 0);
	CK(cuCtxSynchronize());
	printf("host functions: %d\n", calls);
}

static CUfunction function_in(CUmodule module)
{
	CUfunction all[256] = {NULL}, f = NULL;
	const char *name = NULL;
	unsigned count = 0;

	SAY(cuModuleGetFunction, &f, module, "k_nothing");
	SAY(cuModuleGetFunction, &f, module, "k_flip");
	SAY(cuModuleEnumerateFunctions, all, 256, module);
	while (count < 256 && all[count])
		count++;
	printf("functions: %u\n", count);
	if (all[0] && dlsym(RTLD_DEFAULT, "cuFuncGetName"))
		CK(((CUresult(*)(const char **, CUfunction))dlsym(RTLD_DEFAULT, "cuFuncGetName"))(&name, all[0]));
	printf("the first: %s\n", name ? name : "-");
	return f;
}

static void use_module(const char *how, CUmodule module)
{
	long long off = 3, count = 5;
	CUfunction f;

	printf("%s:\n", how);
	f = function_in(module);
	SAY(cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count), NULL);
	say_bytes("flipped", p, N);
	SAY(cuModuleUnload, module);
}

static void modules(const char *path)
{
	void *image = image_of(path);
	CUmodule module = NULL;

	SAY(cuModuleLoad, &module, "no/such/file");
	SAY(cuModuleLoad, &module, path);
	use_module("a file", module);
	SAY(cuModuleLoadData, &module, image);
	use_module("data", module);
	SAY(cuModuleLoadDataEx, &module, image, 0, NULL, NULL);
	use_module("data, options", module);
	SAY(cuModuleLoadFatBinary, &module, image);
	use_module("a fat binary", module);
}

static void use_library(const char *how, CUlibrary library)
{
	long long off = 7, count = 9;
	CUkernel all[256] = {NULL}, kernel = NULL;
	CUmodule module = NULL;
	CUfunction f = NULL, same = NULL;

	printf("%s:\n", how);
	SAY(cuLibraryGetKernel, &kernel, library, "k_nothing");
	SAY(cuLibraryGetKernel, &kernel, library, "k_flip");
	SAY(cuLibraryEnumerateKernels, all, 256, library);
	SAY(cuLibraryGetModule, &module, library);
	SAY(cuKernelGetFunction, &f, kernel);
	SAY(cuModuleGetFunction, &same, module, "k_flip");
	printf("the same function: %d\n", f && f == same);
	SAY(cuLaunchKernel, f, 1, 1, 1, 32, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count), NULL);
	off++;
	SAY(cuLaunchKernel, (CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count), NULL);
	say_bytes("flipped", p, N);
	SAY(cuLibraryUnload, library);
}

static void libraries(const char *path)
{
	CUlibrary library = NULL;

	SAY(cuLibraryLoadFromFile, &library, "no/such/file", NULL, NULL, 0, NULL, NULL, 0);
	SAY(cuLibraryLoadFromFile, &library, path, NULL, NULL, 0, NULL, NULL, 0);
	use_library("a file", library);
	SAY(cuLibraryLoadData, &library, image_of(path), NULL, NULL, 0, NULL, NULL, 0);
	use_library("data", library);
}

static void links(void)
{
	static char ptx[] = ".version 7.0\n.target sm_70\n.address_size 64\n";
	CUlinkState link = NULL;

	CK(cuLinkCreate(0, NULL, NULL, &link));
	SAY(cuLinkAddData_v2, link, CU_JIT_INPUT_PTX, ptx, sizeof(ptx), "some", 0, NULL, NULL);
	CK(cuLinkDestroy(link));
}

static void calls(void)
{
	const char *path = getenv("GMOD_TEST_KERNELS");
	CUstream stream = tk_stream();

	launches(tk_kernel("k_flip"), stream);
	launches(tk_kernel("k_coop"), NULL);
	host_functions(stream);
	modules(path);
	libraries(path);
	links();
}

int main(void)
{
	p = tk_alloc(N);
	CK(cuMemsetD8(p, 7, N));
	tk_sync();
	every_way(calls);
}
