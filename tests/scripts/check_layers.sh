#!/usr/bin/env bash
# scripts/check-layers accepts a tree whose includes point down, and notices each way in which they may not.
. "$(dirname "$0")/testlib"
needs_python3

tree=$work/tree

# plant: a tree of three rooms, one above the other.
plant() {
	rm -rf "$tree"
	mkdir -p "$tree/scripts" "$tree/lib/base" "$tree/monitor/watch" "$tree/lib/hooks"
	printf '%s\n' '# a table' 'lib/base:' 'monitor/watch: lib/base' 'lib/hooks: lib/base monitor/watch' >"$tree/scripts/layers"
	echo 'void gmod_low(void);' >"$tree/lib/base/low.h"
	printf '%s\n' '#include "lib/base/low.h"' 'void gmod_low(void)' '{' '}' >"$tree/lib/base/low.c"
	echo 'int gmod_other(int a);' >"$tree/lib/base/other.h"
	printf '%s\n' '#include "lib/base/low.h"' 'int gmod_other(int a)' '{' 'return a;' '}' >"$tree/lib/base/other.c"
	printf '%s\n' '#include "lib/base/low.h"' 'void gmod_middle(void);' >"$tree/monitor/watch/middle.h"
	printf '%s\n' '#include "monitor/watch/middle.h"' '#include "include/gmod.h"' >"$tree/lib/hooks/high.c"
}

# damage NAME PATTERN FILE LINE: with the line added to the file, a line that matches PATTERN is printed.
damage() {
	plant
	mkdir -p "$(dirname "$tree/$3")"
	printf '%s\n' "$4" >>"$tree/$3"
	expect "$1: noticed" 1 scripts/check-layers --root "$tree"
	says "$1: named" "$2" "$out"
}

plant
expect "a tree without fault" 0 scripts/check-layers --root "$tree"
says "and in words" '6 files in 3 rooms: no include goes up, no cycle' "$out"
damage "an include goes up" '^lib/base/low.c includes monitor/watch/middle.h: lib/base stands below' lib/base/low.c \
	'#include "monitor/watch/middle.h"'
damage "a cycle inside a room" '^a cycle of includes: lib/base/low lib/base/other$' lib/base/low.c '#include "lib/base/other.h"'
damage "a cycle through headers" '^a cycle of includes: lib/base/low lib/base/other$' lib/base/low.h '#include "lib/base/other.h"'
damage "a folder without a row" '^lib/attic/old.c: its folder has no row' lib/attic/old.c 'int old;'
damage "a file that is not there" 'includes lib/base/none.h, which is not there' lib/hooks/high.c '#include "lib/base/none.h"'
damage "rooms that may include each other" 'lib/base may include lib/hooks, which may include lib/base' scripts/layers \
	'lib/base: lib/hooks'

# A header of another name carries what low.c defines: that is no way out of a cycle.
plant
echo 'void gmod_low(void);' >"$tree/lib/base/low_parts.h"
echo '/* nothing */' >"$tree/lib/base/low.h"
sed -i 's/low.h/low_parts.h/' "$tree/lib/base/low.c" "$tree/lib/base/other.c" "$tree/monitor/watch/middle.h"
echo '#include "lib/base/other.h"' >>"$tree/lib/base/low.c"
expect "a cycle through a header of another name: noticed" 1 scripts/check-layers --root "$tree"
says "a cycle through a header of another name: named" '^a cycle of includes: lib/base/low lib/base/other$' "$out"

# What is in a comment includes nothing.
plant
echo '/* #include "monitor/watch/middle.h" */' >>"$tree/lib/base/low.c"
expect "an include in a comment" 0 scripts/check-layers --root "$tree"

expect "no such option" 2 scripts/check-layers --nothing
finish
