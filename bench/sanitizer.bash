#!/usr/bin/env bash
# A small stress of in-kernel memory under compute-sanitizer: bench/sanitizer.md.
#
#   sanitizer.bash [memcheck|racecheck]...
#
# With libgmod preloaded, over its own heap. Over CUDA's own malloc first, without GMOD: what the tool makes of that says
# how far it is to be believed here, and is no verdict.
set -u
cd "$(dirname "$0")/.." || exit 2
# shellcheck source=record.bash
. bench/record.bash

program=$build/bench/inkernel
pairs=20000
blocks=2

sanitizer() {
	command -v compute-sanitizer || command -v "${CUDA_HOME:-/usr/local/cuda}/bin/compute-sanitizer"
}

# check TOOL ARM MEMORY
check() {
	local tool=$1 arm=$2 status summary stress found verdict=FAIL
	under "$arm" '' "$(sanitizer)" --tool "$tool" --error-exitcode 9 "$program" stress "$3" "$pairs" "$blocks" \
		>"$lines/$tool-$arm.log"
	status=$?
	summary=$(sed -n 's/^=* *\(.*SUMMARY: .*\)/\1/p' "$lines/$tool-$arm.log" | tail -n 1)
	stress=$(grep -E '^(pairs=|FAIL )' "$lines/$tool-$arm.log" | tail -n 1)
	if [ $status -eq 0 ] && [[ $summary == *"SUMMARY: 0 "* ]] && [[ $stress == pairs=* ]]; then
		verdict=met found="$summary ($stress)"
	else
		found="${summary:+$summary; }${stress:+$stress; }$(outcome $status "$(tail -n 1 "$lines/stderr")")"
		grep '^=========' "$lines/$tool-$arm.log" | head -n 40
	fi
	if [ "$arm" = cuda ]; then
		verdict="$tool, CUDA's malloc, without GMOD"
		[ "${found#*SUMMARY: 0 }" = "$found" ] &&
			found+="; first: $(grep -m 1 -E '(Invalid|Error encountered)' "$lines/$tool-$arm.log" | sed 's/^=* //')"
		result "$verdict: $found"
	else
		result "$verdict: $tool, $arm: $found"
	fi
}

check_both() {
	if [ -z "$(sanitizer)" ]; then
		result "not measured: $1: there is no compute-sanitizer here"
		return
	fi
	check "$1" cuda cuda
	check "$1" slab gmod
}

section_memcheck() {
	check_both memcheck
}

section_racecheck() {
	check_both racecheck
}

record_run sanitizer "In-kernel memory under compute-sanitizer" "memcheck racecheck" "$@"
