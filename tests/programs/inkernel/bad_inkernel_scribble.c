// expect: double-free size 48
// expect: heap-buffer-overflow size 100 offset +0
/*
 * A kernel that frees twice, and one that writes all over the ring of findings, with what looks like findings, and over
 * their counts: none of those comes out, and what is found later does. Where the ring is, is read off the heap's
 * constants, as no program would.
 */
#include "inkernel.h"

enum { FINDINGS = 8 };

/* Findings that follow the one that is there, with every field plausible and a seal that is not. */
static void forge(struct gmod_device_finding *f, uint64_t sequence)
{
	memset(f, 0, sizeof(*f));
	f->class_ = GMOD_DEVICE_CORRUPT;
	f->user = 0x7f0000000010;
	f->word = 64ull << 28 | 1 << 16 | 2; /* 64 bytes, live */
	f->end = f->user + 64 + 8;
	f->seal = 0x1234567890abcdef;
	f->sequence = sequence;
}

int main(void)
{
	struct gmod_device_finding forged[FINDINGS];
	struct gmod_device_heap heap;
	uint64_t counts = 1ull << 62;
	CUdeviceptr p = ik_alloc(1, 48), q = ik_alloc(1, 100);

	ik_free(p, 1, 0);
	ik_free(p, 1, 0);
	tk_sync();
	tk_sleep_ms(100);
	heap = ik_heap();
	if (!heap.base)
		return 0; /* alone */
	for (int i = 0; i < FINDINGS; i++)
		forge(&forged[i], (uint64_t)i + 2);
	CK(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)&heap.ring->slot[1], forged, sizeof(forged)));
	CK(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)&heap.state->findings, &counts, sizeof(counts)));
	CK(cuMemcpyHtoD((CUdeviceptr)(uintptr_t)&heap.ring->said, &counts, sizeof(counts)));
	tk_sync();
	tk_sleep_ms(300);
	ik_flip(q, 0, 100, 1);
	tk_sync();
	tk_sleep_ms(100);
	return 0;
}
