#!/usr/bin/env bash
# A small stress of in-kernel memory under compute-sanitizer: bench/sanitizer.md.
#
#   sanitizer.bash [memcheck|racecheck]...
#
# Over CUDA's own malloc first, without GMOD, which says whether the tool works here; then with libgmod preloaded, over
# its own heap.
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
	local tool=$1 arm=$2 status summary stress
	under "$arm" '' "$(sanitizer)" --tool "$tool" --error-exitcode 9 "$program" stress "$3" "$pairs" "$blocks" \
		>"$lines/$tool-$arm.log"
	status=$?
	summary=$(sed -n 's/^=* *\(.*SUMMARY: .*\)/\1/p' "$lines/$tool-$arm.log" | tail -n 1)
	stress=$(grep -E '^(pairs=|FAIL )' "$lines/$tool-$arm.log" | tail -n 1)
	if [ $status -eq 0 ] && [[ $summary == *"SUMMARY: 0 "* ]] && [[ $stress == pairs=* ]]; then
		result "met: $tool, $arm: $summary ($stress)"
	else
		result "FAIL: $tool, $arm: ${summary:+$summary; }${stress:+$stress; }$(outcome $status "$(tail -n 1 "$lines/stderr")")"
		grep '^=========' "$lines/$tool-$arm.log" | head -n 40
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
