#!/usr/bin/env bash
# The options of lib/base/options.def, of gmod --help, of the man page and of the README are the same.
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

same "the README has the rows" "$(scripts/options-table markdown)" \
	"$(sed -n '/^| Option | Default | Meaning |$/,/^$/p' README.md | grep '^| `')"

same "the man page has the rows" "$(scripts/options-table man)" \
	"$(sed -n '/^\.SH OPTIONS OF GMOD_OPTIONS$/,/^\.SH ENVIRONMENT$/p' scripts/gmod.1 | sed '1d;$d')"

# What gmod --help shows of the command's own switches the man page has too.
while read -r switch; do
	says "the man page has $switch" "${switch//-/\\\\-}" "$(cat scripts/gmod.1)"
done < <(sed -n '/^  -/p' <<<"$out" | grep -oE -- '--[a-z-]+')

[ $failed -eq 0 ] || echo "scripts/options-table update writes the README's table and the man page's entries"
finish
