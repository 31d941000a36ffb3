#!/usr/bin/env bash
# scripts/gmod: what it checks, what it hands on, what it leaves alone.
. "$(dirname "$0")/testlib"
gmod=$top/scripts/gmod
library=$(readlink -f "$build/libgmod.so")

# ---- the command is what runs, unchanged ----

expect "exit status of the command" 37 "$gmod" sh -c 'exit 37'
expect "killed by a signal" 143 bash -c "'$gmod' sh -c 'kill -TERM \$\$'"

"$gmod" sh -c 'echo $$' >"$work/pid" &
started=$!
wait $started
same "same process id" "$started" "$(cat "$work/pid")"

outcome "$gmod" printf '<%s>' 'a b' '' '*' '-x' $'tab\there'
same "arguments arrive as they are" $'<a b><><*><-x><tab\there>' "$out"
same "standard input arrives" "hello" "$(echo hello | "$gmod" cat)"
same "after -- everything is the command" "-n -o x" "$("$gmod" -- printf '%s' '-n -o x')"
outcome "$gmod" printenv HOME
same "the environment is kept" "$HOME" "$out"
outcome env GMOD_COMMAND=other "$gmod" printenv GMOD_COMMAND
same "but for the name that gmod goes by" "1 " "$status $out"

mkdir "$work/a directory"
cp "$(type -P printenv)" "$work/a directory/print env"
expect "a command with spaces in its path" 0 "$work/a directory/print env" PATH
expect "a relative command" 0 sh -c "cd '$work/a directory' && '$gmod' './print env' PATH"
ln -s "$gmod" "$work/a directory/gmod link"
expect "called through a link" 5 "$work/a directory/gmod link" sh -c 'exit 5'
expect "found on PATH" 5 env PATH="$top/scripts:$PATH" gmod sh -c 'exit 5'

# ---- commands that cannot be run or guarded ----

refused() {
	expect "$1" "$2" "${@:4}"
	says "$1: says so" "$3" "$err"
	one_line "$1: in one line" "$err"
}

refused "no such command" 127 'gmod: no-such-command: command not found' "$gmod" no-such-command
for words in docter slftest; do
	expect "a command of gmod's, misspelt" 127 "$gmod" $words
	says "it is named" "^gmod: did you mean \"gmod (doctor|selftest)\"\\?\$" "$err"
done
refused "a command that is like none of gmod's" 127 'gmod: helex: command not found$' "$gmod" helex
refused "no such file" 127 'gmod: ./no/such/file: no such file$' "$gmod" ./no/such/file
refused "no name" 127 "gmod: the command's name is empty" "$gmod" ''
echo text >"$work/plain"
refused "not executable" 126 'plain: not an executable file' "$gmod" "$work/plain"
printf 'ju\001nk\n' >"$work/junk"
chmod +x "$work/junk"
refused "neither a program nor a script" 126 'junk: neither a program nor a script$' "$gmod" "$work/junk"
refused "a directory" 126 'not an executable file' "$gmod" "$work"
refused "no command" 2 'no command given' "$gmod"
refused "no command behind options" 2 'no command given' "$gmod" --verbosity=2

# foreign NAME OFFSET BYTES: a program whose ELF header is changed so.
foreign() {
	cp "$(type -P true)" "$work/foreign"
	printf '%b' "$3" | dd of="$work/foreign" bs=1 seek="$2" conv=notrunc status=none
	refused "$1" 2 'foreign is no 64-bit x86-64 program: libgmod.so cannot be loaded into it' "$gmod" "$work/foreign"
}
foreign "another architecture" 18 '\xb7\x00'
foreign "a 32-bit program" 4 '\x01'
foreign "another order of bytes" 5 '\x02'
foreign "an object file" 16 '\x01\x00'

echo 'int main(void) { return 0; }' >"$work/static.c"
if ${CC:-gcc} -static -o "$work/static" "$work/static.c" 2>/dev/null; then
	refused "a static program runs" 0 'is statically linked' "$gmod" "$work/static"
	printf '#!%s\n' "$work/static" >"$work/script-of-static"
	chmod +x "$work/script-of-static"
	refused "a script run by a static program" 0 'is statically linked' "$gmod" "$work/script-of-static"
fi

echo 'int main(void) { return 0; }' >"$work/musl.c"
if ${CC:-gcc} -Wl,--dynamic-linker=/lib/ld-musl-x86_64.so.1 -o "$work/musl" "$work/musl.c" 2>/dev/null; then
	refused "a program of another C library" 2 'musl is linked against musl; libgmod.so needs the GNU C library' "$gmod" "$work/musl"
