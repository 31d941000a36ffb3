#!/usr/bin/env bash
# make install puts everything where it was asked to, the installed commands find their parts, make uninstall removes it.
. "$(dirname "$0")/testlib"

make_quiet() {
	outcome make --no-print-directory BUILD="${BUILD:-build}" CC="${CC:-gcc}" "$@"
	same "make $1" 0 "$status"
	[ "$status" -eq 0 ] || printf '%s\n' "$out" "$err"
}
files() {
	(cd "$1" && find . ! -type d | sort)
}

stage=$work/stage
make_quiet install PREFIX=/opt/gmod DESTDIR="$stage"
needs=$(sed -nE 's/^installed; as built it needs glibc ([0-9.]+) or newer$/\1/p' <<<"$out")
same "what glibc is needed" "$(objdump -T "$build/libgmod.so" "$build/gmod-tool" | grep -o 'GLIBC_[0-9.]*' | sort -Vu |
	tail -n 1)" "GLIBC_$needs"
same "what is installed" "./opt/gmod/bin/gmod
./opt/gmod/bin/gmod-tensorflow
$(cd include && find gmod* -name '*.*' | sort | sed 's|^|./opt/gmod/include/|')
./opt/gmod/lib/libgmod.so
./opt/gmod/libexec/gmod/gmod-tool
./opt/gmod/share/man/man1/gmod-tensorflow.1
./opt/gmod/share/man/man1/gmod.1" "$(files "$stage")"

unset GMOD_BUILD
installed=$(cd "$stage/opt/gmod" && pwd)
expect "the installed gmod runs a command" 7 "$installed/bin/gmod" sh -c 'exit 7'
same "with the installed library" "$installed/lib/libgmod.so" "$("$installed/bin/gmod" printenv LD_PRELOAD)"
expect "gmod --help" 0 "$installed/bin/gmod" --help
expect "gmod-tensorflow" 0 "$installed/bin/gmod-tensorflow" --explain-env
mv "$installed/lib/libgmod.so" "$work/away"
expect "a part that is gone" 2 "$installed/bin/gmod" true
says "is to be installed again" 'libgmod.so is missing; reinstall GMOD$' "$err"
mv "$work/away" "$installed/lib/libgmod.so"
mkdir "$work/bin"
ln -s "$installed/bin/gmod" "$work/bin/gmod"
expect "through a link from elsewhere" 7 "$work/bin/gmod" sh -c 'exit 7'

mv "$work/stage" "$work/moved"
expect "after the whole tree has moved" 7 "$work/moved/opt/gmod/bin/gmod" sh -c 'exit 7'
mv "$work/moved" "$work/stage"

echo mine >"$installed/bin/other"
make_quiet uninstall PREFIX=/opt/gmod DESTDIR="$stage"
same "uninstall leaves what is not GMOD's, and nothing else" "./opt/gmod/bin/other" "$(files "$stage")"
[ ! -e "$installed/libexec/gmod" ]
judge "uninstall removes GMOD's own directory" $?

make_quiet install PREFIX=/usr DESTDIR="$work/distribution" LIBDIR=/usr/lib/x86_64-linux-gnu LIBEXECDIR=/usr/lib/gmod
expect "with the library in a distribution's place" 7 "$work/distribution/usr/bin/gmod" sh -c 'exit 7'
same "the library is there" "$work/distribution/usr/lib/x86_64-linux-gnu/libgmod.so" \
	"$("$work/distribution/usr/bin/gmod" printenv LD_PRELOAD)"
finish
