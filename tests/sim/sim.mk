# The simulated driver and the kernels of the test programs. Wants CC, CUDA_INC and BUILD.

CUDA_INC ?= /usr/local/cuda/include
BUILD ?= build
SIMFLAGS ?= -O2 -g

SIM_SRC := $(filter-out tests/sim/version.c tests/sim/compiler.c,$(wildcard tests/sim/*.c))
SIM_OBJ := $(SIM_SRC:tests/sim/%.c=$(BUILD)/sim/obj/%.o)
SIM_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -pthread -I. -I$(CUDA_INC)

# -Bsymbolic: cuGetProcAddress must hand out this library's functions, whatever is preloaded.
# nodelete: worker threads and the fault handler live in it.
SIM_LDFLAGS := -shared -pthread -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,nodelete \
	$(if $(findstring sanitize,$(SIMFLAGS)),,-Wl,-z,defs)

# The newest driver, and one as production has it: SIM_OLDER/libcuda.so.1 hides what came after that version.
SIM_VERSION := 13000
SIM_OLDER := 12.2
SIM_OLDER_VERSION := 12020
# One that is newer than the table.
SIM_NEWER := 14.0
SIM_NEWER_VERSION := 14000
TEST_PREREQUISITES += $(BUILD)/sim/$(SIM_OLDER)/libcuda.so.1 $(BUILD)/sim/$(SIM_NEWER)/libcuda.so.1

.PHONY: sim
sim: $(BUILD)/sim/libcuda.so.1 $(BUILD)/sim/kernels.so

$(BUILD)/sim/obj:
	@mkdir -p $@

$(BUILD)/sim/obj/%.o: tests/sim/%.c tests/sim/sim.mk | $(BUILD)/sim/obj
	$(call say,CC)$(CC) $(SIM_CFLAGS) $(SIMFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/sim/obj/version-%.o: tests/sim/version.c tests/sim/sim.h tests/sim/sim.mk | $(BUILD)/sim/obj
	$(call say,CC)$(CC) $(SIM_CFLAGS) $(SIMFLAGS) -DSIM_VERSION=$* -c $< -o $@

$(BUILD)/sim/libnvidia-ptxjitcompiler.so.1: tests/sim/compiler.c tests/sim/sim.mk | $(BUILD)/sim/obj
	$(call say,LD)$(CC) $(SIM_CFLAGS) $(SIMFLAGS) -shared -Wl,-soname,$(@F) -Wl,-z,nodelete $< -o $@

$(BUILD)/sim/libcuda.so.1: $(SIM_OBJ) $(BUILD)/sim/obj/version-$(SIM_VERSION).o | $(BUILD)/sim/libnvidia-ptxjitcompiler.so.1
	$(call say,LD)$(CC) $(SIM_LDFLAGS) $(SIMFLAGS) $^ -ldl -o $@
	@ln -sf libcuda.so.1 $(@D)/libcuda.so

$(BUILD)/sim/$(SIM_OLDER)/libcuda.so.1: $(SIM_OBJ) $(BUILD)/sim/obj/version-$(SIM_OLDER_VERSION).o $(BUILD)/sim/$(SIM_OLDER)/newer.map
	$(call say,LD)$(CC) $(SIM_LDFLAGS) $(SIMFLAGS) $(filter %.o,$^) -ldl -Wl,--version-script=$(filter %.map,$^) -o $@

$(BUILD)/sim/$(SIM_NEWER)/libcuda.so.1: $(SIM_OBJ) $(BUILD)/sim/obj/version-$(SIM_NEWER_VERSION).o
	@mkdir -p $(@D)
	$(call say,LD)$(CC) $(SIM_LDFLAGS) $(SIMFLAGS) $^ -ldl -o $@

$(BUILD)/sim/$(SIM_OLDER)/newer.map: lib/driver/entrypoints.def tests/sim/extra.def tests/sim/plain.def tests/sim/sim.mk scripts/entrypoints
	@mkdir -p $(@D)
	@scripts/entrypoints $(filter %.def,$^) | \
		awk 'BEGIN { print "{ local:" } $$1 != "LIBC" && $$4 > $(SIM_OLDER_VERSION) { print "\t" $$2 ";" } END { print "};" }' >$@

# Each access of a kernel asks the driver; not of those that allocate, whose heap is C's.
SIM_CHECKED := -fsanitize=kernel-address -include tests/sim/checked.h $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)), \
	$(addprefix -mllvm -asan-,instrumentation-with-call-threshold=0 stack=0 globals=0), \
	$(addprefix --param asan-,instrumentation-with-call-threshold=0 stack=0 globals=0))
$(BUILD)/sim/kernels.so: checked := $(SIM_CHECKED)

$(BUILD)/sim/kernels.so $(BUILD)/sim/inkernel.so: $(BUILD)/sim/%.so: tests/programs/%.cu tests/programs/kernels.h tests/sim/checked.h tests/sim/sim.mk | $(BUILD)/sim/obj
	$(call say,CC)$(CC) -std=gnu11 -Wall -Wextra -Werror -fPIC -shared -O2 -g $(checked) -x c $< -o $@

-include $(SIM_OBJ:.o=.d)
