/*
 * pitch-texture, after the CUDA sample simplePitchLinearTexture: copies an image shifted by some texels, round its
 * edges, into pitched memory; once from a texture of pitched memory, and once from a texture of a CUDA array.
 */
#include "coarse.h"

/* Three images of 64 MiB, more than the cache: see pns. */
enum { WIDTH = 4096, HEIGHT = 4096, SHIFT_X = 5, SHIFT_Y = 7, BLOCK_X = 32, BLOCK_Y = 8 };

static const size_t row_bytes = WIDTH * sizeof(float);
static std::vector<float> image, expected, from_pitched, from_array;

static __global__ void shift(char *out, size_t pitch, cudaTextureObject_t texture)
{
	unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;

	/* The centre of a texel: what the division rounds off never makes it another texel. */
	if (x < WIDTH && y < HEIGHT)
		((float *)(out + y * pitch))[x] =
		    tex2D<float>(texture, (x + SHIFT_X + 0.5f) / WIDTH, (y + SHIFT_Y + 0.5f) / HEIGHT);
}

static cudaTextureObject_t texture_of(const struct cudaResourceDesc *resource)
{
	struct cudaTextureDesc how = {};
	cudaTextureObject_t texture;

	how.addressMode[0] = how.addressMode[1] = cudaAddressModeWrap;
	how.filterMode = cudaFilterModePoint; /* no arithmetic: what comes out is exact */
	how.readMode = cudaReadModeElementType;
	how.normalizedCoords = 1;
	CUDA(cudaCreateTextureObject(&texture, resource, &how, NULL));
	return texture;
}

static cudaTextureObject_t texture_of_pitched(void *memory, size_t pitch)
{
	struct cudaResourceDesc resource = {};

	resource.resType = cudaResourceTypePitch2D;
	resource.res.pitch2D.devPtr = memory;
	resource.res.pitch2D.desc = cudaCreateChannelDesc<float>();
	resource.res.pitch2D.width = WIDTH;
	resource.res.pitch2D.height = HEIGHT;
	resource.res.pitch2D.pitchInBytes = pitch;
	return texture_of(&resource);
}

static cudaTextureObject_t texture_of_array(cudaArray_t array)
{
	struct cudaResourceDesc resource = {};

	resource.resType = cudaResourceTypeArray;
	resource.res.array.array = array;
	return texture_of(&resource);
}

/* Destroys the texture. Nothing of an earlier call is left in `out` to be taken for this one's. */
static void shift_rounds(unsigned rounds, char *out, size_t pitch, cudaTextureObject_t texture, float *found)
{
	dim3 block(BLOCK_X, BLOCK_Y), grid(blocks_for(WIDTH, BLOCK_X), blocks_for(HEIGHT, BLOCK_Y));

	CUDA(cudaMemset2DAsync(out, pitch, 0xff, row_bytes, HEIGHT, main_stream));
	run_rounds(rounds, [&] { shift<<<grid, block, 0, main_stream>>>(out, pitch, texture); });
	CUDA(cudaGetLastError());
	copy_rows(found, row_bytes, out, pitch, row_bytes, HEIGHT, cudaMemcpyDeviceToHost);
	CUDA(cudaDestroyTextureObject(texture));
}

static void prepare(void)
{
	image.resize(WIDTH * HEIGHT);
	expected.resize(WIDTH * HEIGHT);
	from_pitched.assign(WIDTH * HEIGHT, NAN);
	from_array.assign(WIDTH * HEIGHT, NAN);
	random_seed(1);
	for (float &texel : image)
		texel = random_float();
	for (unsigned y = 0; y < HEIGHT; y++)
		for (unsigned x = 0; x < WIDTH; x++)
			expected[y * WIDTH + x] = image[(y + SHIFT_Y) % HEIGHT * WIDTH + (x + SHIFT_X) % WIDTH];
}

static void work(unsigned rounds)
{
	struct cudaChannelFormatDesc texel = cudaCreateChannelDesc<float>();
	size_t in_pitch, out_pitch;
	char *in = (char *)device_alloc_pitched(row_bytes, HEIGHT, &in_pitch);
	char *out = (char *)device_alloc_pitched(row_bytes, HEIGHT, &out_pitch);
	cudaArray_t array;

	CUDA(cudaMallocArray(&array, &texel, WIDTH, HEIGHT));
	copy_rows(in, in_pitch, image.data(), row_bytes, row_bytes, HEIGHT, cudaMemcpyHostToDevice);
	CUDA(cudaMemcpy2DToArrayAsync(array, 0, 0, image.data(), row_bytes, row_bytes, HEIGHT, cudaMemcpyHostToDevice,
				      main_stream));
	shift_rounds(rounds - rounds / 2, out, out_pitch, texture_of_pitched(in, in_pitch), from_pitched.data());
	shift_rounds(rounds / 2, out, out_pitch, texture_of_array(array), from_array.data());
	CUDA(cudaFreeArray(array));
}

static uint64_t check(void)
{
	return count_wrong(from_pitched.data(), expected.data(), expected.size(), 0) +
	       count_wrong(from_array.data(), expected.data(), expected.size(), 0);
}

const struct program pitch_texture = {"pitch-texture", 36000, 2, prepare, work, check};
