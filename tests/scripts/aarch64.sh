#!/usr/bin/env bash
# GMOD for aarch64: cross-compiled, all test programs under an emulator, and the packages. No test of the hardware.
. "$(dirname "$0")/testlib"

[ -n "${GMOD_TEST_THOROUGH-}" ] || { echo "make test-all runs it" && exit 77; }
command -v aarch64-linux-gnu-gcc >/dev/null || { echo "no compiler for aarch64 is installed" && exit 77; }
emulator=$(command -v qemu-aarch64-static) || { echo "no emulator of aarch64 is installed" && exit 77; }
[ -z "${SANFLAGS-}" ] || { echo "the emulator runs no sanitizer" && exit 77; }
unset GMOD_BUILD MAKEFLAGS MFLAGS BUILD PRELOAD
export CC=aarch64-linux-gnu-gcc DIST=$work/dist
root=/usr/aarch64-linux-gnu

# What an emulated processor is too slow for: they wait for a report, or look at how far a write has come by then.
slow='bad_graph_updated|bad_overflow_grows|bad_inkernel_overrun_loop|bad_underflow_restored'

expect "it is built" 0 make -s BUILD="$work/build" all sim-programs
EMULATOR="$emulator -L $root" BUILD=$work/build tests/run-programs >"$work/programs" 2>&1
same "the programs end as they should" "" "$(grep '^FAIL ' "$work/programs" | grep -vE "^FAIL ($slow):")"
[ "$(grep -c '^PASS ' "$work/programs")" -ge 200 ]
judge "and are many" $? "$(tail -n 1 "$work/programs")"

expect "the packages are made" 0 scripts/dist/pack
same "of this architecture" "aarch64.tar.gz
arm64.deb
aarch64.whl" "$(sed -E 's/.*[-_](aarch64|arm64)/\1/' <<<"$out")"
mkdir "$work/tar"
tar -C "$work/tar" -xf "$(sed -n '/\.tar\.gz$/p' <<<"$out")"
packed=$(echo "$work"/tar/gmod-*)
outcome "$emulator" -L $root -E LD_PRELOAD="$packed/lib/libgmod.so" -E LD_LIBRARY_PATH="$packed/libexec/gmod/selftest" \
	-E GMOD_TEST_KERNELS="$packed/libexec/gmod/selftest/kernels.so" "$packed/libexec/gmod/selftest/demo"
says "what is packed finds the planted bug" '^SUMMARY: GMOD: heap-buffer-overflow device 0 size 4000 offset \+0 ' "$err"

finish
