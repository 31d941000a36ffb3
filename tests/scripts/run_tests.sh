#!/usr/bin/env bash
# scripts/run-tests: what vanishes is a failure. Over a tree of stand-ins.
. "$(dirname "$0")/testlib"
tree=$work/tree
mkdir -p "$tree"/{scripts,tests/{unit,sim,edges,scripts},build/unit}
cp scripts/run-tests "$tree/scripts"
cp tests/lib.bash tests/skips "$tree/tests"
: >"$tree/tests/unit/test_one.c"

# stand_in FILE: an executable script.
stand_in() {
	{ echo '#!/bin/sh' && cat; } >"$tree/$1"
	chmod +x "$tree/$1"
}
stand_in build/unit/test_one <<'UNIT'
echo "[  PASSED  ] 2 test(s)."
[ ! "$SKIPS_ITSELF" ] || printf '[  SKIPPED ] some_test\n[  SKIPPED ] 1 test(s), listed below:\n'
UNIT
stand_in tests/run-programs <<'PROGRAMS'
[ ! "$REASON" ] || { echo "SKIP bad_one: $REASON" && echo "3 passed, 0 failed, 1 skipped" && exit; }
echo "4 passed, 0 failed"
PROGRAMS
for kind in sim edges scripts; do
	stand_in tests/$kind/some.sh <<'SCRIPT'
[ ! "$MISSING" ] || { echo "no $MISSING"; exit 77; }
echo "1 passed, 0 failed"
SCRIPT
done
echo 69 >"$tree/tests/least"

# all [VARIABLE=VALUE...]: all its tests.
all() {
	outcome env -u BUILD -u GMOD_BUILD -u SANITIZE -u UNIT_ONLY "$@" "$tree/scripts/run-tests"
}
# fails NAME PATTERN: it has to, and to say so.
fails() {
	same "$1" 1 "$status"
	says "$1: it says so" "$2" "$out"
}

all
same "all is well" "0 69 passed, 0 failed" "$status $(tail -n 1 <<<"$out")"
all REASON='not for this target'
same "a skip for a listed reason" "0 53 passed, 0 failed, 16 skipped" "$status $(tail -n 1 <<<"$out")"
all REASON='I had no mood'
fails "a skip for another reason" '^FAIL programs 3/12: skipped for a reason that tests/skips does not list: I had no mood$'
all SKIPS_ITSELF=yes
fails "a unit test that skips itself and is not listed" '^FAIL unit test_one: skipped for a reason .*: some_test$'
all MISSING=python3
fails "a missing tool" '^FAIL edges some: skipped for a reason .*: no python3$'

chmod -x "$tree/tests/edges/some.sh"
all
fails "a test that is not executable" '^FAIL edges some: it is not executable$'
chmod +x "$tree/tests/edges/some.sh"

mv "$tree/build" "$tree/elsewhere"
mkdir "$tree/build"
all
fails "an empty build folder" '^FAIL unit test_one: it was not built$'
rm -r "$tree/build" && mv "$tree/elsewhere" "$tree/build"

echo 70 >"$tree/tests/least"
all
fails "fewer tests than there have to be" '^FAIL all tests: 69 ran, and tests/least says 70$'
echo 69 >"$tree/tests/least"

# What took longest the last time goes first; how long all took is said the next time.
all
says "times are kept" $'^unit test_one\t[0-9.]+\t[0-9.]+$' "$(cat "$tree/build/test-times")"
printf 'unit test_one\t1.0\t0.5\nprograms 2/12\t999.0\t0.5\n' >"$tree/build/test-times"
all GMOD_TEST_ROOM=1
says "the longest first" '^PASS programs 2/12 ' "$(head -n 1 <<<"$out")"
stand_in tests/scripts/slow.sh <<'SLOW'
sleep 3
echo "1 passed, 0 failed"
SLOW
all GMOD_TEST_TELL=1
says "a log has a line while it waits" '^NOTE [0-9]+ of 21 done after [0-9]+ s, as a rule it takes [0-9]+ s; running: .*scripts slow$' "$out"
finish
