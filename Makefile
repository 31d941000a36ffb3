# GMOD. `make help` lists the targets. Everything is written below $(BUILD).

.DEFAULT_GOAL := all
.DELETE_ON_ERROR:
MAKEFLAGS += --no-builtin-rules
# Parallel; a -j on the command line wins.
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(or $(shell nproc 2>/dev/null),2)
endif
SHELL := /bin/sh
comma := ,

# $(call say,WHAT)COMMAND: prints WHAT and the target instead of the command, which V=1 shows.
say = $(if $(V),,@echo '  $(1) $@' &&)

# Compiler: gcc, or clang where that is all there is.
ifeq ($(origin CC),default)
CC := $(if $(shell command -v gcc),gcc,$(if $(shell command -v clang),clang,gcc))
endif
AR ?= ar
COMPILER := $(if $(findstring clang,$(shell $(CC) --version 2>/dev/null)),clang,gcc)

# CUDA toolkit: CUDA_HOME, then the nvcc on PATH, then /usr/local/cuda. CUDA_INC stays empty where there are no headers:
# scripts/deps then says so.
ifeq ($(CUDA_HOME),)
nvcc_on_path := $(shell command -v nvcc)
ifneq ($(nvcc_on_path),)
CUDA_HOME := $(patsubst %/bin/nvcc,%,$(realpath $(nvcc_on_path)))
else
CUDA_HOME := /usr/local/cuda
endif
endif
CUDA_INC := $(patsubst %/cuda.h,%,$(firstword $(wildcard $(CUDA_HOME)/include/cuda.h $(CUDA_HOME)/targets/*/include/cuda.h)))
ifeq ($(origin NVCC),undefined)
NVCC := $(firstword $(wildcard $(CUDA_HOME)/bin/nvcc) $(nvcc_on_path))
endif
export CUDA_HOME CUDA_INC NVCC CC

# SANITIZE=address,undefined or SANITIZE=thread builds an instrumented library and unit tests in a directory of their
# own. The simulated driver and the test programs stay plain: a preloaded sanitizer runtime serves the library.
SANITIZE ?=
BUILD ?= build$(if $(SANITIZE),/$(subst $(comma),-,$(SANITIZE)))
export BUILD SANITIZE

CFLAGS ?= -O2 -g
CUDA_ISYSTEM := $(if $(filter-out /usr/include,$(CUDA_INC)),-isystem $(CUDA_INC))
CFLAGS_TEST = -std=gnu11 -D_GNU_SOURCE $(CFLAGS) -Wall -Wextra -Werror -I. $(CUDA_ISYSTEM) -pthread
CFLAGS_LIB = $(CFLAGS_TEST) -fPIC -fvisibility=hidden
# -Bsymbolic-functions: a hook is the library's own, also where another interposer in front exports the same name.
LDFLAGS_LIB = -shared -static-libgcc -pthread -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-Bsymbolic-functions
# --wrap: lib/base/unwind_table.c, which is for the library alone.
LDFLAGS_LIB += -Wl,--wrap=_Unwind_Find_FDE

ifneq ($(SANITIZE),)
SANFLAGS := -fsanitize=$(SANITIZE) -fno-sanitize-recover=all -fno-omit-frame-pointer
# gcc warns that it does not model fences; the protocols that need them are checked by tests/models.
SANFLAGS += $(if $(findstring thread,$(SANITIZE)),$(if $(filter gcc,$(COMPILER)),-Wno-tsan))
sanitizer_runtime := $(if $(filter gcc,$(COMPILER)),$(if $(findstring address,$(SANITIZE)),libasan.so,$(if \
	$(findstring thread,$(SANITIZE)),libtsan.so)),$(if $(findstring address,$(SANITIZE)),libclang_rt.asan-$(shell \
	uname -m).so,$(if $(findstring thread,$(SANITIZE)),libclang_rt.tsan-$(shell uname -m).so)))
sanitizer_file := $(if $(sanitizer_runtime),$(wildcard $(shell $(CC) -print-file-name=$(sanitizer_runtime))))
# Where the compiler has no runtime that can be preloaded (clang's for threads) only the unit tests run.
sanitizer_file := $(if $(sanitizer_file),$(shell LD_PRELOAD=$(sanitizer_file) env true 2>/dev/null && echo $(sanitizer_file)))
UNIT_ONLY := $(if $(sanitizer_runtime),$(if $(sanitizer_file),,yes))
SANLINK := $(SANFLAGS) $(if $(filter clang,$(COMPILER)),$(if $(sanitizer_file),-shared-libsan))
export UNIT_ONLY
endif
# What LD_PRELOAD holds when the tests run a program under GMOD.
PRELOAD = $(if $(sanitizer_file),$(realpath $(sanitizer_file)) )$(abspath $(BUILD)/libgmod.so)
export PRELOAD

TOOL_C := $(wildcard lib/tool/*.c)
TOOL_O := $(TOOL_C:%.c=$(BUILD)/%.o) $(addprefix $(BUILD)/lib/base/,options.o log_file.o log_fd.o origin.o text.o)
SWEEP_O := $(patsubst %.c,$(BUILD)/%.o,$(wildcard lib/sweep/*.c))
LIB_C := $(filter-out $(TOOL_C) lib/sweep/%,$(wildcard lib/*/*.c)) $(wildcard monitor/*/*.c device/*.c)
LIB_S := $(wildcard lib/*/*.S)
LIB_O := $(LIB_C:%.c=$(BUILD)/%.o) $(LIB_S:%.S=$(BUILD)/%.S.o)
# The exported dlsym, _exit, sigaction and the like, and what stands before libgcc's, stay out of programs that link the library's objects.
HOOK_O := $(addprefix $(BUILD)/lib/,driver/dlsym_hook.o driver/dlsym_entry.S.o life/ending.o base/unwind_table.o)
FUZZED_C := tests/fuzz/dump.c $(addprefix lib/faults/,sass.c dump.c lines.c)
UNIT_C := $(wildcard tests/unit/test_*.c)
UNIT_BIN := $(UNIT_C:tests/unit/%.c=$(BUILD)/unit/%)

LIBRARY := $(BUILD)/libgmod.so
TOOL := $(BUILD)/gmod-tool
SWEEP := $(BUILD)/gmod-sweep.so
SIM := $(BUILD)/sim/libcuda.so.1

# These run their own recipe each time.
.PHONY: all demo demo-programs test test-all coverage soak test-gpu bench bench-cpu check check-format check-tidy check-cppcheck check-models check-entrypoints \
	check-gauge check-layers check-patrol check-scripts check-clang sanitized check-mutants check-age mutants gauge install uninstall dist clean help deps-build deps-test deps-check FORCE

all: $(LIBRARY) $(SIM) $(TOOL) $(SWEEP) demo-programs ## the library, the simulated driver, gmod-tool and the demo (default)

-include tests/sim/sim.mk
-include tests/programs/programs.mk
-include tests/edges/edges.mk
-include bench/bench.mk

$(SIM_OBJ) $(BUILD)/sim/kernels.so $(BUILD)/sim/inkernel.so: $(BUILD)/flags
ifeq ($(V),)
.SILENT: $(SIM_OBJ) $(SIM) $(BUILD)/sim/kernels.so $(BUILD)/sim/obj $(sim_programs) $(gpu_programs) $(null_programs)
endif
TEST_GPU_PREREQUISITES += $(if $(wildcard tests/programs/programs.mk),gpu-programs)

deps-build deps-test deps-check: deps-%:
	@scripts/deps $*
# One after another: two installations at once would be in each other's way.
deps-test: deps-build
deps-check: deps-test

# ---- library ----

# What is compiled first waits for the compiler.
$(BUILD)/sim/obj: | deps-build

# Changes when the compiler or its flags do, so that objects of two configurations never meet.
$(BUILD)/flags: text = $(CC) $(CFLAGS_LIB) $(SANFLAGS) $(SANLINK) $(LDFLAGS_LIB) $(LDFLAGS)
# Changes when a source comes or goes.
$(BUILD)/objects: text = $(LIB_O)
$(BUILD)/flags $(BUILD)/objects: FORCE | deps-build
	@mkdir -p $(@D)
	@printf '%s\n' '$(text)' | cmp -s - $@ || printf '%s\n' '$(text)' >$@

# QUIET: -w of tests/mutants/run, which wants the objects of this build as they are, and no warnings of what it breaks.
$(BUILD)/lib/%.o $(BUILD)/monitor/%.o $(BUILD)/device/%.o: COMPILE = $(CC) $(CFLAGS_LIB) $(SANFLAGS) $(QUIET) -MMD -MP -MF $(@:.o=.d)
# What dlsym and sigaction run through: they are called before a sanitizer's runtime is ready.
$(addprefix $(BUILD)/lib/driver/,dlsym_hook.o dlsym_next.o driver.o homonyms.o) $(BUILD)/lib/life/ending.o: SANFLAGS :=
# It is preloaded into programs that have no sanitizer.
$(SWEEP_O): SANFLAGS :=

define compile
	@mkdir -p $(@D)
	$(call say,CC  )$(COMPILE) -c -o $@ $<
endef

$(BUILD)/lib/%.o: lib/%.c $(BUILD)/flags
	$(compile)

$(BUILD)/lib/%.S.o: lib/%.S $(BUILD)/flags
	$(compile)

$(BUILD)/lib/buffers/patrol_code.S.o: lib/buffers/patrol.ptx

$(BUILD)/monitor/%.o: monitor/%.c $(BUILD)/flags
	$(compile)

$(BUILD)/device/%.o: device/%.c $(BUILD)/flags
	$(compile)

# The version script: an anonymous node, made from the table and the public header.
$(BUILD)/libgmod.map: lib/driver/entrypoints.def $(wildcard include/gmod.h) scripts/exports scripts/entrypoints $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,MAP )scripts/exports --map >$@.tmp
	@mv $@.tmp $@

