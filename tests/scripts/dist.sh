#!/usr/bin/env bash
# What is made to be installed: the tarball; and the Debian package and the wheel where the test is thorough. Each needs no
# glibc beyond 2.28, and finds a planted bug from a place of its own; also with a glibc that is older than 2.35.
. "$(dirname "$0")/testlib"

case $(uname -m) in x86_64 | aarch64) ;; *) echo "no packages are made for $(uname -m)" && exit 77 ;; esac
if [ -n "${SANFLAGS-}" ]; then echo "what is packed has no sanitizer" && exit 77; fi
has_changed lib monitor device scripts/dist tests/scripts/dist.sh || { echo "nothing of it has changed" && exit 77; }
unset GMOD_BUILD MAKEFLAGS MFLAGS BUILD
export DIST=$work/dist
[ -n "${GMOD_TEST_THOROUGH-}" ] || export OPTIMIZE=-O1 # a third less to compile

# apart COMMAND...: as a user's shell has it, who knows nothing of this tree, and which ignores no signal.
# shellcheck disable=SC2317 # expect runs it
apart() {
	env -i --default-signal PATH=/usr/bin:/bin HOME="$work" "$@"
}

# works NAME GMOD: its selftest, frames included.
works() {
	expect "$1: gmod selftest" 0 apart "$2" selftest
	says "$1: on its own simulated driver" '^GMOD works on the simulated driver$' "$out"
	says "$1: with frames" '#0 make_vector  demo\+0x' "$out$err"
}

# needs NAME FOLDER: no more of glibc than it may.
needs() {
	local newest
	newest=$(find "$2" -type f -exec sh -c 'objdump -T "$1" 2>/dev/null' - {} \; | grep -oE 'GLIBC_[0-9.]+' | sort -Vu | tail -n 1)
	[ -n "$newest" ] && [ "$(printf '%s\nGLIBC_2.28\n' "$newest" | sort -V | tail -n 1)" = GLIBC_2.28 ]
	judge "$1: nothing newer than glibc 2.28" $? "$newest"
}

# points_to_what_is_there NAME FOLDER: the README's links, which lead to files or into the page itself.
points_to_what_is_there() {
	same "$1: the README points to nothing that is not there" "" "$(cd "$2" && grep -oE '\]\([^)#:]+\)' README.md | tr -d '])(' |
		while read -r file; do [ -s "$file" ] || echo "$file"; done)"
}

expect "a package that there is not" 2 scripts/dist/pack rpm
one_line "says so" "$err"

# ---- the tarball ----

expect "the tarball is made" 0 scripts/dist/pack tarball
tarball=$(sed -n '/\.tar\.gz$/p' <<<"$out")
cp "$tarball" "$work/first.tar.gz"
mkdir "$work/tar"
tar -C "$work/tar" -xf "$tarball"
root=$(echo "$work"/tar/gmod-*)
needs tarball "$root"
works tarball "$root/bin/gmod"
points_to_what_is_there tarball "$root"
says "tarball: its first command is gmod" '^gmod ' "$(awk '/^```sh/ { code = 1; next } code { print; exit }' "$root/README.md")"
says_not "tarball: the README is not for those who have the source" '^make |source -->' "$(cat "$root/README.md")"
says "tarball: its gmod names the commit" ', commit [0-9a-f]+(-dirty)?$' "$("$root/bin/gmod" --version)"
says "tarball: the README has its picture as text" '^==[0-9]+==GMOD: gpu-fault: ' "$(cat "$root/README.md")"
for file in share/doc/gmod/device.md README.md LICENSE CHANGELOG.md share/man/man1/gmod.1 include/gmod_device.cuh; do
	[ -s "$root/$file" ]
	judge "tarball: $file" $?
done
if [ -n "${GMOD_TEST_THOROUGH-}" ]; then
	expect "it is made again" 0 scripts/dist/pack tarball
	cmp -s "$tarball" "$work/first.tar.gz"
	judge "and is the same" $?
fi

# Without _dl_find_object, GMOD's own frames and the unwinder's go by the loader's list.
outcome apart LD_AUDIT="$build/edges/plugin_no_lookup.so" "$root/bin/gmod" selftest
same "with an older glibc: gmod selftest" 0 "$status"
says "with frames" '#0 make_vector  demo\+0x' "$out$err"
says "and the program's start" '#[0-9]+ main  demo\+0x' "$out$err"

[ -n "${GMOD_TEST_THOROUGH-}" ] || finish

# ---- the Debian package ----

if command -v dpkg-deb >/dev/null; then
	expect "the Debian package is made" 0 scripts/dist/pack deb
	deb=$(sed -n '/\.deb$/p' <<<"$out")
	dpkg-deb -x "$deb" "$work/deb"
	needs deb "$work/deb"
	works deb "$work/deb/usr/bin/gmod"
	points_to_what_is_there deb "$work/deb/usr/share/doc/gmod"
	same "deb: whose it is" "GMOD project <gmod@localhost>" "$(dpkg-deb -f "$deb" Maintainer)"
	if command -v lintian >/dev/null; then
		outcome lintian --fail-on error,warning "$deb"
		same "lintian has nothing to say but what is named" "0 " "$status $(grep -E '^[EW]:' <<<"$out")"
	else
		skip "lintian" "lintian is not installed"
	fi
else
	skip "the Debian package" "there is no dpkg-deb"
fi

# ---- the wheel ----

if python3 -m venv "$work/venv" >/dev/null 2>&1; then
	expect "the wheel is made" 0 scripts/dist/pack wheel
	wheel=$(sed -n '/\.whl$/p' <<<"$out")
	expect "it is installed" 0 "$work/venv/bin/pip" install -q --no-index --disable-pip-version-check "$wheel"
	needs wheel "$work/venv"
	works wheel "$work/venv/bin/gmod"
	cmp -s LICENSE "$work"/venv/lib/python3*/site-packages/gmod-*.dist-info/LICENSE
	judge "wheel: the license" $?
	[ -s "$work/venv/share/man/man1/gmod.1" ]
	judge "its manual is where man looks" $?
	[ -s "$work/venv/share/doc/gmod/device.md" ]
	judge "and the page about memory that kernels allocate beside it" $?
	expect "python -m gmod" 0 apart "$work/venv/bin/python" -m gmod --version
	says "is gmod" '^gmod [0-9]' "$out"
	for command in "$work/venv/bin/gmod" "$work/venv/bin/python -m gmod"; do
		# The C library's own two signals, 32 and 33, are ignored in what make starts.
		# shellcheck disable=SC2086 # several words
		expect "${command##*/}: the job ignores no signal" 0 apart $command grep -qE '^SigIgn:.0*(180000000)?$' /proc/self/status
	done
	expect "it is removed" 0 "$work/venv/bin/pip" uninstall -q -y gmod
	same "and nothing is left" "" "$(find "$work/venv" -name '*gmod*')"
else
	skip "the wheel" "python3 makes no virtual environment"
fi

finish
