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
line=$(grep -n 'a\[i\]);' tests/demo/kernels.cu | cut -d : -f 1)
outcome bash -c "${lines[1]/scripts\/gmod/scripts/gmod --exact --fence_align=32 --fence_side=end}"
says "with a fence the line that faults is named" "^    in kernel vec_add, at .*kernels\.cu:$line\$" "$err"

# The same program, by the command.
expect "gmod selftest" 0 scripts/gmod --log_path="$work/log" --log_format=json selftest
says "selftest: says where" 'on the simulated driver' "$out"
says "selftest: shows the report, whatever the options" '^    SUMMARY: GMOD: heap-buffer-overflow device 0 size 4000 ' "$out"
expect "gmod selftest, where nothing is guarded" 1 scripts/gmod --backend=native selftest
says "selftest: it says so, and what may be the reason" \
	'^gmod: the overflow was not reported: .* with the options .*backend=native' "$err"
expect "gmod selftest, where a GPU is to be had" 0 env LD_LIBRARY_PATH="$work/gpu" bash -c "mkdir '$work/gpu' &&
	ln -s '$build/sim/libcuda.so.1' '$work/gpu' && mkdir -p '$work/build/demo' && cp '$build/libgmod.so' '$build/gmod-tool' '$work/build' &&
	cp '$build/demo/demo' '$work/build/demo' && cp '$build/demo/kernels.so' '$work/build/demo/kernels.ptx' &&
	GMOD_BUILD='$work/build' scripts/gmod selftest"
says "selftest: says where that is" "^GMOD works on this machine's GPU\$" "$out"
finish