$(LIBRARY): $(LIB_O) $(BUILD)/libgmod.map $(BUILD)/objects
	$(call say,LINK)$(CC) $(LDFLAGS_LIB) $(SANLINK) $(LDFLAGS) -Wl,--version-script=$(BUILD)/libgmod.map \
		-Wl,-soname,libgmod.so -o $@ $(LIB_O) -ldl

$(BUILD)/libgmod-objects.a: $(filter-out $(HOOK_O),$(LIB_O)) $(BUILD)/objects
	@rm -f $@
	$(call say,AR  )$(AR) rcs $@ $(filter %.o,$^)

$(TOOL): $(TOOL_O)
	$(call say,LINK)$(CC) $(SANFLAGS) $(LDFLAGS) -pthread -o $@ $^ -ldl

$(SWEEP): $(SWEEP_O)
	$(call say,LINK)$(CC) -shared -static-libgcc -pthread $(LDFLAGS) -o $@ $^ -ldl

# ---- unit tests ----

$(BUILD)/unit/%: tests/unit/%.c $(BUILD)/libgmod-objects.a $(BUILD)/flags | deps-test
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS_TEST) $(SANFLAGS) $(QUIET) $(LDFLAGS) -MMD -MP -MF $@.d -o $@ $< $(BUILD)/libgmod-objects.a -lcmocka -ldl

