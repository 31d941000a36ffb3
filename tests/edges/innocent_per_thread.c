/* The same on the per-thread default stream. */
#define CUDA_API_PER_THREAD_DEFAULT_STREAM
#include "innocent.c"
