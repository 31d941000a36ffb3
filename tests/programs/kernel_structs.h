/* What the kernels take that have a buffer's address in a structure (kernels.cu), as the host passes it. */
#pragma once

#include <cuda.h>

struct in_600 {
	long long before[37];
	CUdeviceptr p;
	long long behind[37];
};
struct in_4000 {
	long long before[490];
	CUdeviceptr p;
	long long behind[9];
};
struct in_6000 {
	long long before[740];
	CUdeviceptr p;
	long long behind[9];
};
