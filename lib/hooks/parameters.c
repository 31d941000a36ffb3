#include "lib/hooks/parameters.h"

#include <string.h>

#include "lib/base/facts.h"
#include "lib/context/capture.h"
#include "lib/driver/driver.h"

union asked {
	struct gmod_signature signature;
	char room[sizeof(struct gmod_signature) + GMOD_SIGNATURE_PARAMETERS * sizeof(struct gmod_parameter)];
};

static CUresult ask_one(uint64_t handle, bool is_kernel, size_t i, size_t *offset, size_t *size)
{
	if (is_kernel)
		return NEXT(cuKernelGetParamInfo)((CUkernel)handle, i, offset, size);
	return NEXT(cuFuncGetParamInfo)((CUfunction)handle, i, offset, size);
}

/* The parameters as far as they are read. CUDA_ERROR_INVALID_VALUE is how the driver says that there are no more. */
static CUresult ask(uint64_t handle, bool is_kernel, union asked *out)
{
	size_t offset, size, end = 0;
	CUresult r;

	memset(out, 0, sizeof(*out));
	out->signature.is_kernel = is_kernel;
	for (int i = 0; (r = ask_one(handle, is_kernel, (size_t)i, &offset, &size)) == CUDA_SUCCESS; i++) {
		if (i == GMOD_SIGNATURE_PARAMETERS || offset >= GMOD_SIGNATURE_BYTES) {
			out->signature.is_cut = true;
			break;
		}
		if (size > GMOD_SIGNATURE_BYTES - offset) {
			out->signature.is_cut = true;
			size = GMOD_SIGNATURE_BYTES - offset;
		}
		if (size < 8 && !*gmod_options()->journal)
			continue;
		out->signature.at[out->signature.count++] =
		    (struct gmod_parameter){(uint16_t)i, (uint16_t)offset, (uint16_t)size};
		end = offset + size > end ? offset + size : end;
	}
	out->signature.bytes = (uint32_t)((end + 7) / 8 * 8);
	return r == CUDA_ERROR_INVALID_VALUE ? CUDA_SUCCESS : r;
}

/* Loading a kernel may be what a capture elsewhere forbids. */
static const struct gmod_signature *ask_driver(uint64_t handle, bool is_kernel)
{
	CUstreamCaptureMode mode = gmod_relaxed_begin();
	union asked asked;
	CUresult r = ask(handle, is_kernel, &asked);

	gmod_relaxed_end(mode);
	return gmod_succeeded(r, "asking for a kernel's parameters") ? gmod_signature_keep(&asked.signature) : NULL;
}

static const struct gmod_signature *signature_of(uint64_t handle)
{
	const struct gmod_signature *s = gmod_signature_of(handle);

	if (!s || s->count != GMOD_SIGNATURE_UNASKED)
		return s;
	s = ask_driver(handle, s->is_kernel);
	gmod_signature_learn(handle, s);
	return s;
}

/* It may be one that the program was never given, and whose handle was another's: nothing is learned of it. */
const struct gmod_signature *gmod_parameters_of_node(uint64_t handle, bool is_kernel)
{
	const struct gmod_signature *s = signature_of(handle);
	bool can_ask = is_kernel ? HAVE(cuKernelGetParamInfo) : HAVE(cuFuncGetParamInfo);

	return s || !can_ask ? s : ask_driver(handle, is_kernel);
}

/* {POINTER, p, SIZE, &n, END}; NULL: it is not understood. */
static const void *buffer_of(void *const *extra, size_t *size)
{
	const void *buffer = NULL;

	for (*size = 0; *extra != CU_LAUNCH_PARAM_END; extra += 2) {
		if (extra[0] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			buffer = extra[1];
		else if (extra[0] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			*size = *(const size_t *)extra[1];
		else
			return NULL;
	}
	return buffer;
}

/* Both are refused by the driver, and then there is no launch. */
void gmod_parameters_rare(struct gmod_thread *t, uint64_t function, void *const *params, void *const *extra)
{
	struct gmod_signature_now now = {.changes =
					     atomic_load_explicit(&gmod_signature_changes, memory_order_acquire)};
	const void *buffer;
	size_t size = 0;

	now.signature = signature_of(function);
	buffer = extra ? buffer_of(extra, &size) : NULL;
	gmod_arguments_note(t, function, &now, extra ? NULL : params, buffer, size);
}
