/*
 * An OpenMP program whose threads look up, with RTLD_NEXT, what their own file wraps, and use the driver at once. The
 * wrapper must find the function behind itself from every thread.
 */
#include "make_buffer.h"
#include <dlfcn.h>
#include <omp.h>

static int wrapped;

/* The program wraps this one: found by the dynamic linker before the OpenMP runtime's. */
__attribute__((visibility("default"))) double omp_get_wtick(void)
{
	double (*real)(void);

	*(void **)&real = dlsym(RTLD_NEXT, "omp_get_wtick");
	REQUIRE(real && real != omp_get_wtick);
#pragma omp atomic
	wrapped++;
	return real();
}

int main(int argc, char **argv TK_UNUSED)
{
	int right = 0, used = 0;
	CUfunction flip = tk_kernel("k_flip");

#pragma omp parallel num_threads(4) reduction(+ : right, used)
	{
		unsigned char host[1000] = {0};
		long long zero = 0, n = sizeof(host);
		CUdeviceptr p;

		CK(cuCtxSetCurrent(tk_context));
		p = make_buffer(sizeof(host));
		CK(cuMemcpyHtoD(p, host, sizeof(host)));
		tk_launch_n(flip, n, NULL, TK_ARGS(&p, &zero, &n));
		CK(cuMemcpyDtoH(host, p, sizeof(host)));
		for (size_t i = 0; i < sizeof(host); i++)
			right += host[i] == 0x5a;
		used += omp_get_wtick() > 0;
		if (argc > 1 && omp_get_thread_num() == 1)
			tk_launch_n(flip, 1, NULL, TK_ARGS(&p, &n, &(long long){1}));
		CK(cuMemFree(p));
	}
	printf("%d bytes right, %d threads, %d lookups\n", right, used, wrapped);
}
