# The programs of tests/edges, for the simulated driver. Included by the top Makefile after programs.mk.

has_openmp := $(shell echo 'int main(void) { return 0; }' | $(CC) -fopenmp -x c -o /dev/null - 2>/dev/null && echo yes)
edges_programs := $(patsubst tests/edges/%.c,$(BUILD)/edges/%,$(filter-out tests/edges/plugin_% tests/edges/secure.c \
	$(if $(has_openmp),,tests/edges/openmp.c),$(wildcard tests/edges/*.c))) \
	$(patsubst tests/edges/%.c,$(BUILD)/edges/%.so,$(wildcard tests/edges/plugin_*.c)) $(BUILD)/edges/secure.o

TEST_PREREQUISITES += edges-programs

.PHONY: edges-programs
edges-programs: $(edges_programs) ## the programs of tests/edges

ifeq ($(V),)
.SILENT: $(edges_programs)
endif

$(filter-out %.so %.o,$(edges_programs)): $(BUILD)/edges/%: tests/edges/%.c $(program_headers) $(SIM) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -Itests/programs -rdynamic $(if $(filter %/openmp,$@),-fopenmp) -o $@ $< $(SIM) -ldl

# bystanders.sh links it, so that the loader of a set-user-ID program finds what it needs.
$(BUILD)/edges/secure.o: tests/edges/secure.c $(program_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -Itests/programs -fPIE -c -o $@ $<

$(BUILD)/edges/%.so: tests/edges/%.c $(program_headers) $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_TEST) -Itests/programs -fPIC -shared -Wl,-soname,$(@F) -o $@ $<
