#!/usr/bin/env bash
# The page of gmod report: each picture has the numbers of the log, those of many hosts are folded, and a picture is there
# only where its data are.
. "$(dirname "$0")/testlib"
needs_python3
unset DEBUGINFOD_URLS

# drawn NAME HOSTS RANKS FINDINGS
drawn() {
	python3 tests/page/made_up.py "$work/$1" "${@:2}"
	cat "$work/$1"/*.json >"$work/$1.log"
	expect "$1" 0 scripts/gmod report --html "$work/$1.html" "$work/$1"/*.json
}

drawn ranks 1 8 30
tests/valid-json "$work/ranks.log" >"$work/.out"
judge "its made-up log is as the schema says" $? "$(tail -n 2 "$work/.out")"
python3 tests/page/numbers.py "$work/ranks.html" 1 8 30 "$work/ranks" >"$work/.out" 2>&1
judge "8 ranks: the numbers of each picture" $? "$(tail -n 4 "$work/.out")"
drawn hosts 64 8 400
says_not "64 hosts: no line of the text is a wall" '.{400}' "$(grep -v '^note: ' <<<"$out")"
python3 tests/page/numbers.py "$work/hosts.html" 64 8 400 "$work/hosts" >"$work/.out" 2>&1
judge "64 hosts: the numbers of each picture" $? "$(tail -n 4 "$work/.out")"

drawn few 64 2 5
python3 tests/page/numbers.py "$work/few.html" 64 2 5 "$work/few" >"$work/.out" 2>&1
judge "64 hosts with five findings: the numbers of each picture" $? "$(tail -n 4 "$work/.out")"
says "hosts without a finding are one row" 'data-row="[0-9]+ other hosts"' "$(<"$work/few.html")"

# ---- what is read first ----

expect "a run with something new" 0 scripts/gmod report --html "$work/new.html" --baseline "$work/few"/*.json -- "$work/ranks"/*.json
says "begins with that" '<p class="lead"><span class="red">new </span><span class="chip mark c-' "$(<"$work/new.html")"
expect "a run with nothing new" 0 scripts/gmod report --html "$work/same.html" --baseline "$work/ranks.log" -- "$work/ranks"/*.json
says "says so" '<p class="lead">Nothing new\. 74\.1 % of the device memory was guarded\.' "$(<"$work/same.html")"

# ---- a picture where its data are ----

grep -hv '"event":"memory"' "$work"/ranks/*.json >"$work/forgetful"
expect "a log without memory" 0 scripts/gmod report --html "$work/forgetful.html" "$work/forgetful"
says_not "has no picture of it" 'id="(memory|sites)"' "$(<"$work/forgetful.html")"
grep -h '"event":"\(note\|summary\)"' "$work/ranks/node00.0002.json" >"$work/healthy"
expect "a process without a finding" 0 scripts/gmod report --html "$work/healthy.html" "$work/healthy"
says "the page says so first, and how much was guarded" '<p class="lead">No finding\. 74\.1 % of the device memory was guarded\.' "$(<"$work/healthy.html")"
says_not "no picture of findings" 'id="(ranks|kernels|g1)"' "$(<"$work/healthy.html")"

head -n 2 "$work/ranks/node00.0000.json" | sed 's/"unknown_before":null/"unknown_before":"2026-11-28T12:00:03.997750000Z"/' >"$work/unsure"
expect "a log that is not sure of all kernels" 0 scripts/gmod report --html "$work/unsure.html" "$work/unsure"
says "hatches the time before, of which half the window is" \
	'<rect class="unknown" x="0.00%" y="3" width="50.00%" height="14"><title>kernels launched before 12:00:03.997750 may be missing' \
	"$(<"$work/unsure.html")"

# ---- what a page takes from files ----

grep -h '"event":"finding"' "$work"/ranks/*.json | grep train.py | head -n 1 >"$work/one"
echo 'password = 1' >"$work/secret"
for name in secret link.py; do
	sed "s|$work/ranks/train.py|$work/$name|g; s/\"line\":[0-9]*/\"line\":1/g" "$work/one" >"$work/asks"
	[ "$name" = secret ] || ln -s "$work/secret" "$work/$name"
	expect "a log that names a file that is no source: $name" 0 scripts/gmod report --html "$work/asks.html" "$work/asks"
	says_not "nothing of it is on the page: $name" 'password' "$(<"$work/asks.html")"
done
mkfifo "$work/pipe.py"
sed "s|$work/ranks/train.py|$work/pipe.py|g" "$work/one" >"$work/asks"
expect "one that names a pipe" 0 timeout 20 scripts/gmod report --html "$work/asks.html" "$work/asks"
touch "$work/ranks/train.py"
expect "a source that was written after the run" 0 scripts/gmod report --html "$work/late.html" "$work/one"
says "is said to be" 'the file was written after the run' "$(<"$work/late.html")"
expect "without symbols" 0 scripts/gmod report --no-symbols --html "$work/bare.html" "$work/one"
says_not "no source is read" 'torch\.empty' "$(<"$work/bare.html")"

finish