fi

cp "$(type -P true)" "$work/privileged"
if [ "$(id -u)" -eq 0 ] && chown 65534 "$work/privileged" && chmod u+s "$work/privileged"; then
	refused "a set-user-ID program" 2 'is set-user-ID: the loader ignores LD_PRELOAD' "$gmod" "$work/privileged"
fi

# script NAME FIRST-LINE
script() {
	printf '%s\nexit 9\n' "$2" >"$work/$1"
	chmod +x "$work/$1"
}
script plain-script '#!/bin/sh'
expect "a script" 9 "$gmod" "$work/plain-script"
script env-script '#!/usr/bin/env -S sh -e'
expect "a script through env" 9 "$gmod" "$work/env-script"
script headless-script 'true'
expect "a script without a #! line" 9 "$gmod" "$work/headless-script"
script broken-script '#!/no/such/interpreter'
refused "a script without its interpreter" 127 'interpreter /no/such/interpreter does not exist' "$gmod" "$work/broken-script"

# ---- a command that made no CUDA call ----

expect "a command without CUDA" 0 "$gmod" true
says "it is told that nothing was guarded" '==[0-9]+==GMOD: nothing was guarded: the program made no CUDA call$' "$err"
expect "a shell that runs others" 0 "$gmod" sh -c 'true; (exit 0); echo done'
says_not "who runs others is told nothing: they may use CUDA" 'GMOD' "$err"

# ---- options ----

options_of() {
	outcome "$gmod" "$@" printenv GMOD_OPTIONS
}
options_of
same "the closing summary is on by itself" 'verbosity=1:symbolize=1' "$out"
options_of -o max_cpu=5 --scan_interval_us=0 -olog_format=json
same "options in each spelling" 'verbosity=1:symbolize=1:max_cpu=5:scan_interval_us=0:log_format=json' "$out"
options_of --max-cpu=5 --leak-check=yes
same "options with hyphens, and in words" 'verbosity=1:symbolize=1:max-cpu=5:leak-check=yes' "$out"
GMOD_OPTIONS=verbosity=0:max_cpu=3 options_of --max_cpu=7
same "the command line comes last and wins" 'verbosity=1:symbolize=1:verbosity=0:max_cpu=3:max_cpu=7' "$out"
options_of --log_path=/tmp/a:b
same "a value with a colon is quoted" 'verbosity=1:symbolize=1:log_path="/tmp/a:b"' "$out"
options_of --log_path='/tmp/a:"b'
same "a value with a colon and a quote" "verbosity=1:symbolize=1:log_path='/tmp/a:\"b'" "$out"
options_of --log_path='"/tmp/a:b"'
same "a value that is quoted already" 'verbosity=1:symbolize=1:log_path="/tmp/a:b"' "$out"
options_of --log_path="$work/a "
same "a value with a blank at its end" "verbosity=1:symbolize=1:log_path=\"$work/a \"" "$out"
refused "a value that cannot be quoted" 2 'needs quotes and holds both kinds' "$gmod" "--log_path=a:'\"" true
refused "an unknown option" 2 'backnd.*did you mean "?backend' "$gmod" --backnd=unified true
refused "a bad value" 2 'unifed.*backend.*expected device.unified.managed.native' "$gmod" --backend=unifed true
refused "a number out of range" 2 'exitcode' "$gmod" --exitcode=256 true
refused "an option like no other" 2 'gmod: unknown option "foo"; gmod --help=all lists them$' "$gmod" --foo=1 true
refused "an option like no other, without a value" 2 'gmod: unknown option "foo"; gmod --help=all lists them$' "$gmod" --foo true
refused "an option without a value" 2 'gmod: no value in "halt_on_error"; write halt_on_error=1 or =0$' "$gmod" --halt_on_error cat
refused "a switch with a value" 2 '^gmod: --hunt takes no value: write --hunt$' "$gmod" --hunt=1 true
refused "a command in the place of a file" 2 '^gmod: --log-path needs a value: write --log-path=FILE$' "$gmod" --log-path true
refused "a file behind a blank" 2 'write --log-path=gmod.txt$' "$gmod" --log-path gmod.txt true
refused "a value with a colon, without quotes" 2 'unknown option "b"; gmod --help=all lists them; a value with a colon needs quotes$' \
	env GMOD_OPTIONS=log_path=a:b "$gmod" true
