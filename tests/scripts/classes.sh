#!/usr/bin/env bash
# The classes of findings, as monitor/registry/finding.c names them, are those that scripts and the man page know.
. "$(dirname "$0")/testlib"

classes=$(sed -nE 's/^ *\[GMOD_.*\] = "([a-z-]+)",$/\1/p' monitor/registry/finding.c)
[ "$(wc -l <<<"$classes")" -ge 9 ]
judge "there are some" $? "$classes"

same "the schema has them, each with a description" "$classes" \
	"$(sed -nE 's/^ *\{"const": "([a-z-]+)", "description": ".+"\},?$/\1/p' scripts/report/log.schema.json)"
same "gmod knows them in a file of suppressions" "$classes" \
	"$(sed -nE 's/^\tclasses="([a-z -]+)"$/\1/p' scripts/gmod | tr ' ' '\n')"
# shellcheck disable=SC2086 # words are wanted
printf '%s:x\n' $classes >"$work/suppressions"
expect "and takes them" 0 scripts/gmod --suppressions="$work/suppressions" true
same "gmod(1) tells of each" "$classes" \
	"$(sed -n '/^\.SS Classes$/,/^\.SS Signs/{ /^\.TP$/{ n; s/^\.B //; s/\\-/-/g; p } }' scripts/gmod.1)"
named=$(sed -n '/^One of heap/,/ as a report/{ s/[\\,]//g; s/ /\n/g; p }' scripts/gmod-suppressions.5)
same "gmod-suppressions(5) names each" "" "$(grep -vxFf <(cat <<<"$named") <<<"$classes")"

finish
