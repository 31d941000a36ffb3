#!/usr/bin/env bash
# The README: one page of short sentences, whose files are there and whose commands work. Those that need no GPU or
# cluster are run in their order, on the simulated driver, in a directory that looks like the source tree. And the man
# pages, which have what the README leaves out, are well formed, and few of their sentences are long.
. "$(dirname "$0")/testlib"
readme=$top/README.md

# fenced LANGUAGE: what the README's code blocks of that language have.
fenced() {
	awk -v open="\`\`\`$1" '/^```/ { inside = $0 == open; next } inside' "$readme"
}

# ---- its length ----

read -r lines words < <(wc -lw <"$readme")
[ "$lines" -le 120 ]
judge "at most 120 lines" $? "it has $lines"
[ "$words" -le 1200 ]
judge "at most 1200 words, all that blanks part" $? "it has $words"

# sentences FILE: a sentence a line. Code in a line is one word, a link the words that it shows; headings, the entries of
# lists and the cells of tables stand for themselves, code blocks for nothing.
sentences() {
	awk '
	function flush() {
		gsub(/[.!?][)"]* /, "&\n", text)
		if (text ~ /[^ ]/)
			print text
		text = ""
	}
	/^```/ { code = !code; flush(); next }
	code { next }
	{
		gsub(/`[^`]*`/, "code")
		while (match($0, /\[[^]]*\]\([^)]*\)/)) {
			link = substr($0, RSTART + 1, RLENGTH - 1)
			sub(/\].*/, "", link)
			$0 = substr($0, 1, RSTART - 1) link substr($0, RSTART + RLENGTH)
		}
	}
	/^$/ || /^#/ || /^ *([-*]|[0-9]+\.) / || /^\|/ { flush() }
	/^\|/ { gsub(/ *\| */, "\n"); print; next }
	{ sub(/^ *([-*#]+|[0-9]+\.) /, ""); text = text $0 " " }
	/^#/ { flush() }
	END { flush() }' "$1"
}

too_long() {
	sentences "$1" | awk 'NF > 30 { print NF " words: " $0 }'
}

same "no sentence of more than 30 words" "" "$(too_long "$readme")"

# The rule itself: 31 words in a line, over two lines, in a cell and in an entry of a list are too many; 30 are not.
thirty=$(printf 'word %.0s' {1..30})
cat >"$work/sample.md" <<-TEXT
	${thirty}end.

	$thirty
	end.

	| short | ${thirty}end |

	- ${thirty}end
	- ${thirty% }. \`code of several words\` ${thirty#word }
	1. [$thirty](link)
TEXT
same "31 words are noticed wherever they stand" 4 "$(too_long "$work/sample.md" | wc -l)"

# ---- what it points to ----

# pages: the README and those of the folders.
pages() {
	ls README.md {bench,device,lib,monitor}/README.md
}

# A file is named from the folder of its page or from the top, a pair of .c and .h without its end; NAME and the like stand
# for any.
# shellcheck disable=SC2016 # the backquotes are the pages'
while read -r page file; do
	compgen -G "${page%/*}/$file" >/dev/null || compgen -G "$file" >/dev/null || compgen -G "${page%/*}/$file.[ch]" >/dev/null
	judge "$page names $file" $? "there is no such file"
done < <(pages | while read -r page; do
	grep -oE '`[A-Za-z0-9_.-]+(/[A-Za-z0-9_.*-]+)+`|\]\([^)#:]+\)' "$page" | tr -d '`]()' | grep -vE 'DATE|NAME' | sort -u | sed "s#^#$page #"
done)

while read -r anchor; do
	grep -qix "## ${anchor//-/ }" "$readme"
	judge "there is a section $anchor" $?
done < <(grep -oE '\]\(#[^)]+\)' "$readme" | tr -d ']()#')

while read -r target; do
	grep -q "^$target:" Makefile
	judge "there is a target $target" $?
done < <(grep -oE '\bmake (demo|test|check|bench|install|dist)\b' "$readme" | cut -d ' ' -f 2 | sort -u)

# ---- its picture ----

if command -v python3 >/dev/null; then
	for text in scripts/picture/*.txt; do
		outcome python3 -B scripts/picture/draw "$text"
		same "${text%.txt}.svg is what draw makes of the text" "0 $(cat "${text%.txt}.svg")" "$status $out$err"
		python3 -c "import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])" "${text%.txt}.svg" 2>"$work/.err"
		judge "${text%.txt}.svg is well-formed" $? "$(tail -n 1 "$work/.err")"
		says_not "$text names no machine's folders" '(^|[ "=])/[a-z]+/' "$(cat "$text")"
		says "the README shows ${text%.txt}.svg" "^!\[[^]]+\]\(${text%.txt}\.svg\)\$" "$(cat "$readme")"
	done
fi

# ---- the pages that have the rest ----

# man_sentences PAGE: a sentence a line. The entries of lists stand for themselves, headings and examples for nothing.
man_sentences() {
	sed '/^\.nf$/,/^\.fi$/d' "$1" | groff -Tascii -P-cbou -man -rLL=20000n -rHY=0 2>/dev/null | awk '
	/^ ? ? ?[^ ]/ { next }
	{
		sub(/^ *(o|-|[0-9]+\.) /, "")
		gsub(/[.!?][)"]* /, "&\n")
		print
	}' | grep '[^ ]'
}

# too_often PAGE: its sentences of more than 30 words, if they are more than 5 % of all.
too_often() {
	man_sentences "$1" | awk '
	NF > 30 { long[++n] = NF " words: " $0 }
	END {
		for (i = 1; 20 * n > NR && i <= n; i++)
			print long[i]
	}'
}

if command -v groff >/dev/null; then
	for page in scripts/*.[15]; do
		outcome groff -Tutf8 -man -ww "$page"
		same "no warnings in $page" "0 " "$status $err"
		same "at most 5 % of the sentences of $page have more than 30 words" "" "$(too_often "$page")"
	done

	# The rule itself: 31 words in a line, over two lines, in a list and behind a tag are too many; 30, or in an example, are not.
	cat >"$work/sample.1" <<-TEXT
		.TH SAMPLE 1 "" GMOD
		.SH DESCRIPTION
		${thirty}end.
		$thirty
		end.
		.IP \(bu 2
		${thirty}end;
		.TP
		.B tag
		${thirty}end
		.PP
		${thirty% }. Short.
		.nf
		${thirty}end
		.fi
	TEXT
	same "31 words are noticed wherever they stand in a man page" 4 "$(too_often "$work/sample.1" | wc -l)"
	for short in 18 19; do
		{ printf '.TH SAMPLE 1 "" GMOD\n.SH DESCRIPTION\n%send.\n' "$thirty" && yes Short. | head -n $short; } >"$work/share.1"
		same "one long sentence beside $short short ones" $((19 - short)) "$(too_often "$work/share.1" | wc -l)"
	done
fi

# ---- its commands ----

[ "$build" = "$top/build" ] || { skip "the commands" "they are for the build directory that is named build" && finish; }

# Commands that are not run, by a pattern, and why.
declare -A not_run=(
	['^make( demo| test)?$']="the build, what demo.sh runs, and what this test is a part of"
	['^(mpirun|srun) ']="needs MPI or Slurm, and a GPU"
	['^gmod prove --sweep ']="needs a program with kernels in itself"
	['(python|torchrun) ']="needs a framework, and a GPU for it"
)

# pattern_of COMMAND: the one that keeps it from being run; nothing for a command that is.
pattern_of() {
	local pattern
	for pattern in "${!not_run[@]}"; do
		[[ ! $1 =~ $pattern ]] || echo "$pattern"
	done
}

# The source tree, with a program app in it, which is the demo's.
mkdir "$work/home" "$work/tree"
ln -s "$top"/* "$work/tree/"
ln -s "$build/demo/demo" "$work/tree/app"
cd "$work/tree" || exit 1
unset GMOD_BUILD
export HOME=$work/home GMOD_TEST_KERNELS=$build/demo/kernels.so
driver=${LD_LIBRARY_PATH-}
export LD_LIBRARY_PATH=$build/sim
# The first screen comes before the installation, which puts its own gmod in front of this one.
mkdir "$work/bin"
ln -s "$top/scripts/gmod" "$work/bin/gmod"
PATH=$work/bin:$PATH

ran=0
declare -A used
while read -r command; do
	pattern=$(pattern_of "$command")
	if [ -n "$pattern" ]; then
		used[$pattern]=yes
		# The command's options can be looked at all the same.
		options=$(sed -nE 's/^(.* )?(gmod(-tensorflow)? )/\2--explain-env /p' <<<"$command")
		[ -z "$options" ] || [[ $command == "gmod prove "* ]] || expect "good options: $command" 0 eval "$options"
		continue
	fi
	ran=$((ran + 1))
	eval "$command" >"$work/out" 2>"$work/err" </dev/null
	judge "runs: $command" $? "$(cat "$work/out" "$work/err")"
	[[ $command != *./app* ]] || says "finds the overflow: $command" '^SUMMARY: GMOD: heap-buffer-overflow ' "$(cat "$work/err")"
done < <(fenced sh | sed -E 's/(^| +)#.*//' | grep .)
[ "$ran" -ge 4 ]
judge "some commands are run" $? "only $ran"
same "each pattern is of use" "${#not_run[@]}" "${#used[@]}"
export LD_LIBRARY_PATH=$driver
[ -n "$driver" ] || unset LD_LIBRARY_PATH

# ---- what it shows ----

# masked: a report without what differs from run to run, such as addresses, times, and what the canary's bytes were.
masked() {
	sed -E 's/^ +//; s/ \[finding.*//; s/(suspects:|changed bytes|--kernel-name) .*/\1/; s/0x[0-9a-f]+|[0-9]+/N/g; s/bytes?/bytes/g; s/sweeps?/sweeps/'
}

unset GMOD_TEST_KERNELS
fenced console >"$work/shown"
outcome bash -c "$(sed -n '1s/^\$ //p' "$work/shown")"
masked <<<"$err" >"$work/said"
while read -r line; do
	grep -qxF -- "$line" "$work/said"
	judge "the report has: $line" $? "$err"
done < <(sed 1d "$work/shown" | grep -v '^ *\.\.\.$' | masked)

if command -v python3 >/dev/null; then
	report=$(grep -oE 'gmod report [^`]*' "$readme" | head -n 1)
	outcome bash -c "GMOD_OPTIONS=log_path=$work/log $(sed -n '1s/^\$ //p' "$work/shown")"
	expect "runs: $report" 0 bash -c "cd $work && ${report/LOG.../$work/log}"
	says "source lines: $report" '#0 make_vector  .*/demo.c:[0-9]+$' "$out"
fi

pod=$(fenced yaml | sed -nE 's/.*GMOD_OPTIONS, value: "([^"]*)".*/\1/p')
[ -n "$pod" ]
judge "the pod has options" $?
expect "the pod's options are good" 0 build/gmod-tool check-options "$pod"

finish
