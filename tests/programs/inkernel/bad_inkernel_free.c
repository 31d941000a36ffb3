// case: bad_inkernel_double_free twice(1, 0) => double-free size 48
// case: bad_inkernel_double_free_last twice(1, 100) => double-free size 48
// case: bad_inkernel_double_free_released twice(32, 100) => double-free size 48
// case: bad_inkernel_double_free_at_once at_once(48, 4, 32) =>
//    127 x double-free size 48; options: device_free_delay=1000:max_reports=200
// case: bad_inkernel_double_free_in_warp at_once(1000, 1, 2) =>
//    double-free size 1000; options: device_free_delay=1000
// case: bad_inkernel_realloc_freed reallocated() => 10 x double-free size 300; options: device_free_delay=1000
// case: bad_inkernel_use_after_free written(200, 50) => use-after-free size 200 offset +50
// case: bad_inkernel_use_after_free_kept written(200, 50) => use-after-free size 200 offset +50;
//    options: device_free_delay=1000
// case: bad_inkernel_use_after_free_far written(1000, 252) => use-after-free size 1000 offset +252
// case: bad_inkernel_use_after_free_farther written(1000, 256) => 0 x use-after-free
// case: bad_inkernel_use_after_free_reused written_then_used() => use-after-free size 20000 offset +50;
//    options: device_heap_mb=16:device_guard_us=60000000
// case: bad_inkernel_invalid_free inside(480, (long long[]){32, 0}) => invalid-free
// case: bad_inkernel_free_inside_large inside(300000, (long long[]){65536, 131072 - 16, 1, 0}) => 3 x invalid-free
// case: bad_inkernel_free_foreign foreign() => 3 x invalid-free
// case: bad_inkernel_found_at_release overrun("d_flip_and_free", 100, 24, 60, 31) =>
//    heap-buffer-overflow size 24 offset +7; suspect: d_flip_and_free
// case: bad_inkernel_overflow_after_free overrun("d_free_and_flip", 20, 64, 0, 65) =>
//    heap-buffer-overflow size 64 offset +1; suspect: d_free_and_flip; options: device_free_delay=1000
// case: bad_inkernel_write_after_own_free overrun("d_free_and_flip", 20, 33, 4, 32) =>
//    use-after-free size 33 offset +32; suspect: d_free_and_flip; options: device_free_delay=1000
// case: bad_inkernel_use_after_passes passed_over() => use-after-free size 200 offset +50;
//    options: device_free_delay=1000
/* Kernels free what they should not, and write to what is freed. */
#include "inkernel.h"

#include "include/gmod.h"

#pragma weak gmod_device_check
#pragma weak gmod_device_get_stats

/*
 * At once, or after the memory has been given back to the heap, where the first free was the last one of a chunk, so
 * that nothing is left of what kind of chunk it was, and where a neighbour keeps the place.
 */
static TK_UNUSED void twice(long long count, int ms)
{
	CUdeviceptr p = ik_alloc(count, 48);

	ik_free(p, 1, 0);
	if (ms)
		tk_sync();
	tk_sleep_ms(ms);
	ik_free(p, 1, 0);
}

/*
 * Four warps, each in a block of its own, free one buffer: one of the 128 threads frees it. Two threads of a warp
 * believe that the buffer is theirs.
 */
static TK_UNUSED void at_once(long long size, unsigned blocks, unsigned threads)
{
	CUdeviceptr p = ik_alloc(32, size);

	tk_launch(ik_kernel("d_free_same"), blocks, threads, NULL, TK_ARGS(&p));
}

/* reallocN of what has been freed: the caller gets a buffer, and is told. */
static TK_UNUSED void reallocated(void)
{
	long long count = 10, larger = 600;
	CUdeviceptr p = ik_alloc(count, 300);

	ik_free(p, count, 0);
	tk_launch_n(ik_kernel("d_realloc"), count, NULL, TK_ARGS(&p, &count, &larger));
	ik_free(p, count, 0);
}

/* While nobody else has the memory, or nobody may have it. */
static TK_UNUSED void written(long long size, long long off)
{
	CUdeviceptr p = ik_alloc(10, size);

	ik_free(p, 10, 0);
	ik_flip(p, 3, off, 4);
}

/* Before the guard comes the memory is somebody's again: of all that the heap has, only this is free. */
static TK_UNUSED void written_then_used(void)
{
	CUdeviceptr p = ik_alloc(768, 20000);

	ik_free(p, 1, 0);
	ik_flip(p, 0, 50, 4);
	ik_alloc(1, 20000);
}

/* ... for more passes than it would take otherwise to give it back. */
static TK_UNUSED void passed_over(void)
{
	CUdeviceptr p = ik_alloc(10, 200);

	ik_free(p, 10, 0);
	tk_sync();
	for (int i = 0; i < 5 && gmod_device_check; i++)
		REQUIRE(gmod_device_check() == GMOD_OK);
	if (gmod_device_get_stats) {
		struct gmod_device_stats s = {.struct_size = sizeof(s)};

		REQUIRE(gmod_device_get_stats(&s) == GMOD_OK && s.waiting_buffers == 10);
	}
	ik_flip(p, 3, 50, 4);
}

/* Addresses inside a buffer: of a large one on boundaries of the heap's own and off them. */
static TK_UNUSED void inside(long long size, const long long *off)
{
	CUdeviceptr p = ik_alloc(1, size);

	while (*off)
		ik_free(p, 1, *off++);
	ik_free(p, 1, 0);
}

/* freeN of a variable of the thread's, of one of the module's, and of what cuMemAlloc returned. */
static TK_UNUSED void foreign(void)
{
	CUdeviceptr p = ik_array(512);

	tk_launch(ik_kernel("d_free_foreign"), 1, 1, NULL, TK_ARGS(&p));
	tk_sync();
	CK(cuMemFree(p));
}

/*
 * The kernel frees the buffer right after it has written behind it; it writes behind a buffer that has been freed,
 * whose canaries outlive it, and to the last byte of one that it has freed itself.
 */
static TK_UNUSED void overrun(const char *kernel, long long count, long long size, long long index, long long off)
{
	CUdeviceptr p = ik_alloc(count, size);

	tk_launch(ik_kernel(kernel), 1, 32, NULL, TK_ARGS(&p, &index, &off));
}

int main(void)
{
	CASE;
	tk_sync();
}
