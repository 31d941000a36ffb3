// skip-on: gpu
/*
 * A module that was compiled with another version's header, as its guard kernel's name tells, beside one of this
 * version: its kernels allocate from CUDA's own heap. options:device_heap has what is said.
 */
#include "inkernel.h"

static void write_another(const char *path)
{
	static char bytes[1 << 20], name[64];
	FILE *from = fopen(ik_file(), "r"), *to = fopen(path, "w");
	size_t n;

	REQUIRE(from && to);
	n = fread(bytes, 1, sizeof(bytes), from);
	snprintf(name, sizeof(name), "_Z15gmod_unit_guardILj%uEEvv", GMOD_DEVICE_LAYOUT);
	REQUIRE(n > 0 && n < sizeof(bytes));
	for (char *at = bytes; (at = memmem(at, (size_t)(bytes + n - at), name, strlen(name))); at++)
		at[strlen("_Z15gmod_unit_guardILj")]++;
	REQUIRE(fwrite(bytes, 1, n, to) == n);
	fclose(from);
	REQUIRE(fclose(to) == 0);
}

int main(void)
{
	CUdeviceptr missing = ik_counter(), none = 0;
	long long rounds = 10, size = 100;
	CUmodule other;

	ik_start_first();
	write_another("./other-layout");
	CK(cuModuleLoad(&other, "./other-layout"));
	REQUIRE(unlink("./other-layout") == 0);
	tk_launch(tk_kernel_of(other, "d_pairs"), 1, 8, NULL, TK_ARGS(&rounds, &size, &missing, &none));
	tk_launch(ik_kernel("d_pairs"), 1, 8, NULL, TK_ARGS(&rounds, &size, &missing, &none));
	tk_sync();
	printf("not got: %d\n", ik_count(missing));
}
