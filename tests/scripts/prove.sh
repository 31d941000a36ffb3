#!/usr/bin/env bash
# gmod prove: bugs raise an alarm, their healthy twins none; what is broken or hostile is told in one line.
. "$(dirname "$0")/testlib"
needs_python3
own=tests/prove/own
# Nothing of the user's is read or written.
export XDG_CACHE_HOME=$work/cache TRITON_CACHE_DIR=$work/none TORCHINDUCTOR_CACHE_DIR=$work/none

# A python3 that has z3, if there is one; without it the intervals are asked alone.
with_z3=$(python_with_z3)
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

python "it is Python 3.8 at most" <<'PYTHON'
import ast, glob
for path in glob.glob("scripts/prove/*.py"):
    ast.parse(open(path).read(), path, feature_version=(3, 8))
PYTHON

python3 -B $own/cases.py "$work/journal" || fail "the journal is written"

expect "arithmetic is as the instructions have it" 0 python3 -B tests/prove/test_values.py 1 3000

python "a wrapper of CUDA's headers has not allocated, who has called it has" <<'PYTHON'
import sys
sys.path[:0] = ["scripts/prove", "scripts/report"]
import alarms
import journal
wrapper = {"function": "cudaError cudaMalloc<float>(float**, unsigned long)", "file": "/cuda/cuda_runtime.h", "line": 880}
own = {"function": "cudaError_t room<float>(float**)", "file": "/app/room.cu", "line": 12}
def words(*frames):
    return alarms.site_words(journal.Site({"frames": [{"module": "app", "offset": "0x12", **frame} for frame in frames]}))
expected = "cudaError_t room<float>(float**) room.cu:12"
assert words({"lines": [wrapper, own]}) == expected
assert words({"function": wrapper["function"], "lines": [wrapper]}, {"lines": [own]}) == expected
assert words({"function": wrapper["function"]}, {"function": own["function"], "lines": [own]}) == expected
assert words({"symbol": "_ZL10cudaMallocIfE9cudaErrorPPT_m"}, {"function": "main"}) == "main app+0x12"
assert words({"function": wrapper["function"], "lines": [wrapper]}) == wrapper["function"] + " cuda_runtime.h:880"
PYTHON

python "an alarm is confirmed by a fence only where one can be" <<'PYTHON'
import sys, types
sys.path[:0] = ["scripts/prove", "scripts/report"]
import alarms
launch = types.SimpleNamespace(command="./app", per_tensor=False, function=types.SimpleNamespace(name="kernel"))
def confirming(size, offset, extent):
    access = {"kind": "out of bounds", "offset": offset, "extent": extent, "memory": {"kind": "buffer", "size": size}}
    return alarms.confirming(access, launch)
