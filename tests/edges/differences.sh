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

# Small buffers take pages beside them, which the distance between two of them shows.
distances='^[-+]spacing of '

check_facts() {
	local alone_out found
	alone "$programs/conformance"
	same "facts: alone it runs to its end" 0 "$status"
	alone_out=$out
	guarded max_reports=1 "$programs/conformance"
	same "facts: under GMOD it runs to its end" 0 "$status"
	found=$(diff -U0 <(echo "$alone_out") <(echo "$out") | grep '^[-+]' | grep -vE '^(---|\+\+\+) ' | grep -vE "$distances")
	[ -z "${UPDATE:-}" ] || echo "$found" >"$top/$known"
	found=$(diff -U0 "$top/$known" <(echo "$found") | grep '^[-+]' | grep -vE '^(---|\+\+\+) ')
	[ -z "$found" ]
	judge "facts: what differs is what is known to" $? "more than in $known: lines with +, less: with -" "$found"
}

run_checks "$@"