refused "a value behind a blank" 2 'write --verbosity=2$' "$gmod" --verbosity 2 true
refused "an option in capitals" 2 'unknown option "--HELP"; did you mean "--help"' "$gmod" --HELP
refused "two options in one" 2 'bad value "1,leak_check=1" for verbosity: .*; options are separated by colons$' "$gmod" -o verbosity=1,leak_check=1 true
refused "-o without anything" 2 '-o needs KEY=VALUE' "$gmod" -o
refused "-o with a file" 2 '-o takes KEY=VALUE, and "file" is not that; gmod --help=all' "$gmod" -o file true
refused "-o with nothing in it" 2 '-o takes KEY=VALUE, and "" is not that' "$gmod" -o '' true
refused "a short option that is none" 2 'unknown option "-x"' "$gmod" -x true
refused "a bad GMOD_OPTIONS" 2 'max_cp.*did you mean "?max_cpu' env GMOD_OPTIONS=max_cp=1 "$gmod" true
for name in $(scripts/options-table pairs | grep -v '=$'); do
	expect "--$name is accepted" 0 "$gmod" "--$name" true
done

# ---- files that options name ----

refused "no suppressions file" 2 "cannot read the suppressions file $work/none: No such file or directory" \
	"$gmod" --suppressions="$work/none" true
refused "a directory as suppressions file" 2 "cannot read the suppressions file $work: Is a directory" \
	"$gmod" --suppressions="$work" true
refused "a log in no directory" 2 "cannot write log_path $work/none/log.%p: No such file or directory" \
	"$gmod" --log_path="$work/none/log.%p" true
refused "a directory as log" 2 "cannot write log_path $work/: it names a directory" "$gmod" --log_path="$work/" true
refused "a device as file of counts" 2 "cannot write stats_path /dev/null: it is no regular file" \
	"$gmod" --stats_path=/dev/null true
refused "a tally that is not there" 2 "cannot append to the tally $work/none: No such file or directory" \
	"$gmod" --tally="$work/none" true