assert confirming(4000, 4000, 4) == "gmod --exact --fence_side=end --fence_align=32 ./app"
assert confirming(4, 204, 4) == "gmod --exact --fence_side=end --fence_align=128 ./app"
assert confirming(4096, 4096, 4) == confirming(4000, 4096, 4) == "gmod --exact --fence_side=end ./app"
assert confirming(4000, -4, 4) == "gmod --exact --fence_side=start ./app"
assert confirming(4100, 4112, 4) == "gmod --exact --fence_side=end --fence_align=16 ./app"
assert confirming(4100, 4096, 16) == "compute-sanitizer --kernel-name kernel_name=kernel ./app"
launch.per_tensor = True
assert confirming(4096, 4096, 4) == "gmod --exact --per-tensor --fence_side=end ./app"
assert confirming(4000, 4000, 4) == "gmod --exact --per-tensor --fence_side=end --fence_align=32 ./app"
PYTHON

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
	prove "$with_z3" "in several processes it is the same" 0 -j 2 --no-cache --json "$work/journal"
	same "byte by byte" "$(cksum <"$work/all.json")" "$(cksum <"$work/.out")"
	find "$work/cache" -type f -printf '%p %T@\n' | sort >"$work/cached"
	[ "$(wc -l <"$work/cached")" -ge 20 ]
	judge "the cache has them" $? "$(wc -l <"$work/cached") files"
	prove "$with_z3" "--fail" 86 --fail "$work/journal"
	same "a second time it is the cache's" "$(<"$work/cached")" "$(find "$work/cache" -type f -printf '%p %T@\n' | sort)"
	says "an alarm has its place" '^[0-9]+\. possible-out-of-bounds: guard global\.cu:10$' "$out"
	says "the access, the buffer, by how much" '^    write of 4 bytes, 0 bytes past the end of a 4000-byte buffer \(argument 0\)$' "$out"
	says "the witness" '^    possible with block \(3,0,0\), thread \(232,0,0\)$' "$out"
	says "an iteration" "^    possible with .*, the access's iteration [0-9]+\$" "$out"
	says "who has allocated" '^    allocated by allocate /app\+0x1234$' "$out"
	says "how to suppress it" '^    or, for the file of suppressions: possible-out-of-bounds:guard && global\.cu:10$' "$out"
	says "how to confirm it" '^    to confirm it: gmod --exact --fence_side=end \./app$' "$out"
	says "what is safe" 'proved for any contents of memory' "$out"
	says "why it is undecided" '^      write of 4 bytes, global\.cu:[0-9]+: index from memory$' "$out"
else
	skip "all cases" "z3-solver is not installed (Debian: python3-z3; GMOD_TEST_Z3 may name the python3 that has it)"
fi
without "without z3" 0 --json "$work/journal"
cat "$work/.out" >"$work/alone.json"
tell_cases "$work/alone.json" intervals
without "in several processes" 0 -j 2 --no-cache --json "$work/journal"
same "it is the same byte by byte" "$(cksum <"$work/alone.json")" "$(cksum <"$work/.out")"
without "--fail without z3" 86 --fail "$work/journal"
same "what it is missing for is told once" 1 "$(grep -c 'z3-solver is not installed' <<<"$out")"
says "with how many, and what to do" \
	"^note: z3-solver is not installed, .*; $(grep -c '"reason": "z3-solver is not installed"' "$work/alone.json") accesses are undecided for want of it: pip install z3-solver\$" "$out"

python3 -B - "$work/counted" <<'PYTHON' || fail "the journal of two arguments is written"
import sys
sys.path.insert(0, "tests/prove")
from write_journal import Buffer, Journal
journal = Journal(sys.argv[1])
image = journal.image(b""".version 7.0
.target sm_50
.address_size 64
.visible .entry counted(.param .u64 plain, .param .align 8 .b8 held[16])
{
	.reg .b64 %rd<5>;
	.reg .b32 %r<2>;
	ld.param.u64 %rd1, [plain];
	cvta.to.global.u64 %rd2, %rd1;
	ld.param.u64 %rd3, [held+8];
	cvta.to.global.u64 %rd4, %rd3;
	ld.global.u32 %r1, [%rd2+400];
	st.global.u32 [%rd4+400], %r1;
	ret;
}
""")
journal.launch(image, "counted", 1, 1, [Buffer(400), [bytes(16), {8: Buffer(400)}]])
journal.close()
PYTHON
without "two arguments" 0 "$work/counted"
says "they are counted as in reports" 'read of .* buffer \(argument 0\)$' "$out"
says "and have the byte" 'write of .* buffer \(argument 1 at byte 8\)$' "$out"

# ---- images ----

mkdir "$work/images"
python3 -B $own/../write_journal.py "$work/images" || fail "the journal of images is written"
GMOD_NO_CUOBJDUMP=1 without "images without PTX" 0 "$work/images"
says "a cubin" '^    guard: no PTX \(the image is a cubin, .* IMAGES WITHOUT PTX\)$' "$out"
says "a function of no known image" "^    unknown: no PTX \(the function's image is not known\)\$" "$out"
says_not "PTX that was linked, if one text has the kernel" '^    wrap32: no PTX' "$out"
says "what was not looked at" '^note: 20 launches were not looked at: 5 of 6 of guard, 5 of 6 of wrap32, 5 of 6 of unknown$' "$out"
says "parameters of another kernel" '^    guard_off_by_one: not modelled \(the parameters are not those of the PTX\)$' "$out"

