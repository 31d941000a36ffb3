# The test programs: each against the simulated driver and, with `make gpu-programs`, against the toolkit's stub of the
# real one, where rt_* (programs over the CUDA runtime) join them. Their folders are for readers: all are built into one.
#
# Included by the top Makefile, which defines BUILD, CC, CFLAGS_TEST, CUDA_HOME, NVCC and SIM.

# NAME:SOURCE for each of them, cases included.
program_list := $(filter-out figure_launch_cost:% figure_python_cost:%,$(shell tests/programs/list | tr ' ' ':'))
all_programs := $(foreach p,$(program_list),$(firstword $(subst :, ,$(p))))
$(foreach p,$(program_list),$(eval $(addprefix $(BUILD)/,$(addsuffix /programs/$(firstword $(subst :, ,$(p))),sim gpu)): \
	$(lastword $(subst :, ,$(p)))))

programs := conformance $(filter-out rt_%,$(all_programs))
rt_programs := $(filter rt_%,$(all_programs))
plugin_sources := $(wildcard tests/programs/plugins/*.c)
plugins := $(patsubst tests/programs/plugins/%.c,%.so,$(plugin_sources))
program_headers := $(wildcard tests/programs/*.h tests/programs/*/*.h tests/programs/*/*.cuh)
PROGRAM_INCLUDES := -Itests/programs

sim_programs := $(addprefix $(BUILD)/sim/programs/,$(plugins) $(programs))
gpu_programs := $(addprefix $(BUILD)/gpu/programs/,$(plugins) $(programs) $(rt_programs))

# A driver that does nothing at once, and what is timed over it: the cost of the hooks alone.
null_programs := $(BUILD)/null/libcuda.so.1 $(BUILD)/null/figure_launch_cost $(BUILD)/null/figure_python_cost.so

TEST_PREREQUISITES += sim-programs

.PHONY: sim-programs gpu-programs gpu-programs-inkernel
gpu-programs-inkernel: $(foreach p,$(gpu_programs),$(if $(findstring _inkernel_,$p),$p)) $(BUILD)/gpu/kernels.fatbin $(BUILD)/gpu/inkernel.fatbin
sim-programs: $(sim_programs) $(BUILD)/sim/$(SIM_OLDER)/libcuda.so.1 $(BUILD)/sim/$(SIM_NEWER)/libcuda.so.1 $(null_programs) $(BUILD)/sim/kernels.so $(BUILD)/sim/inkernel.so ## the test programs for the simulated driver
gpu-programs: $(gpu_programs) $(null_programs) $(BUILD)/gpu/kernels.fatbin $(BUILD)/gpu/inkernel.fatbin ## the test programs for a GPU

$(BUILD)/sim/programs/%: driver = $(SIM)
$(BUILD)/gpu/programs/%: driver = -L$(CUDA_HOME)/lib64/stubs -lcuda

# Exceptions: one program is not linked with the driver, one wants a library in front of the C library, one is of many
# files.
$(BUILD)/sim/programs/bad_through_dlopen $(BUILD)/gpu/programs/bad_through_dlopen: driver =
$(BUILD)/sim/programs/good_rtld_next: driver = $(BUILD)/sim/programs/plugin_getpgrp.so $(SIM)
$(BUILD)/gpu/programs/good_rtld_next: driver = $(BUILD)/gpu/programs/plugin_getpgrp.so -L$(CUDA_HOME)/lib64/stubs -lcuda
$(BUILD)/sim/programs/good_rtld_next: $(BUILD)/sim/programs/plugin_getpgrp.so
$(BUILD)/gpu/programs/good_rtld_next: $(BUILD)/gpu/programs/plugin_getpgrp.so
$(BUILD)/sim/programs/conformance $(BUILD)/gpu/programs/conformance: $(wildcard tests/programs/conformance/*.c)

# The arguments of the case at hand, as the source's line for it has them.
case = -DCASE="$$(sed -nE '/^\/\/ case: $(@F)( |$$)/ { s,,,; s, *(=>.*)?$$,,p }' $(firstword $(filter %.c %.cu,$^)))"
# -rdynamic: reports find the names of exported functions. -O1: hundreds of programs compile testkit.h, and none is timed but
# figures.
link_program = $(CC) $(CFLAGS_TEST) $(if $(findstring figure_,$@),,-O1) $(PROGRAM_INCLUDES) $(case) -rdynamic \
	-Wl,-rpath,'$$ORIGIN' -o $@ $(filter %.c,$^) $(driver) -ldl
link_plugin = $(CC) $(CFLAGS_TEST) -O1 $(PROGRAM_INCLUDES) -fPIC -shared -Wl,-soname,$(@F) -o $@ $<

$(addprefix $(BUILD)/sim/programs/,$(programs)): $(program_headers) $(SIM) $(BUILD)/flags
	@mkdir -p $(@D)
	$(link_program)

$(addprefix $(BUILD)/gpu/programs/,$(programs)): $(program_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	$(link_program)

$(BUILD)/sim/programs/%.so $(BUILD)/gpu/programs/%.so: tests/programs/plugins/%.c $(program_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	$(link_plugin)

# ---- for nvcc ----

# Machine code for one architecture and portable code for the others.
GPU_ARCH ?= -gencode arch=compute_90,code=sm_90 -gencode arch=compute_75,code=compute_75

device_headers := $(wildcard include/gmod_device.cuh include/gmod/*.h) $(wildcard tests/programs/inkernel*.h)
$(BUILD)/gpu/inkernel.fatbin $(BUILD)/sim/inkernel.so: $(device_headers)

$(BUILD)/gpu/%.fatbin: tests/programs/%.cu tests/programs/kernels.h
	@mkdir -p $(@D)
	$(NVCC) $(GPU_ARCH) -O2 -lineinfo -fatbin -o $@ $<

$(BUILD)/gpu/programs/rt_shared_%: cudart = -cudart shared -Xlinker -rpath=$(CUDA_HOME)/lib64
$(BUILD)/gpu/programs/rt_static_%: cudart = -cudart static
$(BUILD)/gpu/programs/rt_per_thread_%: cudart = -cudart static --default-stream per-thread

# Exceptions: programs of two translation units, with relocatable device code and without.
rdc_programs := $(addprefix $(BUILD)/gpu/programs/,rt_static_inkernel_rdc rt_static_inkernel_rdc_clean)
$(rdc_programs): rdc = -rdc=true
$(rdc_programs) $(BUILD)/gpu/programs/rt_shared_inkernel_units: tests/programs/runtime/inkernel_unit.cu
$(addprefix $(BUILD)/gpu/programs/,$(foreach p,$(rt_programs),$(if $(findstring inkernel,$p),$p))): $(device_headers)

$(addprefix $(BUILD)/gpu/programs/,$(rt_programs)): $(program_headers)
	@mkdir -p $(@D)
	$(NVCC) $(GPU_ARCH) -O2 -std=c++17 -I. $(PROGRAM_INCLUDES) $(case) \
		-Xcompiler -Wall,-Wextra,-Werror,-rdynamic,-pthread $(rdc) $(cudart) -o $@ $(filter %.cu,$^) -ldl

# ---- over the driver that does nothing ----

$(BUILD)/null/libcuda.so.1: $(wildcard tests/programs/figures/nullcuda*.c) lib/driver/entrypoints.def $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -fPIC -shared -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -o $@ $(filter %.c,$^)

$(BUILD)/null/figure_launch_cost: tests/programs/figures/figure_launch_cost.c $(program_headers) $(BUILD)/null/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -rdynamic -o $@ $< $(BUILD)/null/libcuda.so.1

$(BUILD)/null/figure_python_cost.so: tests/programs/figures/figure_python_cost.c $(program_headers) $(BUILD)/null/libcuda.so.1
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -fPIC -shared -o $@ $< $(BUILD)/null/libcuda.so.1
