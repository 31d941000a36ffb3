#!/usr/bin/env bash
# make demo: the lines that it shows do what it shows when they are typed.
. "$(dirname "$0")/testlib"
unset LD_LIBRARY_PATH GMOD_TEST_KERNELS GMOD_BUILD

expect "the demo on the simulated driver" 0 env GMOD_DEMO=sim tests/demo/run "$build"
shown=$out
mapfile -t lines < <(sed -n 's/^\$ //p' <<<"$shown")
same "it shows two commands" 2 ${#lines[@]}
expect "the program alone" 0 bash -c "${lines[0]}"
says "prints what it printed" 'expected 7000: correct' "$out"
says "which the demo shows" '^    .*expected 7000: correct' "$shown"
expect "the program under GMOD" 0 bash -c "${lines[1]}"
says "reports what it reported" '^SUMMARY: GMOD: heap-buffer-overflow ' "$err"
says_not "the paths are as short as they can be" "$top/build" "${lines[*]}"
grep -qF "$ ${lines[1]}" README.md || [ "$build" != "$top/build" ]
judge "the README shows the same line" $? "${lines[1]}"
finish
