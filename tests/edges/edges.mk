# The programs of tests/edges, for the simulated driver. Included by the top Makefile after programs.mk.

has_openmp := $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo yes)
edges_programs := $(patsubst tests/edges/%.c,$(BUILD)/edges/%,$(filter-out tests/edges/plugin_% $(addprefix tests/edges/,\
	secure.c old_driver.c $(if $(has_openmp),,openmp.c)),$(wildcard tests/edges/*.c))) \
	$(patsubst tests/edges/%.c,$(BUILD)/edges/%.so,$(wildcard tests/edges/plugin_*.c)) $(BUILD)/edges/secure.o \
	$(BUILD)/edges/old/libcuda.so.1

TEST_PREREQUISITES += edges-programs

.PHONY: edges-programs
edges-programs: $(edges_programs) ## the programs of tests/edges

ifeq ($(V),)
.SILENT: $(edges_programs)
endif

$(BUILD)/edges/lookups: lib/driver/entrypoints.def
$(BUILD)/edges/not_pie: tests/edges/pie.c
$(BUILD)/edges/plugin_free.so: $(SIM)

$(filter-out %.so %.so.1 %.o,$(edges_programs)): $(BUILD)/edges/%: tests/edges/%.c $(program_headers) $(wildcard tests/edges/*.h) $(SIM) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -Itests/programs -rdynamic $(if $(filter %/openmp,$@),-fopenmp) \
		$(if $(filter %/not_pie,$@),-no-pie) $(if $(filter %/pie,$@),-fPIE -pie) -o $@ $< \
		$(if $(filter %/lookups %/pointers %/weak,$@),,$(SIM)) -ldl

# A driver for lookups.sh. -Bsymbolic: it hands out its own functions, whatever is preloaded.
$(BUILD)/edges/old/libcuda.so.1: tests/edges/old_driver.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -fPIC -shared -Wl,-soname,$(@F) -Wl,-Bsymbolic -o $@ $<

# bystanders.sh links it, so that the loader of a set-user-ID program finds what it needs.
$(BUILD)/edges/secure.o: tests/edges/secure.c $(program_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -Itests/programs -fPIE -c -o $@ $<

$(BUILD)/edges/%.so: tests/edges/%.c $(program_headers) $(wildcard tests/edges/*.h tests/edges/*.map) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -Itests/programs -fPIC -shared -Wl,-soname,$(@F) $(addprefix -Wl$(comma)--version-script=,\
		$(wildcard tests/edges/$*.map)) -o $@ $< $(if $(filter %/plugin_free.so,$@),$(SIM))
