#!/usr/bin/env bash
# scripts/deps: installs what is missing where it can, else prints the command and stops with status 3.
. "$(dirname "$0")/testlib"

# A machine with next to nothing: only these commands are on its PATH.
mkdir "$work/bin" "$work/cuda"
echo '#define CUDA_VERSION 13000' >"$work/cuda/cuda.h"
for tool in sh sed cat; do
	ln -s "$(command -v $tool)" "$work/bin/$tool"
done
# fake NAME TEXT: a command that is this shell text.
fake() {
	printf '#!/bin/sh\n%s\n' "$2" >"$work/bin/$1"
	chmod +x "$work/bin/$1"
}
fake id 'echo 1000'
fake make :
fake nm :

deps() {
	outcome env -i PATH="$work/bin" ${forbidden:+DEPS=no} CC="${compiler:-gcc}" CUDA_INC="${cuda-$work/cuda}" CUDA_HOME=/opt/cuda DEPS_PYTHON="$work/bin/python3" "$top/scripts/deps" "$@"
}

deps test
same "no package manager: status" 3 "$status"
says "no package manager: names what is missing" 'gcc libc6-dev libcmocka-dev gdb git python3 strace util-linux python3-z3' "$err"

fake apt-get "echo \"\$*\" >>'$work/apt.log'"
deps test
same "not root: status" 3 "$status"
one_line "not root: one line" "$err"
says "not root: the exact command" '^deps: packages are missing for the tests[.] Run: sudo apt-get install -y --no-install-recommends gcc libc6-dev libcmocka-dev gdb git python3 strace util-linux python3-z3$' "$err"
[ ! -e "$work/apt.log" ]
judge "not root: nothing was run" $?
compiler=nocc deps build
same "a compiler that nobody has: status" 3 "$status"
one_line "a compiler that nobody has: one line" "$err"
says "a compiler that nobody has: names it" 'no compiler named nocc, which CC names' "$err"
compiler=clang deps build
says "the compiler is the one asked for" 'install -y --no-install-recommends clang libc6-dev$' "$err"

fake id 'echo 0'
forbidden=yes deps build
same "forbidden: status" 3 "$status"
says "forbidden: the exact command" 'missing to build[.] Run: apt-get install -y --no-install-recommends gcc libc6-dev$' "$err"
[ ! -e "$work/apt.log" ]
judge "forbidden: nothing was run" $?
deps test
same "root: status" 0 "$status"
says "root: says what and why" '^deps: installing gcc .*, which are needed for the tests [(]DEPS=no forbids it[)]$' "$err"
same "root: installs" "install -y --no-install-recommends gcc libc6-dev libcmocka-dev gdb git python3 strace util-linux python3-z3" "$(cat "$work/apt.log")"

fake apt-get "echo \"\$*\" >>'$work/apt.log'; [ \"\$1\" = update ] && : >'$work/updated'; [ -e '$work/updated' ]"
: >"$work/apt.log"
deps build
same "stale package lists: status" 0 "$status"
same "stale package lists: refreshed, then tried again" "install update install" "$(cut -d' ' -f1 "$work/apt.log" | xargs)"

fake apt-get false
deps build
same "installation fails: status" 3 "$status"
says "installation fails: names the command" 'could not install gcc libc6-dev. The command was: apt-get install' "$err"

# A compiler that accepts everything stands for a complete machine.
for tool in gcc gdb git python3 strace setpriv; do
	fake "$tool" :
done
deps test
same "nothing missing: status" 0 "$status"
same "nothing missing: silent" "" "$out$err"
cuda='' deps build
same "no CUDA headers: status" 3 "$status"
says "no CUDA headers: names CUDA_HOME" 'no CUDA headers .*CUDA_HOME=/opt/cuda' "$err"
echo '#define CUDA_VERSION 12080' >"$work/cuda/cuda.h"
deps build
same "old CUDA headers: status" 3 "$status"
says "old CUDA headers: says which are needed" '12080; GMOD needs 13000' "$err"
finish
