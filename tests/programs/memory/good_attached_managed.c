/* Managed memory attached to a stream, and to the host, as older programs do. */
#include "testkit.h"

int main(void)
{
	CUdeviceptr p;
	CUstream stream = tk_stream();

	CK(cuMemAllocManaged(&p, 5000, CU_MEM_ATTACH_HOST));
	memset((void *)p, 1, 5000);
	printf("a part: %s\n", tk_error_name(cuStreamAttachMemAsync(stream, p, 4999, CU_MEM_ATTACH_SINGLE)));
	printf("more: %s\n", tk_error_name(cuStreamAttachMemAsync(stream, p, 5001, CU_MEM_ATTACH_SINGLE)));
	CK(cuStreamAttachMemAsync(stream, p, 5000, CU_MEM_ATTACH_SINGLE));
	CK(cuStreamAttachMemAsync(stream, p, 0, CU_MEM_ATTACH_SINGLE));
	CK(cuStreamSynchronize(stream));
	printf("a part: %s\n", tk_error_name(cuStreamAttachMemAsync(stream, p, 100, CU_MEM_ATTACH_GLOBAL)));
	printf("all: %s\n", tk_error_name(cuStreamAttachMemAsync(stream, p, 5000, CU_MEM_ATTACH_SINGLE)));
	tk_flip_on(stream, p, 0, 5000);
	CK(cuStreamSynchronize(stream));
	printf("last byte %#x\n", ((unsigned char *)p)[4999]);
	CK(cuMemFree(p));
	CK(cuStreamDestroy(stream));
}
