#!/usr/bin/env bash
# The Makefile: where the CUDA toolkit is looked for, that nothing is written outside build/, what the targets say.
. "$(dirname "$0")/testlib"
unset CUDA_HOME CUDA_INC NVCC SANITIZE UNIT_ONLY PRELOAD BUILD

# toolkit DIR VERSION: something that looks like a CUDA toolkit.
toolkit() {
	mkdir -p "$1/bin" "$1/include"
	echo "#define CUDA_VERSION $2" >"$1/include/cuda.h"
	printf '#!/bin/sh\n' >"$1/bin/nvcc"
	chmod +x "$1/bin/nvcc"
}
# deps_of ASSIGNMENT... [VARIABLE=value for make]: what the dependency check says; too old toolkits are named by it.
deps_of() {
	outcome env "$@" make --no-print-directory deps-build
}
toolkit "$work/named" 11000
toolkit "$work/onpath" 11000
mkdir "$work/bin"
ln -s "$work/onpath/bin/nvcc" "$work/bin/nvcc"

deps_of CUDA_HOME="$work/named" PATH="$work/bin:$PATH"
says "CUDA_HOME comes first" "$work/named/include/cuda.h is of CUDA version 11000" "$err"
says "and the step stops with status 3" 'Error 3' "$err"
deps_of PATH="$work/bin:$PATH"
says "then the nvcc on PATH, links followed" "$work/onpath/include/cuda.h is of" "$err"
deps_of CUDA_HOME="$work/absent" PATH="$work/bin:$PATH"
says "a CUDA_HOME without headers is an error that names it" "no CUDA headers .*CUDA_HOME=$work/absent" "$err"
says "and that stops with status 3" 'Error 3' "$err"
outcome make --no-print-directory CUDA_HOME="$work/absent" help
same "help works without a toolkit" 0 "$status"
for target in all demo test test-all test-gpu bench bench-cpu check mutants install uninstall; do
	says "help names $target" "^$target " "$out"
done
for variable in PREFIX DESTDIR SANITIZE; do
	says "help names $variable" "[[]$variable=" "$out"
done

outcome make --no-print-directory no-such-target
says "an unknown target is an error" 'No rule to make target' "$err"

# A copy of the tree, built in parallel from nothing: where all tests run by the compiler, else by one that makes empty
# files, since what is asked is when make calls it.
cat >"$work/compiler" <<'COMPILER'
#!/bin/bash
output=
for ((i = 1; i <= $#; i++)); do
	n=$((i + 1))
	case ${!i} in
	-o) output=${!n} ;;
	-MF) echo >"${!n}" ;;
	esac
done
case $output in
'') exec gcc "$@" ;;
*) : >"$output" ;;
esac
COMPILER
chmod +x "$work/compiler"
if [ -z "${GMOD_TEST_THOROUGH:-}" ]; then export CC=$work/compiler; fi
mkdir "$work/tree"
tar -cf - --exclude=./build --exclude=./.git --exclude=./.scratch . | tar -xf - -C "$work/tree"
find "$work/tree" -type f -exec md5sum {} + | sort >"$work/before"
outcome make --no-print-directory -C "$work/tree" -j4 CFLAGS=-O0 all
same "a parallel build from a clean tree" 0 "$status"
[ "$status" -eq 0 ] || printf '%s\n' "$out" "$err"
find "$work/tree" -path "$work/tree/build" -prune -o -type f -exec md5sum {} + | sort >"$work/after"
same "writes nothing outside build/" "" "$(diff "$work/before" "$work/after")"
for file in libgmod.so sim/libcuda.so.1 gmod-tool; do
	[ -e "$work/tree/build/$file" ]
	judge "makes build/$file" $?
done
outcome make --no-print-directory -C "$work/tree" CFLAGS=-O0 all
says_not "a second build has nothing to do" '^ +(CC|LINK|AR|LD|MAP) ' "$out"
finish
