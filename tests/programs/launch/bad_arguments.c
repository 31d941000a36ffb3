// case: bad_argument_of_many of_many
// case: bad_argument_in_600 in_600 => suspect: k_in_600;
//    first: k_in_600 x1 .*: argument 0 at byte 296 points into the buffer
// case: bad_argument_in_4000 in_4000 => suspect: k_in_4000;
//    first: k_in_4000 x1 .*: argument 0 at byte 3920 points into the buffer
// case: bad_argument_in_a_table in_a_table => suspect: k_in_table; first: k_flip_01 x1 .*: no argument .*;
//    says: 2\. k_in_table x1 .*: no argument of it points there$
// case: bad_argument_in_a_buffer in_a_buffer
// case: bad_argument_by_a_configuration by_a_configuration
// case: bad_argument_of_a_cooperative_launch of_a_cooperative_launch
// case: bad_argument_of_a_kernel of_a_kernel
// case: bad_argument_of_one_loaded_again of_one_loaded_again
// case: bad_argument_of_an_unknown of_an_unknown => sim-env: SIM_FAIL=cuModuleGetFunctionCount:1; skip-on: gpu;
//    needs: cuModuleEnumerateFunctions; suspect: unknown; first: unknown x1 .*: its arguments are not known
// case: bad_argument_in_front in_front =>
//    first: k_flip_17 x1 .*: argument 0 points 4500 bytes in front
// case: bad_argument_of_a_thread of_a_thread
// case: bad_argument_of_an_ended_thread of_an_ended_thread
// expect: heap-buffer-overflow size 3000 offset +0 in make_buffer
// suspect: k_flip_17
// first: k_flip_17 x1 on the default stream.*: argument 0 points into the buffer
// needs: cuFuncGetParamInfo
// options: scan_interval_us=60000000
/*
 * Of all kernels that were under way the one that has the buffer is the first suspect, however its arguments come;
 * where they do not tell it is among them. The others have a buffer of their own, far away.
 */
#include "kernel_structs.h"
#include "make_buffer.h"

enum { OTHERS = 40 };

static long long off = 3000, count = 4, away = 0;
static CUdeviceptr other;

static CUfunction flip(int number)
{
	char name[16];

	snprintf(name, sizeof(name), "k_flip_%02d", number);
	return tk_kernel(name);
}

static CUfunction culprit(void)
{
	return flip(17);
}

static void launch_others(void)
{
	for (int i = 0; i < OTHERS; i++)
		if (i != 17)
			tk_launch(flip(i), 1, 4, NULL, TK_ARGS(&other, &away, &count));
}

static TK_UNUSED void of_many(CUdeviceptr p)
{
	tk_launch(culprit(), 1, 4, NULL, TK_ARGS(&p, &off, &count));
	launch_others();
}

static TK_UNUSED void in_600(CUdeviceptr p)
{
	struct in_600 in = {.p = p};

	tk_launch(tk_kernel("k_in_600"), 1, 4, NULL, TK_ARGS(&in, &off, &count));
	launch_others();
}

static TK_UNUSED void in_4000(CUdeviceptr p)
{
	struct in_4000 in = {.p = p};

	tk_launch(tk_kernel("k_in_4000"), 1, 4, NULL, TK_ARGS(&in, &off, &count));
	launch_others();
}

static TK_UNUSED void in_a_table(CUdeviceptr p)
{
	CK(cuMemcpyHtoD(other + 65536, &p, sizeof(p)));
	tk_launch(tk_kernel("k_in_table"), 1, 4, NULL, TK_ARGS(&(CUdeviceptr){other + 65536}, &off, &count));
	tk_launch(flip(1), 1, 4, NULL, TK_ARGS(&other, &away, &count));
}

