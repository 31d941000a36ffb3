#!/usr/bin/env bash
# tests/gauge/gauge counts functions, files and returns, holds them against limits, and raises no limit. The library is made
# up here, and so is what its walks enter.
. "$(dirname "$0")/testlib"
needs_python3

tree=$work/tree library=$work/tree/build/gauge/libgmod.so
mkdir -p "$tree"/{tests/gauge,lib/hooks,lib/base,monitor/report,build/gauge}
cp tests/gauge/gauge "$tree/tests/gauge"
# source_file FILE FUNCTION...: the file has these functions.
source_file() {
	printf 'void %s(void) {}\n' "${@:2}" >"$tree/$1"
}
source_file lib/hooks/alloc.c cuMemAlloc_v2 cuMemFree_v2 cuLaunchKernel cuMemAllocAsync helper
source_file lib/base/log.c say
source_file lib/base/text.h text
source_file monitor/report/report.c gmod_check gmod_report_flush tell told
echo '#include "lib/base/text.h"' >>"$tree/monitor/report/report.c"
(cd "$tree" && "${CC:-gcc}" -gdwarf-4 -I. -shared -fPIC -o "$library" lib/*/*.c monitor/*/*.c) || exit 1
printf '#!/bin/sh\ncat %q\n' "$work/steps" >"$tree/build/gauge/walks"
chmod +x "$tree/build/gauge/walks"

# walks WORD...: what walks prints: a turn's name, +FUNCTION, and - for the end of the latest call that has not ended.
walks() {
	local word entered=()
	for word; do
		case $word in
		+*) entered+=("$(nm "$library" | sed -n "s/ T ${word#+}\$//p")") && echo "+${entered[-1]}" ;;
		-) echo "-${entered[-1]}" && unset 'entered[-1]' ;;
		*) echo "=$word" ;;
		esac
	done >"$work/steps"
}

gauge=("$tree/tests/gauge/gauge" "$tree/build")
allocation=(guarded +cuMemAlloc_v2 +tell - +text - +helper - +helper -)
rest=(+cuLaunchKernel - +cuMemFree_v2 - pooled +cuMemAllocAsync -
	overrun +gmod_check +say - +gmod_report_flush +tell - - +helper - -)
walks "${allocation[@]}" - "${rest[@]}"
expect "limits are written" 0 "${gauge[@]}" --lower
says "each function counts once, and a header's apart" '^allocation +3 +2 +1 +4 +3 +1$' "$out"
says "the telling is not part of the finding" '^finding +2 +2 +0 +3 +3 +0$' "$out"
says "nor the finding of the telling" '^telling +2 +1 +0 +2 +1 +0$' "$out"
expect "the limits hold" 0 "${gauge[@]}" --check
expect "a walk is listed" 0 "${gauge[@]}" --functions telling
same "in order" $'monitor/report/report.c  gmod_report_flush\nmonitor/report/report.c  tell' "$out"

walks "${allocation[@]}" +told - - "${rest[@]}"
expect "one more call to another file fails" 1 "${gauge[@]}" --check
one_line "in one line" "$err"
says "for its return, too" "^gauge: allocation: too many: 4 functions .limit 3., 2 returns .limit 1., " "$err"
expect "no limit is raised" 1 "${gauge[@]}" --lower
walks "${allocation[@]}" - "${rest[@]}"
expect "the limits still hold" 0 "${gauge[@]}" --check

sed -i 's/^\(free  *\)1/\10/' "$tree/tests/gauge/limits"
expect "a limit lowered by one fails" 1 "${gauge[@]}" --check
says "and is named" "^gauge: free: too many: 1 functions .limit 0.;" "$err"
sed -i 's/^\(free  *\)0/\12/' "$tree/tests/gauge/limits"
expect "a figure that has fallen fails" 1 "${gauge[@]}" --check
says "and is to be recorded" "^gauge: free: fewer now: 1 functions .limit 2.; .make gauge LOWER=1" "$err"
expect "that is done" 0 "${gauge[@]}" --lower
expect "and holds" 0 "${gauge[@]}" --check

walks guarded "${rest[@]}"
expect "a walk that is not there fails" 1 "${gauge[@]}" --check
says "and says what was not called" 'allocation: cuMemAlloc_v2 was not called' "$err"
finish
