#!/usr/bin/env bash
# gmod prove: bugs raise an alarm, their healthy twins none; what is broken or hostile is told in one line.
. "$(dirname "$0")/testlib"
needs_python3
own=tests/prove/own

# A python3 that has z3, if there is one; without it the intervals are asked alone.
with_z3=''
for python in ${GMOD_TEST_Z3:-python3}; do
	"$python" -I -c 'import z3' 2>/dev/null && with_z3=$python
done
without_z3=$work/python3
# shellcheck disable=SC2016 # the other shell expands it
printf '#!/bin/sh\nexec python3 -B %q "$@"\n' "$top/tests/prove/without_z3.py" >"$without_z3"
chmod +x "$without_z3"

# prove PYTHON NAME STATUS ARGUMENT...
prove() {
	expect "$2" "$3" "$1" -B -I scripts/prove -j 1 "${@:4}"
}

# without NAME STATUS ARGUMENT...: with no z3.
without() {
	expect "$1" "$2" "$without_z3" "$top/scripts/prove" -j 1 "${@:3}"
}

python3 -B $own/cases.py "$work/journal" || fail "the journal is written"

expect "arithmetic is as the instructions have it" 0 python3 -B tests/prove/test_values.py 1 3000

# ---- verdicts ----

# tell_cases FILE: a verdict for each case.
tell_cases() {
	while IFS=$'\t' read -r name wrong; do
		[ -z "$wrong" ]
		judge "$name" $? "$wrong"
	done < <(python3 -B $own/cases.py --judge "$1" "${2:-}")
}

if [ -n "$with_z3" ]; then
	prove "$with_z3" "all cases" 0 --json "$work/journal"
	cat "$work/.out" >"$work/all.json"
	tell_cases "$work/all.json"
	prove "$with_z3" "in several processes it is the same" 0 -j 2 --json "$work/journal"
	same "byte by byte" "$(cksum <"$work/all.json")" "$(cksum <"$work/.out")"
	prove "$with_z3" "--fail" 86 --fail "$work/journal"
	says "an alarm has its place" '^[0-9]+\. out of bounds: guard global\.cu:10$' "$out"
	says "the access, the buffer, by how much" '^    write of 4 bytes, 0 bytes past the end of a 4000-byte buffer \(parameter 1\)$' "$out"
	says "the witness" '^    possible with block \(3,0,0\), thread \(232,0,0\)$' "$out"
	says "an iteration" "^    possible with .*, the access's iteration [0-9]+\$" "$out"
	says "who has allocated" '^    allocated by allocate /app\+0x1234$' "$out"
	says "how to confirm it" '^    to confirm it: gmod --exact \./app$' "$out"
	says "what is safe" 'proved for any contents of memory' "$out"
	says "why it is undecided" '^      write of 4 bytes, global\.cu:[0-9]+: index from memory$' "$out"
else
	skip "all cases" "z3-solver is not installed (pip install z3-solver; GMOD_TEST_Z3 may name the python3 that has it)"
fi
without "without z3" 0 --json "$work/journal"
cat "$work/.out" >"$work/alone.json"
tell_cases "$work/alone.json" intervals
without "no alarm without z3" 0 --fail "$work/journal"
says "the reason is told" ': z3-solver is not installed$' "$out"
says "and what to do" '^note: z3-solver is not installed, .*: pip install z3-solver$' "$out"

# ---- images ----

mkdir "$work/images"
python3 -B $own/../write_journal.py "$work/images" || fail "the journal of images is written"
GMOD_NO_CUOBJDUMP=1 without "images without PTX" 0 "$work/images"
says "a cubin" '^    guard: no PTX \(' "$out"
says "a function of no known image" "^    unknown: no PTX \(the function's image is not known\)\$" "$out"
says "parameters of another kernel" '^    guard_off_by_one: not modelled \(the parameters are not those of the PTX\)$' "$out"

# ---- what is broken or hostile ----

