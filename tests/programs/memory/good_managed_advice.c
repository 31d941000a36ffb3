// case: good_managed_advice
// case: good_managed_advice_under_managed => options: backend=managed
/* Managed memory with advice and prefetch, written by both sides in turn; advice on plain memory is refused. */
#include "testkit.h"

int main(void)
{
	CUmemLocation device = {.type = CU_MEM_LOCATION_TYPE_DEVICE}, host = {.type = CU_MEM_LOCATION_TYPE_HOST};
	CUdeviceptr p;
	int type = -1;
	CUdeviceptr plain = tk_alloc(10000);

	printf("advice on plain memory: %s\n",
	       tk_error_name(cuMemAdvise(plain, 10000, CU_MEM_ADVISE_SET_READ_MOSTLY, device)));
	printf("prefetch of plain memory: %s\n", tk_error_name(cuMemPrefetchAsync(plain, 10000, device, 0, NULL)));
	printf("range attribute of plain memory: %s\n",
	       tk_error_name(
		   cuMemRangeGetAttribute(&type, sizeof(type), CU_MEM_RANGE_ATTRIBUTE_READ_MOSTLY, plain, 10000)));
	CK(cuMemFree(plain));
	CK(cuMemAllocManaged(&p, 100000, CU_MEM_ATTACH_GLOBAL));
	memset((void *)p, 1, 100000);
	printf("advice behind it: %s\n",
	       tk_error_name(cuMemAdvise(p + 100000, 1, CU_MEM_ADVISE_SET_READ_MOSTLY, device)));
	CK(cuMemAdvise(p, 100000, CU_MEM_ADVISE_SET_PREFERRED_LOCATION, device));
	CK(cuMemAdvise(p, 100000, CU_MEM_ADVISE_SET_ACCESSED_BY, device));
	CK(cuMemPrefetchAsync(p, 100000, device, 0, NULL));
	tk_flip(p, 0, 100000);
	CK(cuMemPrefetchAsync(p, 100000, host, 0, NULL));
	tk_sync();
	printf("last byte %#x\n", ((unsigned char *)p)[99999]);
	CK(cuMemRangeGetAttribute(&type, sizeof(type), CU_MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION, p, 100000));
	printf("preferred location %d\n", type);
	CK(cuMemFree(p));
}
