// expect: heap-buffer-overflow size 60 offset +0
// suspect: made_overflow
/* Kernels that are compiled while the program runs, by NVRTC; GMOD_TEST_INCLUDE says where gmod_device.cuh is. */
#include "runtime.cuh"

#include <dlfcn.h>
#include <nvrtc.h>
#include <string>
#include <vector>

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define VERSIONED "libnvrtc.so." TEXT(__CUDACC_VER_MAJOR__)

static const char source[] = "#include <gmod_device.cuh>\n"
			     "extern \"C\" __global__ void made_allocate(char **out)\n"
			     "{\n"
			     "	out[threadIdx.x] = (char *)mallocN(60);\n"
			     "}\n"
			     "extern \"C\" __global__ void made_overflow(char **p)\n"
			     "{\n"
			     "	p[5][60] ^= 0x5a;\n"
			     "	freeN(p[5]);\n"
			     "}\n";

static void skip(const char *why)
{
	fprintf(stderr, "skipped: %s\n", why);
	exit(77);
}

/* NVRTC is not everywhere: it is looked for by name. */
template <typename F> static F *nvrtc(const char *name)
{
	static void *library;

	if (!library)
		library = dlopen("libnvrtc.so", RTLD_NOW);
	if (!library)
		library = dlopen(VERSIONED, RTLD_NOW);
	if (!library)
		skip("there is no libnvrtc");
	return (F *)dlsym(library, name);
}

#define NVRTC(f) nvrtc<decltype(f)>(#f)

static void say_log(nvrtcProgram program)
{
	size_t size = 0;

	NVRTC(nvrtcGetProgramLogSize)(program, &size);
	std::vector<char> log(size + 1);
	NVRTC(nvrtcGetProgramLog)(program, log.data());
	fprintf(stderr, "%s\n", log.data());
}

/* The program's machine code for this device. */
static std::vector<char> compile(const char *include)
{
	std::string where = std::string("--include-path=") + include, architecture;
	cudaDeviceProp device;
	nvrtcProgram program;
	size_t size = 0;

	RT(cudaGetDeviceProperties(&device, 0));
	architecture = "--gpu-architecture=sm_" + std::to_string(device.major * 10 + device.minor);
	const char *options[] = {where.c_str(), architecture.c_str()};
	NVRTC(nvrtcCreateProgram)(&program, source, "made.cu", 0, NULL, NULL);
	if (NVRTC(nvrtcCompileProgram)(program, 2, options) != NVRTC_SUCCESS) {
		say_log(program);
		exit(3);
	}
	NVRTC(nvrtcGetCUBINSize)(program, &size);
	std::vector<char> code(size);
	NVRTC(nvrtcGetCUBIN)(program, code.data());
	return code;
}

static void launch(cudaLibrary_t library, const char *name, unsigned threads, void **arguments)
{
	cudaKernel_t kernel;

	RT(cudaLibraryGetKernel(&kernel, library, name));
	RT(cudaLaunchKernel((const void *)kernel, 1, threads, arguments, 0, NULL));
}

int main()
{
	const char *include = getenv("GMOD_TEST_INCLUDE");
	cudaLibrary_t library;
	char **p;
	void *arguments[] = {&p};

	if (!include)
		skip("GMOD_TEST_INCLUDE does not say where the headers are");
	RT(cudaMalloc(&p, 32 * sizeof(*p)));
	std::vector<char> code = compile(include);
	RT(cudaLibraryLoadData(&library, code.data(), NULL, NULL, 0, NULL, NULL, 0));
	launch(library, "made_allocate", 32, arguments);
	launch(library, "made_overflow", 1, arguments);
	RT(cudaDeviceSynchronize());
	RT(cudaFree(p));
}
