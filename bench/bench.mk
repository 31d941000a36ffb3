# The programs of the bench. Included by the top Makefile, which defines BUILD, CUDA_HOME and NVCC.

.PHONY: bench-programs bench-figures

# Needs no nvcc.
$(BUILD)/bench/sweep: bench/sweep.c $(BUILD)/libgmod-objects.a $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS_TEST) $(SANFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libgmod-objects.a -ldl

# The driver loads it into a program. It takes nothing from CUPTI but a look whether its headers say what it says.
$(BUILD)/bench/libpages.so: bench/pages.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS_TEST) -isystem $(CUDA_HOME)/extras/CUPTI/include -fPIC -fvisibility=hidden -shared \
		-o $@ $< -ldl

-include $(BUILD)/bench/sweep.d

TEST_PREREQUISITES += $(BUILD)/bench/sweep $(BUILD)/bench/libpages.so

ifeq ($(NVCC),)

bench-programs bench-figures:
	@echo "bench: nvcc is missing (looked for in CUDA_HOME, PATH and /usr/local/cuda)" >&2; exit 2

else

GPU_ARCH ?= -gencode arch=compute_90,code=sm_90 -gencode arch=compute_75,code=compute_75
NVCCFLAGS ?= -O2 -lineinfo
BENCH_NVCC = $(NVCC) $(GPU_ARCH) $(NVCCFLAGS) -std=c++17 -Xcompiler -Wall,-Wextra,-Werror,-pthread

bench_coarse := $(patsubst %.cu,$(BUILD)/%.o,$(wildcard bench/coarse*.cu))
bench_inkernel := $(patsubst %.cu,$(BUILD)/%.o,$(wildcard bench/inkernel*.cu))

bench-programs: $(BUILD)/bench/inkernel $(BUILD)/bench/coarse

# What the bench takes from the tests.
bench-figures: $(addprefix $(BUILD)/gpu/programs/,figure_latency figure_idle figure_footprint figure_call_cost \
		figure_graph_cost) $(BUILD)/gpu/kernels.fatbin $(BUILD)/null/libcuda.so.1 $(BUILD)/null/figure_launch_cost $(BUILD)/bench/libpages.so

$(BUILD)/bench/%.o: bench/%.cu
	@mkdir -p $(@D)
	$(call say,NVCC)$(BENCH_NVCC) -MMD -MP -MF $(@:.o=.d) -c -o $@ $<

$(BUILD)/bench/coarse: $(bench_coarse)
	$(call say,LINK)$(BENCH_NVCC) -cudart static -o $@ $^

$(BUILD)/bench/inkernel: $(bench_inkernel)
	$(call say,LINK)$(BENCH_NVCC) -cudart static -o $@ $^

-include $(bench_coarse:.o=.d) $(bench_inkernel:.o=.d)

endif