says "first, what nobody is to take for safe" \
	'^launches of 3 kernels \(guard, unknown, guard_off_by_one\) were not looked at, and nothing is said of them$' "$(head -n 1 <<<"$out")"
GMOD_NO_CUOBJDUMP=1 without "--sarif of images without PTX" 0 --sarif "$work/images"
says "it says so, too" 'launches of 3 kernels \(guard, .* were not looked at, ' "$out"
python3 -B - "$work/library" <<'PYTHON' || fail "the journal of a library is written"
import sys
sys.path.insert(0, "tests/prove")
from write_journal import Buffer, Journal
journal = Journal(sys.argv[1])
cubin = journal.image(b"\x7fELF" + bytes(100))
for name in [f"kernel_{number}_with_a_long_name" for number in range(20)] + ["_Z1fILi1EEvPf", "_Z1fILi2EEvPf"]:
    journal.launch(cubin, name, 1, 32, [Buffer(400)])
journal.close()
PYTHON
without "a library of cubins" 0 "$work/library"
kernels='[1-9][0-9] kernels \(kernel_0_with_a_long_name, kernel_1_with[^()]* and [0-9]+ more\)'
says "is in the first line" "^launches of $kernels were not looked at, and nothing is said of them\$" "$(head -n 1 <<<"$out")"
same "has one line of what is undecided" 1 "$(grep -c '^    ' <<<"$out")"
says "with how many" "^    $kernels: no PTX \\(the image is a cubin" "$out"
without "--json of it" 0 --json "$work/library"
same "has each" 22 "$(grep -c '"undecided": "no PTX"' <<<"$out")"

# What lies beside a cubin that has the same bytes is its PTX.
beside=$work/beside
mkdir -p "$beside/triton/hash" "$beside/inductor/triton/0/hash" "$beside/stems"
printf '\177ELF%100s' '' | tr ' ' '\000' >"$beside/image"
cp "$beside/image" "$beside/triton/hash/guard.cubin"
cp $own/global.ptx "$beside/triton/hash/guard.ptx"
cp -r "$beside/triton/hash" "$beside/stems/other"
cp -r "$beside/triton/hash" "$beside/inductor/triton/0"
cubin_says() {
	says "$1" "$2" "$(grep -A 24 '"kernel": "guard",' <<<"$out" | grep -E '"(ptx|undecided|note)"' | tr -d '\n')"
}
found='"ptx": "[^"]*/guard\.ptx",.*"undecided": null'
TRITON_CACHE_DIR=$beside/triton without "a cubin of Triton's cache" 0 --json "$work/images"
cubin_says "has the PTX beside it" "$found"
TORCHINDUCTOR_CACHE_DIR=$beside/inductor without "a cubin of inductor's cache" 0 --json "$work/images"
cubin_says "has the PTX beside it" "$found"
without "a folder that --ptx names" 0 --json --ptx "$beside/stems" "$work/images"
cubin_says "has it, too" "$found"
printf x >>"$beside/triton/hash/guard.cubin"
TRITON_CACHE_DIR=$beside/triton without "a cubin of other bytes" 0 --json "$work/images"
cubin_says "is another one" '"undecided": "no PTX"'
mkdir "$beside/links"
ln -s "$beside/stems/other" "$beside/links/folder"
ln -s "$beside/stems/other/guard.ptx" "$beside/links/guard.ptx"
without "symbolic links" 0 --json --ptx "$beside/links" "$work/images"
cubin_says "are not followed" '"undecided": "no PTX"'
mkdir "$beside/names"
cp $own/global.ptx "$beside/names/a.ptx"
cp $own/global.ptx "$beside/names/b.ptx"
without "a kernel's name" 0 --json --ptx "$beside/names" "$work/images"
cubin_says "is in one text alone" '"ptx": "[^"]*/[ab]\.ptx",.*"undecided": null'
echo >>"$beside/names/b.ptx"
without "a kernel's name" 0 --json --ptx "$beside/names" "$work/images"
cubin_says "is in several" '"note": "2 files of --ptx have a kernel of this name"'
mkdir "$beside/nothing"
without "--ptx of others" 0 --ptx "$beside/names" --ptx "$beside/nothing" "$work/library"
says "what was looked at is told" '\(the image is a cubin, .*; /[^ ]*/names has 2 \.ptx files, /[^ ]*/nothing has 0 \.ptx files, none with a kernel of that name\)$' "$out"
without "--ptx of no folder" 2 --ptx "$beside/image" "$work/images"

