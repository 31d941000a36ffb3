#!/usr/bin/env bash
# libgmod.so exports what it interposes and the gmod_ API, and needs nothing but the C library.
. "$(dirname "$0")/testlib"

library=$build/libgmod.so
outcome nm -D --defined-only "$library"
same "nm reads the library" 0 "$status"
same "exports are those of the table and of gmod.h" "$(scripts/exports)" \
	"$(awk '{ print $NF }' <<<"$out" | LC_ALL=C sort -u)"
says_not "no version node is named" '@' "$out"

needed=$(readelf -d "$library" | sed -nE 's/.*\(NEEDED\).*\[(.*)\]/\1/p' | grep -vE '^(libc\.so\.6|ld-linux.*|libdl\.so\.2|libpthread\.so\.0)$')
same "nothing but the C library is needed" "" "$needed"
says "it cannot be bound lazily" 'BIND_NOW|NOW' "$(readelf -d "$library")"
says_not "no executable stack" 'GNU_STACK.*RWE' "$(readelf -lW "$library")"
says_not "no text relocations" 'TEXTREL' "$(readelf -d "$library")"
finish