# For libFuzzer, which clang has. A program says what its seeds are.
$(BUILD)/fuzz/dump: $(FUZZED_C) $(wildcard lib/faults/*.h) tests/unit/fault_reading.h | $(BUILD)/dumps/places.cu
	@mkdir -p $(@D)
	$(call say,CC  )clang $(CFLAGS_TEST) -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all -o $@ $(FUZZED_C)

# What a driver wrote of faults; tests/gpu/faults/trim.py packs it.
$(BUILD)/unit/test_dump $(BUILD)/unit/test_address: | $(BUILD)/dumps/places.cu

$(BUILD)/dumps/places.cu: tests/dumps/places.tar.xz | deps-test
	$(call say,DUMP)python3 -m tarfile -e $< $(@D)
	@touch $@

-include $(LIB_O:.o=.d) $(TOOL_O:.o=.d) $(SWEEP_O:.o=.d) $(addsuffix .d,$(UNIT_BIN))

# ---- demo ----

DEMO := $(addprefix $(BUILD)/demo/,demo kernels.so kernels.ptx)

$(BUILD)/demo/demo: tests/demo/demo.c tests/programs/testkit.h $(SIM) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS_TEST) $(LDFLAGS) -Itests/programs -o $@ $< $(SIM)

$(BUILD)/demo/kernels.so: tests/demo/kernels.cu tests/programs/kernels.h $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS_TEST) -Itests/programs -fPIC -shared -o $@ -x c $<

# Portable code, which the driver compiles for the GPU it finds: made by scripts/patrol-ptx.
$(BUILD)/demo/kernels.ptx: tests/demo/kernels.ptx
	@mkdir -p $(@D)
	$(call say,COPY)cp $< $@

demo-programs: $(DEMO)

demo: all ## build everything, then watch a planted overflow being found (a GPU is used when there is one)
	@tests/demo/run $(BUILD)

# ---- tests ----

test: all $(UNIT_BIN) $(TEST_PREREQUISITES) | deps-test ## all tests that need no GPU; T=name runs one of them
	@scripts/run-tests $(T)

test-all: all $(UNIT_BIN) $(TEST_PREREQUISITES) | deps-test ## the same and all that takes long: programs under each backend, gVisor and sanitizers, packages, languages, mutants
	@scripts/run-tests thorough all gvisor
	@$(MAKE) --no-print-directory sanitized
	@tests/mutants/run
	@rm -rf $(BUILD)/tidy && $(MAKE) --no-print-directory check-tidy ANALYZE=all
	@scripts/changed --passed

sanitized: ## all test programs under the sanitizers, of addresses and undefined behaviour, and of threads
	@for each in address,undefined thread; do \
		$(MAKE) --no-print-directory SANITIZE=$$each BUILD=$(BUILD)/sanitized/$${each%,*} test T='bad_* good_*' || exit; done

coverage: | deps-test ## what the tests reach of the library, and what they do not, by gcov in $(BUILD)/coverage; T=name runs one test, T=--report none
	@tests/coverage/run $(T)

soak: all $(TEST_PREREQUISITES) ## what must hold for days, on the simulated driver; SOAK_SECONDS=n (default: 1800, half an hour)
	@SOAK_SECONDS=$${SOAK_SECONDS:-1800} tests/edges/soak.sh

test-gpu: all $(TEST_GPU_PREREQUISITES) ## the same programs on a real GPU, recorded in tests/gpu/last-run.md
	@tests/gpu/run

mutants: all $(UNIT_BIN) $(TEST_PREREQUISITES) | deps-test ## break the library on purpose: some test must notice each time
	@tests/mutants/run

bench: all bench-programs bench-figures ## figures on a GPU: what GMOD costs, in bench/results; PART=name runs one part, QUICK=1 less of each, MORE=1 goes on
	@QUICK=$(QUICK) MORE=$(MORE) bench/run $(PART) $(P)

bench-cpu: $(BUILD)/bench/sweep $(LIBRARY) $(null_programs) ## figures without a GPU: what a sweep costs a CPU, and what Python's lines cost a call, in bench/results/cpu.md
	@python3 -B bench/cpu.py

# ---- checks ----

ROOMS := lib/* monitor/* include include/* device bench scripts/dist tests tests/* tests/*/*
FORMATTED = $(wildcard $(foreach end,c h cpp cu cuh,$(ROOMS:=/*.$(end))))
# version.c is of another version each time.
TIDIED := $(filter-out tests/sim/version.c,$(wildcard lib/*/*.c monitor/*/*.c device/*.c bench/*.c tests/sim/*.c tests/unit/*.c))
SCRIPTS = $(shell grep -lsE '^\#!/(bin/sh|bin/bash|usr/bin/env bash)' .ci/* scripts/* scripts/*/* bench/* tests/* tests/*/*)

check: check-format check-layers check-tidy check-cppcheck check-models check-entrypoints check-patrol check-scripts ## format, linters, models, tables, the gauge; a build with clang and its sanitizers, unit tests under these, some mutants
check: check-clang check-gauge check-mutants check-age

check-format: | deps-check
	$(call say,RUN )clang-format --dry-run -Werror $(FORMATTED)

check-tidy: $(TIDIED:%=$(BUILD)/tidy/%.ok)

# It is looked at again when a file changes that the compiler reads for it. Clang's analyzer takes nine tenths of the time,
# and what it says of a file comes from that file: it looks at six of those that have changed lately, which the hash of the
# commit's tree chooses, and with ANALYZE=all at all.
$(BUILD)/tidy/%.ok: % .clang-tidy tests/.clang-tidy | deps-check $(BUILD)/tidy/changed
	@mkdir -p $(@D)
	$(call say,TIDY)clang-tidy --quiet $$(grep -qE '^($(basename $<)\.[ch]|all|\.clang-tidy)$$' $(BUILD)/tidy/changed || \
		echo '--checks=-clang-analyzer-*') $< -- $(CFLAGS_TEST) -Itests/programs
	@$(CC) $(CFLAGS_TEST) -Itests/programs -MM -MP -MT $@ -MF $(@:.ok=.d) $<
	@touch $@

$(BUILD)/tidy/changed: FORCE
	@mkdir -p $(@D)
	@$(if $(ANALYZE),echo $(ANALYZE),{ scripts/changed lib monitor device .clang-tidy || echo all; } | awk -v \
		number=$$(scripts/changed --number 1000) '!/[.][ch]$$/ { print; next } { file[n++] = $$0 } END { share = int((n + 5) / 6); \
		for (i = 0; i < n; i++) if (i % share == number % share) print file[i] }') >$@

-include $(TIDIED:%=$(BUILD)/tidy/%.d)

# cppcheck cannot follow NEXT()'s cast to the type of a table's member: it gets a plain one.
check-cppcheck: | deps-check
	@mkdir -p $(BUILD)/cppcheck
	$(call say,RUN )cppcheck --quiet --error-exitcode=1 --inline-suppr --std=c11 --enable=warning,performance,portability \
		--suppress=missingIncludeSystem --cppcheck-build-dir=$(BUILD)/cppcheck -D__x86_64__ -D__linux__ \
		'-D__typeof__(x)=CUresult*' -I. lib monitor device

check-models: | deps-check
	$(call say,RUN )tests/models/run

check-entrypoints: | deps-check
	$(call say,RUN )scripts/check-entrypoints --cuda $(CUDA_HOME)
	@scripts/hooks --check --cuda $(CUDA_HOME)

# The compiler of another release may write it in other words.
check-patrol: lib/buffers/patrol.ptx tests/demo/kernels.ptx | deps-check
	$(call say,RUN )for f in $^; do if $(NVCC) --version | grep -q "release $$(sed -nE 's/.* CUDA ([0-9.]+): .*/\1/p' $$f),"; then \
		scripts/patrol-ptx $${f%.ptx}.cu | cmp - $$f || exit 1; else echo "NOTE nvcc is of another release than $$f is: not compared"; fi; done

check-layers: | deps-check
	$(call say,RUN )scripts/check-layers

check-scripts: | deps-check
	$(call say,RUN )shellcheck --external-sources --source-path=SCRIPTDIR $(SCRIPTS)

# In a build folder of its own; -O1, because it is built anew each time in continuous integration.
check-clang: | deps-check
	$(call say,RUN )$(MAKE) --no-print-directory CC=clang CFLAGS='-O1 -g' SANITIZE=address,undefined BUILD=$(BUILD)/clang all \
		$(UNIT_BIN:$(BUILD)/%=$(BUILD)/clang/%)
	@GMOD_FUZZ_ROUNDS=$${GMOD_FUZZ_ROUNDS:-5000} BUILD=$(BUILD)/clang SANITIZE=address,undefined scripts/run-tests unit

# At -O0 each call of the source is a call. The linker drops functions that nothing calls, because some of them name symbols
# that only devices have. DWARF 4, because addr2line 2.40 finds some inline functions of DWARF 5 in the wrong file.
GAUGE_FLAGS := SANITIZE= CFLAGS='-O0 -gdwarf-4 -ffunction-sections -finstrument-functions' LDFLAGS=-Wl,--gc-sections
.PHONY: gauge-programs
gauge-programs: $(BUILD)/gauge/walks $(SIM) $(BUILD)/sim/kernels.so
	@$(MAKE) --no-print-directory $(GAUGE_FLAGS) BUILD=$(BUILD)/gauge $(BUILD)/gauge/libgmod.so

$(BUILD)/gauge/walks: tests/gauge/walks.c tests/programs/testkit.h $(SIM) $(BUILD)/flags
	@mkdir -p $(@D)
	$(call say,CC  )$(CC) $(CFLAGS_TEST) $(LDFLAGS) -Itests/programs -rdynamic -o $@ $< $(SIM) -ldl

gauge: gauge-programs | deps-test ## how far six walks go through the library; WALK=name lists one, LOWER=1 records what has fallen
	@tests/gauge/gauge $(BUILD) $(if $(LOWER),--lower) $(if $(WALK),--functions '$(WALK)')

check-gauge: gauge-programs | deps-check
	$(call say,RUN )tests/gauge/gauge $(BUILD) --check

check-age:
	@scripts/changed --age

check-mutants: all $(UNIT_BIN) $(TEST_PREREQUISITES) | deps-check
	$(call say,RUN )tests/mutants/run --some 8

# ---- installation ----

PREFIX ?= /usr/local
DESTDIR ?=
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib
LIBEXECDIR ?= $(PREFIX)/libexec/gmod
INCLUDEDIR ?= $(PREFIX)/include
MANDIR ?= $(PREFIX)/share/man/man1
DOCDIR ?= $(PREFIX)/share/doc/gmod
BASHCOMPDIR ?= $(PREFIX)/share/bash-completion/completions
ZSHCOMPDIR ?= $(PREFIX)/share/zsh/site-functions
INSTALL ?= install

WRAPPERS := gmod gmod-tensorflow
MANPAGES := gmod.1 gmod-tensorflow.1
PACKAGES := pkgconfig/gmod.pc cmake/gmod/gmodConfig.cmake cmake/gmod/gmodConfigVersion.cmake
VERSION := $(shell sed -n 's/^.define GMOD_VERSION "\(.*\)"/\1/p' include/gmod.h)
COMMIT = $(if $(wildcard .git),$(shell git describe --always --dirty --exclude='*' 2>/dev/null))
HEADERS := $(patsubst include/%,%,$(wildcard include/gmod.h include/gmod_device.cuh include/gmod/*.h))

# What gmod selftest runs.
SELFTEST := $(DEMO) $(SIM)

install: $(LIBRARY) $(TOOL) $(SWEEP) $(SELFTEST) ## install below $DESTDIR$PREFIX
	$(INSTALL) -d '$(DESTDIR)$(BINDIR)' '$(DESTDIR)$(LIBDIR)' '$(DESTDIR)$(LIBEXECDIR)/selftest' '$(DESTDIR)$(INCLUDEDIR)' \
		'$(DESTDIR)$(MANDIR)' '$(DESTDIR)$(BASHCOMPDIR)' '$(DESTDIR)$(ZSHCOMPDIR)'
	$(INSTALL) -m 755 $(LIBRARY) '$(DESTDIR)$(LIBDIR)/libgmod.so'
	$(INSTALL) -m 755 $(TOOL) '$(DESTDIR)$(LIBEXECDIR)/gmod-tool'
	$(INSTALL) -m 644 $(SWEEP) '$(DESTDIR)$(LIBEXECDIR)/gmod-sweep.so'
	$(INSTALL) -m 644 $(filter-out %/demo,$(SELFTEST)) '$(DESTDIR)$(LIBEXECDIR)/selftest'
	$(INSTALL) -m 755 $(BUILD)/demo/demo '$(DESTDIR)$(LIBEXECDIR)/selftest/demo'
	lib=$$(realpath -ms --relative-to='$(BINDIR)' '$(LIBDIR)') && \
	libexec=$$(realpath -ms --relative-to='$(BINDIR)' '$(LIBEXECDIR)') && \
	for f in $(WRAPPERS); do \
		sed -e "s|^LIBRARY=.*GMOD_BUILD.*|LIBRARY=\$$here/$$lib/libgmod.so|" -e "s|^TOOL=.*GMOD_BUILD.*|TOOL=\$$here/$$libexec/gmod-tool|" \
			-e "s|^DEMO=.*|DEMO=\$$here/$$libexec/selftest|" -e 's|^SIMULATED=.*|SIMULATED=$$DEMO|' \
			-e 's|^COMMIT=.*|COMMIT=$(COMMIT)|' \
			scripts/$$f >$(BUILD)/$$f.install && \
		$(INSTALL) -m 755 $(BUILD)/$$f.install '$(DESTDIR)$(BINDIR)'/$$f || exit 1; done
	for f in $(HEADERS); do $(INSTALL) -D -m 644 include/$$f '$(DESTDIR)$(INCLUDEDIR)'/$$f || exit 1; done
	for f in $(PACKAGES); do \
		include=$$(realpath -ms --relative-to="$$(dirname '$(LIBDIR)'/$$f)" '$(INCLUDEDIR)') && \
		sed -e "s|@INCLUDEDIR@|$$include|" -e 's|@VERSION@|$(VERSION)|' scripts/packages/$${f##*/} >$(BUILD)/$${f##*/}.install && \
		$(INSTALL) -D -m 644 $(BUILD)/$${f##*/}.install '$(DESTDIR)$(LIBDIR)'/$$f || exit 1; done
	for f in bash zsh; do scripts/completions $$f >$(BUILD)/gmod.$$f || exit 1; done
	for f in $(WRAPPERS); do $(INSTALL) -m 644 $(BUILD)/gmod.bash '$(DESTDIR)$(BASHCOMPDIR)'/$$f || exit 1; done
	$(INSTALL) -m 644 $(BUILD)/gmod.zsh '$(DESTDIR)$(ZSHCOMPDIR)/_gmod'
	for f in $(MANPAGES); do $(INSTALL) -m 644 scripts/$$f '$(DESTDIR)$(MANDIR)' || exit 1; done
	$(INSTALL) -D -m 644 device/README.md '$(DESTDIR)$(DOCDIR)/device.md'
	@echo "installed; as built it needs glibc $$(nm -D $(LIBRARY) $(TOOL) | sed -n 's/.*@GLIBC_//p' | sort -V | tail -n 1) or newer"

# Folders that are empty then go, too, up to $(PREFIX). Those of the system stay: others expect them.
uninstall: ## remove what install put there
	rm -f '$(DESTDIR)$(LIBDIR)/libgmod.so' '$(DESTDIR)$(LIBEXECDIR)/gmod-tool' '$(DESTDIR)$(LIBEXECDIR)/gmod-sweep.so' \
		$(foreach f,$(notdir $(SELFTEST)),'$(DESTDIR)$(LIBEXECDIR)/selftest/$(f)') \
		$(foreach f,$(WRAPPERS),'$(DESTDIR)$(BINDIR)/$(f)') $(foreach f,$(MANPAGES),'$(DESTDIR)$(MANDIR)/$(f)') \
		$(foreach f,$(HEADERS),'$(DESTDIR)$(INCLUDEDIR)/$(f)') $(foreach f,$(PACKAGES),'$(DESTDIR)$(LIBDIR)/$(f)') \
		$(foreach f,$(WRAPPERS),'$(DESTDIR)$(BASHCOMPDIR)/$(f)') '$(DESTDIR)$(ZSHCOMPDIR)/_gmod' \
		'$(DESTDIR)$(DOCDIR)/device.md'
	@rmdir '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(LIBEXECDIR)/selftest' '$(DESTDIR)$(LIBEXECDIR)' '$(DESTDIR)$(LIBDIR)/cmake/gmod' \
		'$(DESTDIR)$(INCLUDEDIR)/gmod' 2>/dev/null || true
	@case "$$(realpath -ms '$(PREFIX)/')" in /usr | /usr/local) true ;; *) false ;; esac || \
	for d in $(foreach d,BINDIR LIBDIR INCLUDEDIR MANDIR BASHCOMPDIR ZSHCOMPDIR,'$(DESTDIR)$($(d))') '$(DESTDIR)$(REPORT_MANDIR)/man5' \
			'$(DESTDIR)$(LIBDIR)/pkgconfig' '$(DESTDIR)$(LIBDIR)/cmake' "$$(dirname '$(DESTDIR)$(LIBEXECDIR)')" \
			"$$(dirname '$(DESTDIR)$(DOCDIR)')"; do \
		while case "$$d" in '$(DESTDIR)$(PREFIX)' | '$(DESTDIR)$(PREFIX)'/*) rmdir "$$d" 2>/dev/null ;; *) false ;; esac; do \
			d=$$(dirname "$$d"); done; done

# What gmod report, gmod prove and gmod top are made of, and the pages that have to do with them.
REPORT := $(wildcard scripts/report/*.py scripts/report/*.json)
PROVE := $(wildcard scripts/prove/*.py)
TOP := $(wildcard scripts/top/*.py)
REPORT_PAGES := man1/gmod-report.1 man1/gmod-prove.1 man5/gmod-suppressions.5
REPORT_MANDIR = $(patsubst %/man1,%,$(MANDIR))
.PHONY: install-report uninstall-report
install: install-report
uninstall: uninstall-report

install-report:
	$(INSTALL) -d '$(DESTDIR)$(LIBEXECDIR)/report' '$(DESTDIR)$(LIBEXECDIR)/prove' '$(DESTDIR)$(LIBEXECDIR)/top'
	$(INSTALL) -m 644 $(REPORT) '$(DESTDIR)$(LIBEXECDIR)/report'
	$(INSTALL) -m 644 $(PROVE) '$(DESTDIR)$(LIBEXECDIR)/prove'
	$(INSTALL) -m 644 $(TOP) '$(DESTDIR)$(LIBEXECDIR)/top'
	for f in $(REPORT_PAGES); do $(INSTALL) -D -m 644 scripts/$${f#*/} '$(DESTDIR)$(REPORT_MANDIR)'/$$f || exit 1; done

uninstall-report:
	rm -f $(foreach f,$(notdir $(REPORT)),'$(DESTDIR)$(LIBEXECDIR)/report/$(f)') \
		$(foreach f,$(notdir $(PROVE)),'$(DESTDIR)$(LIBEXECDIR)/prove/$(f)') \
		$(foreach f,$(notdir $(TOP)),'$(DESTDIR)$(LIBEXECDIR)/top/$(f)') \
		$(foreach f,$(REPORT_PAGES),'$(DESTDIR)$(REPORT_MANDIR)/$(f)')
	@rmdir '$(DESTDIR)$(LIBEXECDIR)/report' '$(DESTDIR)$(LIBEXECDIR)/prove' '$(DESTDIR)$(LIBEXECDIR)/top' 2>/dev/null || true

dist: ## what people install, for this architecture and glibc 2.28 or newer: a tarball, a Debian package and a wheel, in $(BUILD)/dist
	@DIST='$(abspath $(BUILD))/dist' scripts/dist/pack

clean: ## remove everything that was built
	rm -rf $(BUILD)

help: ## this text
	@echo 'make [target] [CC=clang] [CUDA_HOME=dir] [SANITIZE=address,undefined|thread] [V=1]'
	@echo 'make install|uninstall [PREFIX=/usr/local] [DESTDIR=] [BINDIR=dir] [LIBDIR=dir] [LIBEXECDIR=dir]'
	@sed -nE 's/^([a-z-]+):[^#]*## (.*)/\1\t\2/p' Makefile | expand -t 14
