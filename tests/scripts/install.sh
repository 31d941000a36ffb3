#!/usr/bin/env bash
# make install puts everything where it was asked to, the installed commands find their parts, make uninstall removes it.
. "$(dirname "$0")/testlib"

make_quiet() {
	outcome make --no-print-directory BUILD="${BUILD:-build}" CC="${CC:-gcc}" "$@"
	same "make $1" 0 "$status"
	[ "$status" -eq 0 ] || printf '%s\n' "$out" "$err"
}
files() {
	(cd "$1" && find . ! -type d | sort)
}

stage=$work/stage
make_quiet install PREFIX=/opt/gmod DESTDIR="$stage"
needs=$(sed -nE 's/^installed; as built it needs glibc ([0-9.]+) or newer$/\1/p' <<<"$out")
same "what glibc is needed" "$(objdump -T "$build/libgmod.so" "$build/gmod-tool" | grep -o 'GLIBC_[0-9.]*' | sort -Vu |
	tail -n 1)" "GLIBC_$needs"
same "what is installed" "./opt/gmod/bin/gmod
./opt/gmod/bin/gmod-tensorflow
$(cd include && find gmod* -name '*.*' | sort | sed 's|^|./opt/gmod/include/|')
./opt/gmod/lib/cmake/gmod/gmodConfig.cmake
./opt/gmod/lib/cmake/gmod/gmodConfigVersion.cmake
./opt/gmod/lib/libgmod.so
./opt/gmod/lib/pkgconfig/gmod.pc
./opt/gmod/libexec/gmod/gmod-sweep.so
./opt/gmod/libexec/gmod/gmod-tool
$(cd scripts && find prove report -name '*.py' -o -name '*.json' | sort | sed 's|^|./opt/gmod/libexec/gmod/|')
./opt/gmod/libexec/gmod/selftest/demo
./opt/gmod/libexec/gmod/selftest/kernels.ptx
./opt/gmod/libexec/gmod/selftest/kernels.so
./opt/gmod/libexec/gmod/selftest/libcuda.so.1
./opt/gmod/libexec/gmod/top/__main__.py
./opt/gmod/share/bash-completion/completions/gmod
./opt/gmod/share/bash-completion/completions/gmod-tensorflow
./opt/gmod/share/doc/gmod/device.md
./opt/gmod/share/man/man1/gmod-prove.1
./opt/gmod/share/man/man1/gmod-report.1
./opt/gmod/share/man/man1/gmod-tensorflow.1
./opt/gmod/share/man/man1/gmod.1
./opt/gmod/share/man/man5/gmod-suppressions.5
./opt/gmod/share/zsh/site-functions/_gmod" "$(files "$stage")"


unset GMOD_BUILD
installed=$(cd "$stage/opt/gmod" && pwd) || finish # below / there is nothing of ours to move
expect "the installed gmod runs a command" 7 "$installed/bin/gmod" sh -c 'exit 7'
same "with the installed library" "$installed/lib/libgmod.so" "$("$installed/bin/gmod" printenv LD_PRELOAD)"
expect "gmod --help" 0 "$installed/bin/gmod" --help
expect "gmod selftest" 0 "$installed/bin/gmod" selftest
says "gmod selftest: on the installed driver" '^GMOD works on the simulated driver$' "$out"
if command -v python3 >/dev/null; then
	GMOD_OPTIONS='' LD_LIBRARY_PATH=$build/sim GMOD_TEST_KERNELS=$build/demo/kernels.so "$installed/bin/gmod" \
		--log_path="$work/log" "$build/demo/demo" >/dev/null
	expect "the installed gmod report" 0 "$installed/bin/gmod" report "$work/log"
	says "it reads a log" '^1 finding in 1 group' "$out"
fi
expect "gmod-tensorflow" 0 "$installed/bin/gmod-tensorflow" --explain-env
mv "$installed/lib/libgmod.so" "$work/away"
expect "a part that is gone" 2 "$installed/bin/gmod" true
says "is to be installed again" 'libgmod.so is missing; reinstall GMOD$' "$err"
mv "$work/away" "$installed/lib/libgmod.so"
mkdir "$work/bin"
ln -s "$installed/bin/gmod" "$work/bin/gmod"
expect "through a link from elsewhere" 7 "$work/bin/gmod" sh -c 'exit 7'

mv "$work/stage" "$work/moved"
expect "after the whole tree has moved" 7 "$work/moved/opt/gmod/bin/gmod" sh -c 'exit 7'
mv "$work/moved" "$work/stage"

# ---- what programs are built with ----

cat >"$work/version.c" <<'END'
#include <gmod.h>
#include <stdio.h>

int main(void)
{
	return puts(gmod_version()) < 0 || gmod_check() != GMOD_INACTIVE;
}
END
version=$(sed -nE 's/^#define GMOD_VERSION "(.*)"/\1/p' include/gmod.h)