static TK_UNUSED void in_a_buffer(CUdeviceptr p)
{
	struct {
		CUdeviceptr p;
		long long off, count;
	} all = {p, off, count};
	size_t size = sizeof(all);
	void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &all, CU_LAUNCH_PARAM_BUFFER_SIZE, &size, CU_LAUNCH_PARAM_END};

	CK(cuLaunchKernel(culprit(), 1, 1, 1, 4, 1, 1, 0, NULL, NULL, extra));
	launch_others();
}

static TK_UNUSED void by_a_configuration(CUdeviceptr p)
{
	CUlaunchConfig config = {1, 1, 1, 4, 1, 1, 0, NULL, NULL, 0};

	CK(cuLaunchKernelEx(&config, culprit(), TK_ARGS(&p, &off, &count), NULL));
	launch_others();
}

static TK_UNUSED void of_a_cooperative_launch(CUdeviceptr p)
{
	CK(cuLaunchCooperativeKernel(culprit(), 1, 1, 1, 4, 1, 1, 0, NULL, TK_ARGS(&p, &off, &count)));
	launch_others();
}

static TK_UNUSED void of_a_kernel(CUdeviceptr p)
{
	CUlibrary library;
	CUkernel kernel;

	CK(cuLibraryLoadFromFile(&library, getenv("GMOD_TEST_KERNELS"), NULL, NULL, 0, NULL, NULL, 0));
	CK(cuLibraryGetKernel(&kernel, library, "k_flip_17"));
	tk_launch((CUfunction)kernel, 1, 4, NULL, TK_ARGS(&p, &off, &count));
	launch_others();
}

/* Its handle may be that of a kernel with other parameters, which it was before. */
static TK_UNUSED void of_one_loaded_again(CUdeviceptr p)
{
	for (int i = 0; i < 8; i++) {
		tk_launch(tk_kernel("k_fill"), 1, 4, NULL, TK_ARGS(&other, &away, &count, &(int){1}));
		tk_sync();
		CK(cuModuleUnload(tk_module));
		tk_module = tk_load_kernels();
	}
	of_many(p);
}

/* GMOD has not seen where the handle comes from. */
static TK_UNUSED void of_an_unknown(CUdeviceptr p)
{
	CUfunction all[256] = {0};
	const char *name;

	CK(cuModuleEnumerateFunctions(all, 256, tk_module));
	for (unsigned i = 0; i < 256 && cuFuncGetName(&name, all[i]) == CUDA_SUCCESS; i++)
		if (!strcmp(name, "k_flip_17"))
			tk_launch(all[i], 1, 4, NULL, TK_ARGS(&p, &off, &count));
	launch_others();
}

/* What it has is not the buffer. */
static TK_UNUSED void in_front(CUdeviceptr p)
{
	CUdeviceptr front = p - 1500;
	long long far = 4500;

	tk_launch(culprit(), 1, 4, NULL, TK_ARGS(&front, &far, &count));
	launch_others();
}

static void *launch_culprit(void *p)
{
	CK(cuCtxSetCurrent(tk_context));
	tk_launch(culprit(), 1, 4, NULL, TK_ARGS(p, &off, &count));
	return NULL;
}

static TK_UNUSED void of_an_ended_thread(CUdeviceptr p)
{
	pthread_t thread;

	REQUIRE(!pthread_create(&thread, NULL, launch_culprit, &p));
	REQUIRE(!pthread_join(thread, NULL));
	launch_others();
}

static void *launch_culprit_and_wait(void *p)
{
	launch_culprit(p);
	tk_sleep_ms(300);
	return NULL;
}

static TK_UNUSED void of_a_thread(CUdeviceptr p)
{
	pthread_t thread;

	REQUIRE(!pthread_create(&thread, NULL, launch_culprit_and_wait, &p));
	launch_others();
	tk_sleep_ms(100);
	REQUIRE(!pthread_detach(thread));
}

int main(void)
{
	CUdeviceptr p = make_buffer(3000);

	other = tk_alloc(8 << 20) + (4 << 20);
	CASE(p);
	CK(cuMemFree(p));
	CK(cuMemFree(other - (4 << 20)));
}