# broken NAME STATUS: standard input, Python, changes the journal's bytes (data).
broken() {
	rm -rf "$work/broken"
	cp -r "$work/journal" "$work/broken"
	python3 - "$work/broken/here.7.1.journal" "$work/broken" <<<"import sys, glob, re
data = open(sys.argv[1], 'rb').read()
lines = data.splitlines(keepends=True)
$(cat)
open(sys.argv[1], 'wb').write(data)" || fail "$1: the journal is changed"
	(
		ulimit -v 2097152
		"$without_z3" "$top/scripts/prove" -j 1 "$work/broken" >"$work/.out" 2>"$work/.err" </dev/null
		echo $? >"$work/.status"
	)
	err=$(cat "$work/.err") out=$(cat "$work/.out")
	same "$1" "$2" "$(cat "$work/.status")"
	says_not "$1: no crash" 'Traceback|the prover has failed' "$err$out"
	[ "$2" -eq 0 ] || one_line "$1: one line" "$err"
}
broken "a torn last line" 0 <<<"data = data[:-10]"
says "and the process was killed" 'has no last line: the process was killed' "$out"
broken "an empty file" 0 <<<"data = b''"
broken "no journal at all" 2 <<<"data = b'\\x7fELF' + bytes(1000) + b'\\n'"
broken "another version" 2 <<<"data = data.replace(b'gmod-journal-1', b'gmod-journal-9')"
says "is named" ':1: a line cannot be read: it is no journal of the version gmod-journal-1$' "$err"
broken "a name of 10 MB" 2 <<<"data = data.replace(b'\"guard\"', b'\"' + b'g' * 10000000 + b'\"')"
says "is too long" 'a line cannot be read: it is longer than 64 KiB, and [0-9]+ more such lines$' "$err"
broken "10 MB without an end" 2 <<<"data += b'x' * 10000000"
broken "a grid of no size" 2 <<<"data = data.replace(b'\"grid\":[4,1,1]', b'\"grid\":[0,1,1]')"
broken "a block of 10^30" 2 <<<"data = data.replace(b'\"block\":[256,1,1]', b'\"block\":[%d,1,1]' % 10**30)"
broken "sizes that are absurd" 2 <<<"data = data.replace(b'\"size\":4000', b'\"size\":%d' % 10**300)"
broken "ids that are none" 2 <<<"data = data.replace(b'\"function\":2,', b'\"function\":[2],')"
broken "deep nesting" 2 <<<"data = lines[0] + b'[' * 60000 + b'\\n' + b''.join(lines[1:])"
broken "no UTF-8" 2 <<<"data = data.replace(b'guard', b'gu\\xffrd')"
broken "no images" 0 <<<"import os; [os.remove(one) for one in glob.glob(sys.argv[2] + '/*.image')]"
says "are told" 'no PTX \(.*No such file' "$out"
broken "images cut short" 0 <<<"[open(one, 'r+b').truncate(9000) for one in glob.glob(sys.argv[2] + '/*.image')]"
broken "images of zeros" 0 <<<"[open(one, 'wb').write(bytes(100000)) for one in glob.glob(sys.argv[2] + '/*.image')]"
broken "a name of 10 MB in the PTX" 0 <<<"[open(one, 'ab').write(b'.visible .entry ' + b'x' * 10000000) for one in glob.glob(sys.argv[2] + '/*.image')]"
broken "braces without end" 0 <<<"[open(one, 'ab').write(b'.visible .entry x() ' + b'{' * 1000000) for one in glob.glob(sys.argv[2] + '/*.image')]"
for seed in 1 2 3 4 5 6; do
	broken "noise $seed" 0 <<<"import random; random.seed($seed)
for one in glob.glob(sys.argv[2] + '/*.image'):
    text = bytearray(open(one, 'rb').read())
    for _ in range(200): text[random.randrange(200, len(text))] = random.randrange(32, 127)
    open(one, 'wb').write(text)"
done
without "a folder that is not there" 2 "$work/nothing"
one_line "a folder that is not there" "$err"
without "a folder without a journal" 2 "$work"
without "no folder" 2
one_line "no folder" "$err"
without "a wrong option" 2 --quick "$work/journal"

# ---- gmod prove ----

if [ -e "$build/libgmod.so" ]; then
	expect "gmod prove" 0 scripts/gmod prove -j 1 "$work/images"
	says "it is this program" '^[0-9]+ launch signatures, ' "$out"
	mkdir "$work/bin"
	printf '#!/bin/sh\necho TAP\n' >"$work/bin/prove"
	chmod +x "$work/bin/prove"
	expect "gmod -- prove" 0 env PATH="$work/bin:$PATH" LD_LIBRARY_PATH="$build/null" scripts/gmod -- prove
	says "is the program of that name" '^TAP$' "$out"
	outcome scripts/gmod --help
	says "gmod --help has it" '^  prove ' "$out"
else
	skip "gmod prove" "nothing is built"
fi

finish