by_pkg_config() {
	local flags libraries
	export PKG_CONFIG_PATH=$2/$3/pkgconfig
	flags=$(pkg-config --cflags gmod) libraries=$(pkg-config --libs gmod)
	same "$1: pkg-config's version" "$version" "$(pkg-config --modversion gmod)"
	# shellcheck disable=SC2086 # flags are words
	expect "$1: pkg-config builds a program" 0 "${CC:-gcc}" $flags -o "$work/version" "$work/version.c" $libraries \
		"-Wl,-rpath,$2/$3"
	expect "$1: it runs" 0 "$work/version"
	same "$1: with the library" "$version" "$out"
	[ -z "${NVCC:-}" ] && skip "$1, kernels" "there is no nvcc" && return
	# shellcheck disable=SC2086
	expect "$1: nvcc finds all headers" 0 "$NVCC" $flags -x cu -E -o "$work/all.ii" - <<<'#include <gmod_device.cuh>'
}

by_cmake() {
	rm -rf "$work/cmake"
	mkdir "$work/cmake"
	cp "$work/version.c" "$work/cmake"
	cat >"$work/cmake/CMakeLists.txt" <<'END'
cmake_minimum_required(VERSION 3.18)
project(version LANGUAGES C)
find_package(gmod 99 QUIET)
if(gmod_FOUND)
	message(FATAL_ERROR "it is older than that")
endif()
find_package(gmod 0.1 REQUIRED)
find_package(gmod REQUIRED) # once more does no harm
add_executable(version version.c)
target_link_libraries(version PRIVATE gmod::gmod)
get_target_property(place gmod::device INTERFACE_INCLUDE_DIRECTORIES)
find_file(header gmod_device.cuh PATHS ${place} NO_DEFAULT_PATH REQUIRED)
END
	expect "$1: cmake finds it" 0 cmake -S "$work/cmake" -B "$work/cmake/build" "-DCMAKE_PREFIX_PATH=$2" \
		"-DCMAKE_LIBRARY_ARCHITECTURE=$(basename "$3")"
	expect "$1: cmake builds a program" 0 cmake --build "$work/cmake/build"
	expect "$1: that one runs" 0 "$work/cmake/build/version"
	same "$1: with the library" "$version" "$out"
}

# packages NAME PREFIX LIBDIR: what pkg-config and CMake say builds a program that runs, and finds the kernels' header.
packages() {
	if command -v pkg-config >/dev/null; then
		by_pkg_config "$@"
	else
		skip "$1: pkg-config" "there is no pkg-config"
	fi
	if command -v cmake >/dev/null; then
		by_cmake "$@"
	else
		skip "$1: cmake" "there is no cmake"
	fi
}

packages installed "$installed" lib

echo mine >"$installed/bin/other"
make_quiet uninstall PREFIX=/opt/gmod DESTDIR="$stage"
same "uninstall leaves what is not GMOD's, and nothing else" "./opt/gmod/bin/other" "$(files "$stage")"
[ ! -e "$installed/libexec/gmod" ]
judge "uninstall removes GMOD's own directory" $?
same "and folders that are empty" "$stage/opt/gmod/bin" "$(find "$stage/opt/gmod" -mindepth 1 -type d)"
spaced="$work/to be left"
make_quiet install PREFIX=/opt/gmod DESTDIR="$spaced"
mkdir "$spaced/opt/gmod/share/mine"
make_quiet uninstall PREFIX=/opt/gmod DESTDIR="$spaced"
same "which may be the user's" "$spaced/opt/gmod/share/mine" "$(find "$spaced" -type d -empty)"
rmdir "$spaced/opt/gmod/share/mine"
make_quiet install PREFIX=/opt/gmod DESTDIR="$spaced"
make_quiet uninstall PREFIX=/opt/gmod DESTDIR="$spaced"
same "up to the prefix, and no further" "$spaced/opt" "$(find "$spaced" -mindepth 1)"
for prefix in /usr/local /usr/local/; do
	make_quiet install PREFIX=$prefix DESTDIR="$work/system"
	make_quiet uninstall PREFIX=$prefix DESTDIR="$work/system"
	[ -d "$work/system/usr/local/bin" ] && [ ! -e "$work/system/usr/local/share/doc/gmod" ]
	judge "uninstall leaves the system's folders, with PREFIX=$prefix" $?
done

make_quiet install PREFIX=/usr DESTDIR="$work/distribution" LIBDIR=/usr/lib/x86_64-linux-gnu LIBEXECDIR=/usr/lib/gmod
expect "with the library in a distribution's place" 7 "$work/distribution/usr/bin/gmod" sh -c 'exit 7'
same "the library is there" "$work/distribution/usr/lib/x86_64-linux-gnu/libgmod.so" \
	"$("$work/distribution/usr/bin/gmod" printenv LD_PRELOAD)"
packages "in a distribution's place" "$work/distribution/usr" lib/x86_64-linux-gnu
finish
