#!/usr/bin/env bash
# The options of lib/base/options.def, of gmod --help and of the man page are the same; the README's are some of them.
. "$(dirname "$0")/testlib"

# What the shell prints for the table, against what the C preprocessor makes of it.
# shellcheck disable=SC2046 # words are wanted
compiled=$(printf '%s\n' '#define GMOD_OPTION(type, name, fallback, ...) @name=fallback' '#include "lib/base/options.def"' |
	${CC:-gcc} -E -P -I. -x c - | tr -d '"' | sed -n 's/^ *@ *//p')
same "options-table reads every row" "$compiled" "$(scripts/options-table pairs)"

outcome scripts/gmod --help
same "gmod --help succeeds" 0 "$status"
same "gmod --help has the rows, in order" "$(scripts/options-table pairs | sed 's/=$/=""/')" \
	"$(grep -E '^[a-z_]+=.*  \(' <<<"$out" | sed 's/  (.*//')"

# The README shows the options that most will use, each with its default.
# shellcheck disable=SC2016 # the table's backquotes
shown=$(sed -nE 's/^\| `([a-z_]+)` \| (`([^`]*)`|\(empty\)) \| .*/\1=\3/p' README.md)
[ -n "$shown" ]
judge "the README shows options" $?
same "as they are in the table" "" "$(grep -vxFf <(scripts/options-table pairs) <<<"$shown")"

same "the man page has the rows" "$(scripts/options-table man)" \
	"$(sed -n '/^\.SH OPTIONS OF GMOD_OPTIONS$/,/^\.SH ENVIRONMENT$/p' scripts/gmod.1 | sed '1d;$d')"

# What gmod --help shows of the command's own switches the man page has too.
while read -r switch; do
	says "the man page has $switch" "${switch//-/\\\\-}" "$(cat scripts/gmod.1)"
done < <(sed -n '/^  -/p' <<<"$out" | grep -oE -- '--[a-z-]+')

[ $failed -eq 0 ] || echo "scripts/options-table update writes the man page's entries"
finish
