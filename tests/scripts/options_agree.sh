#!/usr/bin/env bash
# The options of lib/base/options.def, of gmod --help=all and of the man page are the same; the README's are some of them.
. "$(dirname "$0")/testlib"

# What the shell prints for the table, against what the C preprocessor makes of it.
# shellcheck disable=SC2046 # words are wanted
compiled=$(printf '%s\n' '#define GMOD_OPTION(type, name, fallback, ...) @name=fallback' '#include "lib/base/options.def"' |
	${CC:-gcc} -E -P -I. -x c - | tr -d '"' | sed -n 's/^ *@ *//p')
same "options-table reads every row" "$compiled" "$(scripts/options-table pairs)"

outcome scripts/gmod --help
same "gmod --help succeeds" 0 "$status"
[ "$(wc -l <<<"$out")" -le 30 ]
judge "gmod --help fits a screen" $? "$(wc -l <<<"$out") lines"
short=$out
outcome scripts/gmod --help=all
same "gmod --help=all succeeds" 0 "$status"
same "gmod --help=all begins with gmod --help" "$short" "$(head -n "$(wc -l <<<"$short")" <<<"$out")"
same "gmod --help=all has the rows, in order" "$(scripts/options-table pairs | sed 's/=$/=""/')" \
	"$(grep -E '^[a-z_]+=.*  \(' <<<"$out" | sed 's/  (.*//')"

# The README shows the options that most will use, each with its default.
# shellcheck disable=SC2016 # the table's backquotes
shown=$(sed -nE 's/^\| `([a-z_]+)` \| (`([^`]*)`|\(empty\)) \| .*/\1=\3/p' README.md)
[ -n "$shown" ]
judge "the README shows options" $?
same "as they are in the table" "" "$(grep -vxFf <(scripts/options-table pairs) <<<"$shown")"

same "the man page has the rows" "$(scripts/options-table man)" \
	"$(sed -n '/^\.SH OPTIONS OF GMOD_OPTIONS$/,/^\.SH ENVIRONMENT$/p' scripts/gmod.1 | sed '1d;$d')"

# Those in front are among the README's, too.
same "the six that matter first" 6 "$(scripts/options-table pairs | head -n 6 | grep -cxFf <(cat <<<"$shown"))"

# ---- completion ----

if command -v zsh >/dev/null; then
	scripts/completions zsh >"$work/zsh"
	expect "zsh reads its completion" 0 zsh -n "$work/zsh"
fi
scripts/completions bash >"$work/bash"
# shellcheck disable=SC1091 # it is made here
. "$work/bash"

# completed WORD...: what the last one may become; = is a word of its own, as bash has it.
completed() {
	COMP_WORDS=(gmod "$@")
	COMP_CWORD=$#
	_gmod 2>/dev/null
	echo "${COMPREPLY[*]}"
}
for name in $(scripts/options-table names | grep -v '^help$'); do
	says "completion knows $name" "(^| )--$name=( |\$)" "$(completed "--${name%?}")"
done
same "completion: switches" "--supervise" "$(completed --supe)"
same "completion: words of an option" "text json" "$(completed --log_format =)"
same "completion: of what is begun" "json" "$(completed -o x --log-format = j)"
same "completion: nothing for a number" "" "$(completed --stack_depth = 1)"
same "completion: files of a command" "Makefile" "$(completed report Makef)"
same "completion: switches of a command" "--interval" "$(completed top --int)"
same "completion: a log for --exact" "Makefile" "$(completed --exact = Makef)"
same "completion: keys behind -o" "log_path= log_format=" "$(completed -o log)"
same "completion: its own commands before programs" "doctor" "$(completed d)"
same "completion: commands" "selftest" "$(completed --max_cpu = 3 selft)"
# shellcheck disable=SC2317 # the completion calls it
_command_offset() {
	COMPREPLY=("at $1")
}
same "completion: behind the command it is that one's" "at 4" "$(completed --log_format = json ls -)"
same "completion: behind --" "at 2" "$(completed -- ls -)"

# What gmod --help shows of the command's own switches the man page has too.
while read -r switch; do
	says "the man page has $switch" "${switch//-/\\\\-}" "$(cat scripts/gmod.1)"
done < <(sed -n '/^  -/p' <<<"$out" | grep -oE -- '--[a-z-]+')

[ $failed -eq 0 ] || echo "scripts/options-table update writes the man page's entries"
finish
