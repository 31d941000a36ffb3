#!/usr/bin/env bash
# Every hook is called: the programs of tests/programs/every, alone and under GMOD, reach each entry point of the table. That
# they print the same both ways is for run-programs to see.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"
export SIM_DEVICES=2

# What succeeds in none of them: a guarded buffer has no handle for other processes.
never_well='^cuIpcGetMemHandle$'
# What the hook does by another call: rows are made by cuMemAlloc.
by_another='^cuMemAllocPitch_v2$'

hooks() {
	scripts/exports --hooks
}

# trace NAME COMMAND...: what the programs ask of the driver, in $work/NAME.calls: "SYMBOL RESULT CALLER", each once.
trace() {
	local name=$1 program
	shift
	: >"$work/$name.trace"
	for program in "$programs"/good_every_*; do
		run_in "$name" env "SIM_TRACE=$work/$name.trace" "$@" "$program"
		same "${program##*/}, $name: it runs to its end" 0 "$status"
	done
	sort -u "$work/$name.trace" >"$work/$name.calls"
}

# called RESULTS FILE: the entry points that the programs themselves called, with such a result.
called() {
	awk -v results="$1" '$2 ~ results && $3 ~ /^good_every/ { print $1 }' "$2" | sort -u
}

check_every() {
	trace alone
	trace guarded "LD_PRELOAD=$gmod"
	[ "$(hooks | wc -l)" -ge 233 ]
	judge "there are hooks" $?
	same "each is called" '' "$(hooks | comm -23 - <(called . "$work/alone.calls"))"
	same "each does well once" '' \
		"$(hooks | grep -vE "$never_well" | comm -23 - <(called '^0$' "$work/alone.calls"))"
	same "under GMOD none is reached past its hook" '' "$(hooks | comm -12 - <(called . "$work/guarded.calls"))"
	same "each hook calls what it stands for, not another one's" '' \
		"$(hooks | grep -vE "$by_another" | comm -23 - <(awk '$3 == "libgmod.so" { print $1 }' "$work/guarded.calls" | sort -u))"
}

# What is refused is told by its own name, and by how far it went.
check_refused() {
	local program
	for program in bad_every_outside bad_every_outside_newer; do
		guarded max_reports=1000:log_format=json "$programs/$program"
		at_least "refused: $program: there are some" 8 "$(wc -l <<<"$out")"
		same "refused: $program: each by its own name" "$out" \
			"$(sed -nE 's/.*"call":\{"entry_point":"([^"]*)",.*/\1/p' <<<"$err")"
		same "refused: $program: of a byte or an element too much" '' \
			"$(grep '"event":"finding"' <<<"$err" | grep -vE 'up to (1 byte|[248] bytes) past the end of a 4012-byte buffer')"
	done
}

run_checks "$@"
