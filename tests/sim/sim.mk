# The simulated driver and the kernels of the test programs. Wants CC, CUDA_INC and BUILD.

CUDA_INC ?= /usr/local/cuda/include
BUILD ?= build
SIMFLAGS ?= -O2 -g

SIM_SRC := $(wildcard tests/sim/*.c)
SIM_OBJ := $(SIM_SRC:tests/sim/%.c=$(BUILD)/sim/obj/%.o)
SIM_CFLAGS := -std=gnu11 -Wall -Wextra -Werror -fPIC -fvisibility=hidden -pthread -I$(CUDA_INC)

# -Bsymbolic: cuGetProcAddress must hand out this library's functions, whatever is preloaded.
# nodelete: worker threads and the fault handler live in it.
SIM_LDFLAGS := -shared -pthread -Wl,-soname,libcuda.so.1 -Wl,-Bsymbolic -Wl,-z,nodelete \
	$(if $(findstring sanitize,$(SIMFLAGS)),,-Wl,-z,defs)

.PHONY: sim
sim: $(BUILD)/sim/libcuda.so.1 $(BUILD)/sim/kernels.so

$(BUILD)/sim/obj:
	@mkdir -p $@

$(BUILD)/sim/obj/%.o: tests/sim/%.c tests/sim/sim.mk | $(BUILD)/sim/obj
	$(call say,CC)$(CC) $(SIM_CFLAGS) $(SIMFLAGS) -MMD -MP -c $< -o $@

$(BUILD)/sim/libcuda.so.1: $(SIM_OBJ)
	$(call say,LD)$(CC) $(SIM_LDFLAGS) $(SIMFLAGS) $^ -ldl -o $@
	@ln -sf libcuda.so.1 $(@D)/libcuda.so

$(BUILD)/sim/kernels.so $(BUILD)/sim/inkernel.so: $(BUILD)/sim/%.so: tests/programs/%.cu tests/programs/kernels.h | $(BUILD)/sim/obj
	$(call say,CC)$(CC) -std=gnu11 -Wall -Wextra -Werror -fPIC -shared -O2 -g -x c $< -o $@

-include $(SIM_OBJ:.o=.d)