# A cubin with lines has its PTX in itself; Triton's own counts inline assembly as lines of the source.
python3 -B - "$work/triton" <<'PYTHON' || fail "the journal of Triton is written"
import sys
sys.path.insert(0, "tests/prove")
from write_journal import Buffer, Journal
journal = Journal(sys.argv[1], per_tensor=True)
for name in ("scale", "scale_masked"):
    with open(f"tests/prove/triton/{name}.cubin", "rb") as source:
        image = journal.image(source.read(), "cubin")
    journal.launch(image, name, 4, 128, [Buffer(2000), Buffer(2000), 500, Buffer(0), Buffer(0)])
journal.close()
PYTHON
line=$(grep -n '# bug$' tests/prove/triton/scale.py | cut -d : -f 1)
TRITON_CACHE_DIR=tests/prove/triton without "a load of Triton's without a mask" 86 --fail "$work/triton"
says "is an alarm on the line of Python" "^1\. possible-out-of-bounds: scale scale\.py:$line\$" "$out"
says "and is confirmed as the program ran" '^    to confirm it: gmod --exact --per-tensor --fence_side=end --fence_align=32 \./app$' "$out"
says "with one it is safe" '^1 launch signature is safe: ' "$out"
says "and PTX of files is noted" '^note: 2 texts of PTX came from files' "$out"
without "without the cache" 0 "$work/triton"
says "the cubin has PTX and lines" "^1\. possible-out-of-bounds: scale scale\.py:$((line + 1))\$" "$out"
python "cubins cut short, and noise in them, are read without a crash" <<'PYTHON'
import random, sys
sys.path.insert(0, "scripts/prove")
import cubin
data = open("tests/prove/triton/scale.cubin", "rb").read()
for end in range(0, len(data), 7):
    cubin.ptx(data[:end])
random.seed(1)
for _ in range(3000):
    torn = bytearray(data)
    for _ in range(8):
        torn[random.randrange(len(torn))] = random.randrange(256)
    cubin.ptx(bytes(torn))
PYTHON

# ---- the cache, and what is said of alarms ----

python3 -B -c 'import sys; sys.path.insert(0, "tests/prove/own"); import cases; cases.write(sys.argv[1], {0, 7, 9})' "$work/few" ||
	fail "a journal of three cases is written"
