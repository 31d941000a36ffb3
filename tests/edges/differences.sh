#!/usr/bin/env bash
# What a program can tell of GMOD: the conformance program runs alone and under it, and the facts that differ are those of
# differences.txt, each of which README.md owns up to.
#
#   differences.sh [facts]      one check, or all
#   UPDATE=1 differences.sh     writes differences.txt anew
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

limit=120
known=tests/edges/differences.txt

# Small buffers take pages beside them, which the distance between two of them shows; and what the driver keeps in hand
# of freed managed memory, which theirs is, the next managed buffer does not cost. tests/gpu/run leaves out the same.
quantities='^[-+](spacing of |until they are prefetched)'

# changes FROM TO: the lines that differ.
changes() {
	diff -U0 "$1" "$2" | grep '^[-+]' | grep -vE '^(---|\+\+\+) '
}

# compare: runs it both ways; $found is what differs.
compare() {
	alone "$programs/conformance"
	[ "$status" -eq 0 ] || return
	echo "$out" >"$work/facts.alone"
	guarded max_reports=1 "$programs/conformance"
	[ "$status" -eq 0 ] || return
	echo "$out" >"$work/facts.guarded"
	found=$(changes "$work/facts.alone" "$work/facts.guarded" | grep -vE "$quantities")
}

# Facts about waiting come out wrong now and then where the machine is busy: such a difference goes away.
check_facts() {
	local found more tries
	for ((tries = 0; tries < 3; tries++)); do
		compare
		same "facts: it runs to its end" 0 "$status"
		[ -z "${UPDATE:-}" ] || echo "$found" >"$top/$known"
		more=$(changes "$top/$known" <(echo "$found"))
		[ -n "$more" ] || break
	done
	[ -z "$more" ]
	judge "facts: what differs is what is known to" $? "more than in $known: lines with +, less: with -" "$more"
}

run_checks "$@"
