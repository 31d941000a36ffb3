#!/usr/bin/env bash
# `make bench-cpu`: what the program says, and the tables that are made of it.
. "$(dirname "$0")/testlib"
needs_bench_modules

sweep=$build/bench/sweep
for order in allocated shuffled; do
	expect "sweeps over ten buffers, $order" 0 "$sweep" 10 "$order"
	says "say what they cost" "^buffers=10 order=$order pace=continuous sweeps=[0-9]+ ns_per_buffer=[0-9.]+ least=[0-9.]+ most=[0-9.]+ us_per_sweep=[0-9.]+ lines_alone=[0-9.]+\$" "$out"
	says "and what is kept for a buffer" '^buffers=10 bytes_per_buffer=[1-9][0-9]+ record_bytes=[1-9]' "$out"
	same "and nothing else" "3 " "$(wc -l <<<"$out") $err"
done
expect "what has no room is cut down" 0 "$sweep" 1000 shuffled 1
says "and that is said" "^buffers=$((1048576 / 2 / $(getconf PAGESIZE))) asked=1000 limit_mib=1\$" "$out"
for wrong in "" 0 -1 10x 99999999 "10 sorted" "10 shuffled 0" "10 shuffled 1 1"; do
	# shellcheck disable=SC2086 # words
	expect "usage: '$wrong'" 2 "$sweep" $wrong
	one_line "usage: '$wrong'" "$err"
done

# tables LINE...: what becomes of them in the record.
tables() {
	python3 -c 'import cpu, sys; print(*cpu.tables(sys.argv[1:]), sep="\n")' "$@"
}
sample="order=allocated pace=continuous sweeps=9 least=30.00 most=170.25 us_per_sweep=3500.00 lines_alone=2.50"
says "35 ns at 100 000 buffers are the target" '^- met: 100 000 buffers, allocated, continuous: 35[.]0 ns .*; its two lines alone: 2[.]5)' "$(tables "buffers=100000 ns_per_buffer=35.00 $sample")"
says "more is a miss" '^- missed: 100 000 buffers, .*: 35[.]0 ns' "$(tables "buffers=100000 ns_per_buffer=35.01 $sample")"
says "less buffers are no verdict" '^- not measured: 100 000' "$(tables "buffers=1000 ns_per_buffer=3.00 $sample")"
says "a row" '^[|] 1 000 [|] allocated [|] continuous [|] 3[.]0 [|] 30[.]0 to 170 [|] 2[.]5 [|] 3500 [|] 9 [|]$' "$(tables "buffers=1000 ns_per_buffer=3.00 $sample")"
says "the lines alone of few say nothing" '^[|] 100 [|] .* to 170 [|] - [|] 3500 ' "$(tables "buffers=100 ns_per_buffer=3.00 $sample")"
says "a failure is one" '^- FAIL: no memory$' "$(tables "FAIL: no memory")"

# pythons LINE...: the same of the section python.
pythons() {
	python3 -c 'import cpu, sys; print(*cpu.python_tables(sys.argv[1:]), sep="\n")' "$@"
}
sample="python=3.12.1 launch_without=9.00 launch_with=109.00 allocation_without=8000.00"
table=$(pythons "$sample allocation_with=9001.00")
says "100 ns more for a launch are the target" '^- met: Python 3[.]12[.]1, 12 frames: 100 ns more for a launch ' "$table"
says "1001 ns more for an allocation are a miss" '^- missed: Python 3[.]12[.]1, .*: 1001 ns more for an allocation ' "$table"
says "a row of Python" '^[|] 3[.]12[.]1 [|] 9[.]0 [|] 109 [|] 8000 [|] 9001 [|]$' "$table"
says "no Python" '^- not measured: no Python' "$(pythons)"
expect "calls from a Python stack" 0 env "LD_LIBRARY_PATH=$build/null" "LD_PRELOAD=$build/libgmod.so" \
	"$(command -v python3)" tests/programs/figures/figure_python_cost.py "$build/null/figure_python_cost.so"
says "calls from a Python stack: what they cost" '^frames=12 launch_ns=[0-9.]+ allocation_ns=[0-9.]+$' "$out"
same "calls from a Python stack: nothing is found" "" "$err"

finish
