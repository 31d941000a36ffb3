/* Which of the driver's errors are said to mean what: every code there is, against lists of its own. */
#include "lib/driver/errors.h"

#include "tests/unit/support.h"

enum { CODES = 1100 }; /* more than cuda.h has; the last one is 999 */

static const struct {
	int code;
	const char *name;
} fatal[] = {
    {214, "CUDA_ERROR_ECC_UNCORRECTABLE"},
    {226, "CUDA_ERROR_CONTAINED"},
    {700, "CUDA_ERROR_ILLEGAL_ADDRESS"},
    {702, "CUDA_ERROR_LAUNCH_TIMEOUT"},
    {710, "CUDA_ERROR_ASSERT"},
    {714, "CUDA_ERROR_HARDWARE_STACK_ERROR"},
    {715, "CUDA_ERROR_ILLEGAL_INSTRUCTION"},
    {716, "CUDA_ERROR_MISALIGNED_ADDRESS"},
    {717, "CUDA_ERROR_INVALID_ADDRESS_SPACE"},
    {718, "CUDA_ERROR_INVALID_PC"},
    {719, "CUDA_ERROR_LAUNCH_FAILED"},
    {721, "CUDA_ERROR_TENSOR_MEMORY_LEAK"},
    {810, "CUDA_ERROR_MPS_CLIENT_TERMINATED"},
};

static const char *name_of(int code)
{
	for (size_t i = 0; i < SIZE_OF(fatal); i++)
		if (fatal[i].code == code)
			return fatal[i].name;
	return NULL;
}

TEST(what_ends_a_context_is_known_by_name_and_nothing_else_is)
{
	for (int code = 0; code < CODES; code++) {
		const char *name = gmod_sticky_name((CUresult)code), *wanted = name_of(code);

		CHECK(!name == !wanted && (!name || !strcmp(name, wanted)), "%d: %s", code, name ? name : "-");
		CHECK(gmod_is_sticky((CUresult)code) == !!wanted, "%d", code);
	}
}

TEST(a_context_is_gone_after_two_errors)
{
	for (int code = 0; code < CODES; code++)
		CHECK(gmod_context_is_gone((CUresult)code) == (code == 201 || code == 709), "%d", code);
}

TEST(an_error_of_a_capture_is_one_of_nine)
{
	for (int code = 0; code < CODES; code++)
		CHECK(gmod_is_capture_error((CUresult)code) == (code >= 900 && code <= 908), "%d", code);
}