refused "a directory as file of counts" 2 "cannot write stats_path $work: it is no regular file" "$gmod" --stats_path="$work" true
printf 'laak:x\n# leek:x\n\n  double-free : x*  \nleak:\nno\n' >"$work/bad"
expect "bad suppressions" 2 "$gmod" --suppressions="$work/bad" true
no_rule="not a suppression (CLASS:PATTERN, CLASS as in a report or *)"
same "bad suppressions: each is named, with what may be meant" "$work/bad:1: $no_rule; did you mean \"leak\"?
$work/bad:5: the pattern is missing: leak:PATTERN
$work/bad:6: $no_rule" "${err//gmod: /}"
printf ':x\n: * x\nleak post-mortem:x\n*\n*:\t\nno\n:\n' >"$work/bad"
expect "other files as suppressions" 2 "$gmod" --suppressions="$work/bad" true
same "five lines are named" "$work/bad:1: $no_rule
$work/bad:2: $no_rule
$work/bad:3: $no_rule; did you mean \"post-mortem\"?
$work/bad:4: the pattern is missing: *:PATTERN
$work/bad:5: the pattern is missing: *:PATTERN
$work/bad: and 2 more; is this the right file?" "${err//gmod: /}"
LD_PRELOAD=$library GMOD_OPTIONS=suppressions=$work/bad LD_LIBRARY_PATH=$build/sim outcome "$build/sim/programs/good_axpy"
same "the library refuses as many" 7 "$(grep -c ': not a suppression ' <<<"$err")"
printf 'leak:x\r\n\r\n*:y\r\n' >"$work/crlf"
expect "suppressions of another system" 0 "$gmod" --suppressions="$work/crlf" true
echo 'leak:*' >"$work/suppressions"
expect "files that are there" 0 "$gmod" --suppressions="$work/suppressions" --log_path="$work/log.%p" sh -c '(exit 0); :'
[ -z "$(find "$work" -name 'log.*')" ]
judge "and no log is made by looking" $?

# ---- LD_PRELOAD ----

preload_of() {
	outcome "$gmod" printenv LD_PRELOAD
}
preload_of
same "the library is preloaded" "$library" "$out"
echo >"$work/empty.c"
${CC:-gcc} -shared -fPIC -o "$work/libother.so" "$work/empty.c"
${CC:-gcc} -shared -fPIC -o "$work/libasan.so.9" "$work/empty.c"
LD_PRELOAD=$work/libother.so preload_of
same "another library stays" "$library:$work/libother.so" "$out"
LD_PRELOAD="$work/libother.so $library" preload_of
same "no duplicate" "$work/libother.so $library" "$out"
LD_PRELOAD="$work/libasan.so.9:$work/libother.so" preload_of
same "a sanitizer's runtime stays first" "$work/libasan.so.9:$library:$work/libother.so" "$out"
LD_PRELOAD=$work/libother.so:$work/libasan.so.9 preload_of
same "one that is not first stays where it is" "$library:$work/libother.so:$work/libasan.so.9" "$out"

asan=$(readlink -f "$(gcc -print-file-name=libasan.so 2>/dev/null)" || :)
if [ -e "$asan" ]; then
	LD_PRELOAD=$asan preload_of
	same "nor do the programs that gmod calls fail by it" "0 $asan:$library" "$status $out"
else
	skip "a sanitizer's runtime" "gcc has none here"
fi

mkdir "$work/with space"
cp "$build/libgmod.so" "$build/gmod-tool" "$work/with space"
refused "a library path with spaces" 2 'LD_PRELOAD cannot hold a path with spaces' env GMOD_BUILD="$work/with space" "$gmod" true
mkdir "$work/with\$dollar"
cp "$build/libgmod.so" "$build/gmod-tool" "$work/with\$dollar"
refused "a library path with a dollar sign" 2 'LD_PRELOAD cannot hold a path with' env GMOD_BUILD="$work/with\$dollar" "$gmod" true
mkdir "$work/unbuilt"
for words in true --help --version doctor; do
	refused "nothing built: $words" 2 'libgmod.so is missing; build it first: make$' env GMOD_BUILD="$work/unbuilt" "$gmod" $words
	same "nothing built: $words: nothing else is said" '' "$out"
done
mkdir "$work/damaged"
cp "$build/gmod-tool" "$work/damaged"
echo "not a library" >"$work/damaged/libgmod.so"
expect "a library the loader refuses" 2 env GMOD_BUILD="$work/damaged" "$gmod" true
says "a library the loader refuses: says so" 'the loader did not accept libgmod.so .*; build it first: make$' "$err"

# A library that asks the C library for more than it has.
mkdir "$work/future"
cp "$build/gmod-tool" "$work/future"
printf 'GLIBC_2.99 { global: near; };\nGLIBC_2.101 { global: far; };\n' >"$work/future/map"
echo 'void near(void) {} void far(void) {}' >"$work/future/libc.c"
echo 'void near(void); void far(void); void ask(void) { near(); far(); }' >"$work/future/libgmod.c"
${CC:-gcc} -shared -fPIC -nostdlib -Wl,-soname,libc.so.6 -Wl,--version-script="$work/future/map" "$work/future/libc.c" \
	-o "$work/future/libc.so" &&
	${CC:-gcc} -shared -fPIC -nostdlib "$work/future/libgmod.c" "$work/future/libc.so" -o "$work/future/libgmod.so"
judge "a library of the future is built" $?
for words in true doctor; do
	refused "an older C library: $words" 2 'needs glibc 2\.101 or newer, and this is glibc' \
		env GMOD_BUILD="$work/future" "$gmod" $words
done

expect "a library elsewhere that the loader refuses" 2 env LD_PRELOAD=/elsewhere/libgmod.so "$gmod" true
says "a library elsewhere: says what to do" 'LD_PRELOAD=/elsewhere/libgmod.so.; take it out of LD_PRELOAD$' "$err"

# ---- words ----

for words in --version -V; do
	expect "$words" 0 "$gmod" $words
	says "$words says it" '^gmod [0-9]+\.[0-9]+' "$out"
done
expect "--explain-env runs nothing" 0 "$gmod" --explain-env --max_cpu=4 sh -c 'echo ran'
says_not "--explain-env runs nothing: no output of it" '^ran' "$out"
says "--explain-env shows LD_PRELOAD" "^LD_PRELOAD=$library$" "$out"
says "--explain-env shows GMOD_OPTIONS" '^GMOD_OPTIONS=verbosity=1:symbolize=1:max_cpu=4$' "$out"
printf '#!/bin/sh\necho "the other doctor"\n' >"$work/doctor"
chmod +x "$work/doctor"
same "a command named doctor" "the other doctor" "$(PATH=$work:$PATH "$gmod" -- doctor)"
refused "doctor with an argument" 2 'usage: gmod .options. doctor .*gmod -- doctor' "$gmod" doctor extra
for words in help "doctor --help"; do
	# shellcheck disable=SC2086 # words are wanted
	expect "gmod $words" 0 "$gmod" $words
	says "gmod $words: says how to use it" '^usage: gmod ' "$out"
done
printf '#!/bin/sh\necho "the other help"\n' >"$work/help"
chmod +x "$work/help"
same "a command named help" "the other help" "$(PATH=$work:$PATH "$gmod" help)"

finish
