#!/usr/bin/env bash
# scripts/changed: what changed since which commit, and what is said where nobody knows. Over small repositories.
. "$(dirname "$0")/testlib"
command -v git >/dev/null || { echo "no git" && exit 77; }
export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_SYSTEM=/dev/null GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b
unset GIT_DIR GIT_WORK_TREE GIT_INDEX_FILE

# place DIRECTORY: a tree with the script, without a history.
place() {
	tree=$1
	mkdir -p "$tree/scripts" "$tree/lib" "$tree/tests/mutants"
	cp scripts/changed "$tree/scripts"
	echo table >"$tree/tests/mutants/table"
}

# commit FILE: one more, in which the file is new.
commit() {
	echo "$1" >"$tree/$1"
	git -C "$tree" add -A
	git -C "$tree" commit -q -m "$1"
}

# changed ARGUMENT...: what the script of the tree says.
changed() {
	outcome "$tree/scripts/changed" "$@"
}

place "$work/bare"
export GIT_CEILING_DIRECTORIES=$work
changed lib
same "without a history nobody knows" "1 " "$status $out"
changed --base
same "and there is no base" 1 "$status"
changed --number 7
says "a number there is all the same" '^[0-6]$' "$out"
changed --passed
same "nothing is recorded" "0 no" "$status $([ -e "$tree/tests/all-passed" ] && echo yes || echo no)"
changed --age
same "nor is anything old" "0 " "$status $out"

place "$work/line"
git -C "$tree" init -q -b main
commit lib/first
changed lib
same "a history that is too short: nobody knows" 1 "$status"
for ((i = 0; i < 55; i++)); do
	commit "lib/$i"
done
changed lib
same "of a long one the last 50 commits count" 50 "$(wc -l <<<"$out")"
says_not "and not those before" '^lib/4$' "$out"
same "below other folders nothing has changed" "0 " "$(changed tests; echo "$status $out")"
echo more >"$tree/lib/uncommitted"
echo more >>"$tree/lib/2"
changed lib
says "what is not committed has changed" '^lib/uncommitted$' "$out"
says "also in a file that is older" '^lib/2$' "$out"
changed --passed
same "of such a tree it is not said that all passed" "no" "$([ -e "$tree/tests/all-passed" ] && echo yes || echo no)"
rm "$tree/lib/uncommitted"
git -C "$tree" checkout -q -- .

git -C "$tree" checkout -q -b side HEAD~1
commit lib/side
git -C "$tree" checkout -q main
git -C "$tree" merge -q --no-ff -m merge side
changed lib
same "of a merge what it brought" lib/side "$out"
commit lib/later
changed lib
same "since a merge" lib/later "$out"
git -C "$tree" checkout -q -b work
git -C "$tree" branch -q --set-upstream-to=main work
commit lib/work
changed lib
same "where a branch has left the one that it tracks" lib/work "$out"

one=$(changed --number 1000 && echo "$out") two=$(changed --number 1000 && echo "$out")
same "one commit, one number" "$one" "$two"
commit lib/another
changed --number 100000
[ "$out" != "$one" ]
judge "another commit has another" $?

changed --age
same "without a record it is said" "0 WARNING no run of all tests is on record: make test-all" "$status $out"
changed --passed
says "the tree that passed is recorded" "^$(git -C "$tree" rev-parse 'HEAD^{tree}') 20[0-9-]{8}\$" "$(cat "$tree/tests/all-passed")"
commit lib/after
changed --age
same "it is not old" "0 " "$status $out"
echo "0000000000000000000000000000000000000000 2020-01-01" >"$tree/tests/all-passed"
changed --age
says "one that is not among the last 300 is" '^WARNING all tests passed last on 2020-01-01, more than 300 commits ago: make test-all$' "$out"
finish