export XDG_CACHE_HOME=$work/kept
without "without a cache" 0 --no-cache --json "$work/few"
first=$out
[ ! -e "$work/kept" ]
judge "nothing is written" $?
without "a cache" 0 --json "$work/few"
same "changes nothing" "$first" "$out"
without "the cache" 0 --json "$work/few"
same "has the same" "$first" "$out"
same "a file for each launch" 3 "$(find "$work/kept/gmod/prove" -type f | wc -l)"
truncate -s 100 "$work"/kept/gmod/prove/*
without "broken files" 0 --json "$work/few"
same "change nothing" "$first" "$out"
same "and are replaced" 0 "$(find "$work/kept/gmod/prove" -type f -size 100c | wc -l)"
without "another time limit" 0 --time-limit 3 "$work/few"
same "is another verdict" 6 "$(find "$work/kept/gmod/prove" -type f | wc -l)"
XDG_CACHE_HOME=/dev/null without "no place for a cache" 0 --json "$work/few"
same "changes nothing" "$first" "$out"
same "and is not said" "" "$err"
python "the oldest go where it is too large" <<'PYTHON'
import os, sys
sys.path.insert(0, "scripts/prove")
import cache
folder = os.environ["XDG_CACHE_HOME"] + "/bounded"
cache.MOST_BYTES = 3000
kept = cache.Cache(folder, (1, 2))
for number in range(5):
    file = os.path.join(folder, str(number))
    kept.put(file, "x" * 800)
    os.utime(file, (number, number))
kept.trim()
assert sorted(os.listdir(folder)) == ["2", "3", "4"], os.listdir(folder)
assert kept.get(file) == "x" * 800
PYTHON

# From here on its verdicts are the cache's: alarms, though there is no z3.
python3 -B tests/prove/plant_alarms.py "$work/kept/gmod/prove"
without "alarms" 86 --fail "$work/few"
says "are possible" '^    possible with block \(3,0,0\), thread \(232,0,0\)$' "$out"
says "and have a class" '^1\. possible-out-of-bounds: guard global\.cu:10$' "$out"
text=$out
without "--sarif" 86 --fail --sarif "$work/few"
cp "$work/.out" "$work/few.sarif"
python "is SARIF with a result for each" <<PYTHON
import json
run = json.load(open("$work/few.sarif"))["runs"][0]
assert [rule["id"] for rule in run["tool"]["driver"]["rules"]] == ["possible-out-of-bounds"]
assert len(run["results"]) == 3 and len({one["partialFingerprints"]["gmodPossible/v1"] for one in run["results"]}) == 3
one = run["results"][0]
assert one["ruleId"] == "possible-out-of-bounds" and one["level"] == "warning"
assert one["locations"][0]["physicalLocation"] == {"artifactLocation": {"uri": "global.cu"}, "region": {"startLine": 10}}
assert "possible with block (3,0,0), thread (232,0,0)" in one["message"]["text"]
PYTHON
says_not "nothing is said to be found" '[Ff]ound' "$out$text"
without "--json and --sarif" 2 --json --sarif "$work/few"
without "--html" 0 --html "$work/page.html" "$work/few"
same "changes nothing of the text" "$text" "$out"
page=$(<"$work/page.html")
says "the page has each" '<h1>GMOD: 3 alarms: accesses that are possibly out of bounds or misaligned</h1>' "$page"
says "with its witness" '<li>possible with block \(3,0,0\), thread \(232,0,0\)</li>' "$page"
says "and nothing is said to be found there" 'proved for any contents of memory' "$(grep -v '[Ff]ound' <<<"$page")"
echo log >"$work/log"
without "a page whose name was forgotten" 1 --html "$work/log" "$work/few"
says "is refused" "/log is there, and no page of GMOD's: not written over\$" "$err"
without "no journal" 1 --html "$work/page.html" "$work/nothing"
says "is said in red on the page" '<h1 class="where">GMOD: no journal could be read</h1>' "$(<"$work/page.html")"

# suppressed NAME COUNT STATUS LINE...: so many alarms are covered by the lines.
suppressed() {
	printf '%s\n' "${@:4}" >"$work/known.txt"
	without "$1" "$3" --fail --suppressions "$work/known.txt" "$work/few"
	says "$1: how many" "3 possibly out of bounds or misaligned$([ "$2" -eq 0 ] || echo " \\($2 suppressed\\)")," "$out"
	same "$1: the others stay" "$((3 - $2))" "$(grep -cE '^[0-9]+\. ' <<<"$out")"
}
suppressed "by the kernel" 1 86 '# known' '' 'possible-out-of-bounds: guard'
suppressed "by a part of the name" 2 86 'possible-out-of-bounds:guard*'
suppressed "by the line" 1 86 'possible-out-of-bounds:global.cu:10'
suppressed "by the file" 3 0 'possible-out-of-bounds:*.cu'
suppressed "by who has allocated" 3 0 '*:allocate'
suppressed "by the module" 3 0 '*:/app'
suppressed "by two patterns" 1 86 'possible-out-of-bounds:early_return && allocate'
suppressed "not by one of two" 0 86 'possible-out-of-bounds:early_return && nobody'
says "a line that covers nothing is named" '^note: suppressions that covered nothing: possible-out-of-bounds:early_return && nobody$' "$out"
suppressed "not by another class" 0 86 'possible-misaligned:*' 'heap-buffer-overflow:*'
says "those of findings are not named" '^note: suppressions that covered nothing: possible-misaligned:\*$' "$out"
suppressed "by the line that is offered" 1 86 "$(sed -n 's/.*for the file of suppressions: //p' <<<"$text" | head -n 1)"
echo 'possible-out-of-bound:guard' >"$work/known.txt"
without "a line that is none" 2 --suppressions "$work/known.txt" "$work/few"
says "is named" "known.txt:1: not a suppression " "$err"
without "no file of suppressions" 2 --suppressions "$work/nothing" "$work/few"
without "--json" 0 --json --suppressions <(echo '*:guard') "$work/few"
says "has how many" '^ "suppressed": 1,$' "$out"
says "and which" '^ +"suppressed": true,?$' "$out"
export XDG_CACHE_HOME=$work/cache

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
broken "no journal at all" 1 <<<"data = b'\\x7fELF' + bytes(1000) + b'\\n'"
broken "another version" 1 <<<"data = data.replace(b'gmod-journal-2', b'gmod-journal-9')"
says "is named" ':1: a line cannot be read: it is no journal of the version gmod-journal-2$' "$err"
broken "a name of 10 MB" 1 <<<"data = data.replace(b'\"guard\"', b'\"' + b'g' * 10000000 + b'\"')"
says "is too long" 'a line cannot be read: it is longer than 64 KiB, and [0-9]+ more such lines$' "$err"
broken "10 MB without an end" 1 <<<"data += b'x' * 10000000"
broken "a grid of no size" 1 <<<"data = data.replace(b'\"grid\":[4,1,1]', b'\"grid\":[0,1,1]')"
broken "a block of 10^30" 1 <<<"data = data.replace(b'\"block\":[256,1,1]', b'\"block\":[%d,1,1]' % 10**30)"
broken "sizes that are absurd" 1 <<<"data = data.replace(b'\"size\":4000', b'\"size\":%d' % 10**300)"
broken "ids that are none" 1 <<<"data = data.replace(b'\"launch\":2,', b'\"launch\":[2],')"
broken "words that are none" 1 <<<"data = data.replace(b'\"words\":[', b'\"words\":[7,')"
broken "counts of nobody" 1 <<<"data = data.replace(b'\"count\":2,', b'\"count\":[2],')"
broken "deep nesting" 1 <<<"data = lines[0] + b'[' * 60000 + b'\\n' + b''.join(lines[1:])"
broken "no UTF-8" 1 <<<"data = data.replace(b'guard', b'gu\\xffrd')"
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
without "a folder that is not there" 1 "$work/nothing"
one_line "a folder that is not there" "$err"
without "a folder without a journal" 1 "$work"
without "no folder" 2
one_line "no folder" "$err"
without "a wrong option" 2 --quick "$work/journal"
without "--help" 0 --help
while read -r switch; do
	says "the man page has $switch" "^(\\\\fB|\\.B ).*${switch//-/\\\\-}" "$(cat scripts/gmod-prove.1)"
done < <(grep -oE -- '(^| )--[a-z-]+' <<<"$out" | grep -v help | sort -u)

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
	echo 'possible-misaligned:*' >"$work/known.txt"
	expect "gmod takes its suppressions" 0 env LD_LIBRARY_PATH="$build/sim" GMOD_TEST_KERNELS="$build/demo/kernels.so" \
		scripts/gmod --suppressions="$work/known.txt" "$build/demo/demo"
	says_not "and the library does not complain of them" 'not a suppression' "$err"
else
	skip "gmod prove" "nothing is built"
fi

finish
