#!/usr/bin/env bash
# What a report claims is so: who could have done it, what has been put back, and when it comes.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

# A kernel that was proven complete before the canary was last seen intact is no suspect.
check_innocent() {
	local program
	for program in innocent innocent_per_thread 'innocent given' 'innocent wild'; do
		# shellcheck disable=SC2086 # with an argument
		guarded '' "$edges/"$program
		says "innocent: $program: the one that did it is named" '^(k_flip|k_illegal) x1' "$(suspects "$err")"
		says_not "innocent: $program: the one that was done before is not" 'k_fill' "$(suspects "$err")"
	done
	for program in new ordered kept; do
		guarded "max_overhead=100:quarantine_mb=$([ "$program" != kept ]; echo $?)" "$edges/innocent" "$program"
		says "innocent: $program: only the one that did it is named" '^k_flip x1 on [^;]*$' "$(suspects "$err")"
	done
	guarded '' "$edges/innocent" current
	says "innocent: after a wait for another context either may have" '^k_flip x1.*; k_fill x1' "$(suspects "$err")"
}

# pointed TEXT: the suspects of the one final report in JSON, first to last: a line each, the kernel and where it points.
pointed() {
	grep -F '"status":"final"' <<<"$1" | grep -oE '"kernel":"[^"]*"|"point":"[^"]*"' | cut -d '"' -f 4 | paste -d ' ' - -
}

# Of programs made by chance: the kernel that did it is a suspect, with what its arguments can tell, and mostly the first.
check_random() {
	local seeds=20 first=0 wrong='' seed list
	[ "${GMOD_TEST_TURNS:-}" != all ] || seeds=200
	for ((seed = 1; seed <= seeds; seed++)); do
		guarded log_format=json:log_path=report.log:scan_interval_us=60000000 "$edges/random_launches" "$seed"
		list=$(pointed "$(cat "$work/guarded/report.log")")
		rm -f "$work/guarded/report.log"
		[ "$status" = 0 ] && grep -qxF -- "$out" <<<"$list" || wrong+="$seed: $status, $out; "
		[ "${list%%$'\n'*}" != "$out" ] || first=$((first + 1))
	done
	same "random: of $seeds programs in each the culprit is listed, with what its arguments tell" '' "$wrong"
	# Where its arguments are not known, a kernel that works on a buffer close by comes before it.
	at_least "random: it is the first suspect" $((seeds * 8 / 10)) "$first"
}

# The same programs, where it is done again: a launch of the culprit is caught, and no other kernel alone.
check_caught() {
	local seeds=6 caught=0 wrong='' seed of list
	[ "${GMOD_TEST_TURNS:-}" != all ] || seeds=200
	for ((seed = 1; seed <= seeds; seed++)); do
		guarded log_format=json:log_path=report.log "$edges/random_launches" "$seed" again
		list=$(grep -F '"status":"caught"' "$work/guarded/report.log")
		rm -f "$work/guarded/report.log"
		of=$(grep -o '"message":"caught: [a-z0-9_]*' <<<"$list" | sort -u)
		grep -q "caught: ${out% *}\$" <<<"$of" && caught=$((caught + 1))
		grep -F ' of its thread: ' <<<"$list" | grep -qv "caught: ${out% *}<" && wrong+="$seed: $of; "
	done
	same "caught: of $seeds programs none has an innocent kernel caught alone" '' "$wrong"
	at_least "caught: the culprit is" $((seeds * 8 / 10)) "$caught"
}

# next_of SCRIPT COMMAND...: the next step of a finding in a program that the script COMMAND... runs.
next_of() {
	printf '#!/bin/bash\n%s\n' "$1" >"$work/$2"
	chmod +x "$work/$2"
	guarded '' "$work/$2" "${@:3}"
	next_step
}

next_step() {
	sed -n 's/^    next step: \(gmod --exact .*; or \)\{0,1\}compute-sanitizer --tool memcheck --kernel-name kernel_substring=k_flip//p' <<<"$err" | tail -n 1
}

# The command that is to be run again is the job's, where the process is a part of one.
check_whose_command() {
	local job="$work/job 4"
	local method program=$programs/bad_then_return all=' --target-processes all'
	same "whose_command: a program by itself" " $program" "$(next_of "'$program'; true" job 4)"
	for method in spawn forkserver fork; do
		command -v python3 >/dev/null || {
			skip "whose_command: of multiprocessing, $method" "no python3"
			continue
		}
		guarded '' python3 -B "$top/tests/edges/spawned.py" "$method"
		says "whose_command: of multiprocessing, $method" "$all [^ ]*python[^ ]* -B $top/tests/edges/spawned.py $method\$" \
			"$(next_step)"
	done
	same "whose_command: of torchrun" "$all /bin/bash $work/torchrun --nproc=2 x.py" \
		"$(next_of "RANK=1 '$program' x.py; true" torchrun --nproc=2 x.py)"
	same "whose_command: of mpirun, without gmod" "$all /bin/bash $work/mpirun -np 2 ./app in=1" \
		"$(next_of "'$program'; true" mpirun -np 2 /opt/gmod/bin/gmod --log_path=x -o a=b -- ./app in=1)"
	same "whose_command: of a process that is as its parent, as after a fork" "$all /bin/bash $job" \
		"$(next_of "(exec -a /bin/bash '$program' '$work/job' 4); true" job 4)"
}

# Found while the program does nothing: long after the last driver call, by a kernel that was launched before, or at once
# by one that wakes the monitor.
check_late_write() {
	local size options how
	# The last one has no slack on the device, for which the monitor would stay awake.
	for size in 4096 1000 4096:backend=managed; do
		options=${size#"${size%%:*}"}
		for how in busy query event idle; do
			guarded "log_path=report.log$options" "$edges/late_write" "${size%%:*}" "$how"
			same "late_write $size $how: reported in time" "0 reported" "$status $out"
			says "late_write $size $how: the kernel is a suspect" 'k_flip x1' \
				"$(suspects "$(cat "$work/guarded/report.log")")"
		done
	done
	guarded log_path=report.log "$edges/late_write" 4096 host
	same "late_write by the host: reported in time" "0 reported" "$status $out"
}

# A wait that began before a launch proves nothing of it, however it ends.
check_early_wait() {
	local how
	for how in stream context free given_back copy recorded; do
		# Without a patrol, whose code would wait for the kernels, and the monitor with it.
		CUDA_MODULE_LOADING=EAGER guarded log_path=report.log "$edges/late_write" 1000 "$how"
		same "early_wait $how: reported in time" "0 reported" "$status $out"
	done
}

# A proof dies with its event, whichever ABI destroys that.
check_stale_event() {
	guarded log_path=report.log "$edges/stale_event"
	case $status in
	77) skip stale_event "$err" ;;
	*) same "stale_event: reported in time" "0 reported" "$status $out" ;;
	esac
}

# Not next to the buffer, and of many buffers the last: found although it is put back.
check_far_write() {
	local where options
	while read -r options where; do
		read -ra where <<<"$where"
		guarded "$options" "$edges/far_write" "${where[@]}"
		says "far_write ${where[*]}: reported" "^SUMMARY: GMOD: heap-buffer-overflow .* size 4096 offset \+${where[1]} " "$err"
	done <<-'END'
		backend=device 1 0
		backend=device 1 400
		backend=device 3000 0
		backend=managed 1 1000
		backend=managed 3000 0
	END
}

# While the kernel that did it runs on, the report becomes final.
check_settles() {
	guarded log_path=report.log "$edges/settles"
	same "settles: while the kernel runs" '0 settled' "$status $out"
	says "settles: the kernel is said to be undone" 'k_flip_and_spin x1 .*\(1 not proven complete\)' \
		"$(suspects "$(cat "$work/guarded/report.log")" | tail -n 1)"
	same "settles: once" 1 "$(final_reports "$(cat "$work/guarded/report.log")")"
}

# Threads and times are those of the calls; the threads of kernels are told by their place in the grid.
check_who() {
	local made freed again
	guarded '' "$edges/who"
	read -r made freed again <<<"$out"
	says "who: allocated" " allocated (0\.[3-9]|[1-9][0-9]?\.)[0-9]* s ago by thread $made, fence site 0x[0-9a-f]+\$" "$err"
	says "who: freed" " first freed (0\.[1-9]|[1-9][0-9]?\.)[0-9]* s ago by thread $freed\$" "$err"
	says "who: freed again" " freed again by cuMemFree_v2 in thread $again; the program got CUDA_ERROR_INVALID_VALUE \(1\)\$" "$err"
	guarded '' "$programs/bad_inkernel_invalid_free"
	says "who: what a kernel frees by mistake is nobody's buffer" ' freeN\(0x[0-9a-f]*\) of an address that no allocation returned ' "$err"
	says_not "who: and none is described" '^    buffer ' "$err"
	guarded max_reports=1000:device_free_delay=1000 "$edges/who" kernel
	says "who: allocated by a kernel's thread" ' allocated by mallocN in thread 34 of block 1 of a kernel$' "$err"
	same "who: and all are freed again, each by its own" "200 127 1" "$(sed -nE \
		's/.* freed again by freeN in thread ([0-9]+) of block ([0-9]+) of a kernel$/\1 \2/p' <<<"$err" | sort -u |
		awk '{ n++; if ($1 > thread) thread = $1; if ($2 > block) block = $2 } END { print n + 0, thread, block }')"
}

# What lies on the device is looked at when the program ends, if nobody has before.
check_found_at_exit() {
	guarded scan_interval_us=60000000 "$programs/bad_then_return"
	ended "found_at_exit: one report" 5 1
}

# gmod_check() looks at once, at the device too.
check_asked() {
	guarded scan_interval_us=60000000 "$edges/asked"
	same "asked: each is found by its own look" "0 1 2 3 " "$status $out"
}

# A free waits for the work of the buffer's own context, whichever is current.
check_other_context() {
	guarded scan_interval_us=60000000 "$edges/other_context"
	ended "other_context: one report" 0 1
	says_not "other_context: after the wait the kernels are done" 'not proven complete' "$(suspects "$err")"
	guarded verbosity=1:backend=unified:scan_interval_us=60000000 "$edges/other_context" 3145728 none
	ended "other_context: a large one, where none is current" 0 1
	same "other_context: a large one: no call of ours fails" 0 "$(closing degraded "$err")"
}

check_put_back() {
	local report n
	guarded '' "$edges/restored"
	says "put_back: bytes that were put back are said to be" '^ *changed bytes .*put back' "$err"
	for n in 1 2 3; do
		guarded '' "$edges/exit_while_busy"
		report=$(sed -n '/provisional/d; /^==/,/^SUMMARY/p' <<<"$err")
		says_not "put_back: bytes that were not are not ($n)" 'put back' "$report"
	done
	guarded log_path=report.log "$programs/bad_slack_while_kernel_runs"
	says_not "put_back: nor those in the rounding behind a buffer" 'put back' "$(cat "$work/guarded/report.log")"
}

# k_flip and d_flip change each byte by exclusive or with 0x5a, and what is seen tells of what was there.
check_bytes() {
	local program
	for program in bad_overflow_1 bad_overflow_4 bad_use_after_free bad_between_under bad_inkernel_overflow bad_pool_asked bad_managed_underflow; do
		guarded log_format=json:quarantine_mb=4:max_overhead=100 "$programs/$program"
		same "bytes: $program: each is another than it was, as the kernel changes it" 5a "$(sed -nE \
			's/.*"observed":"([0-9a-f]+)","expected":"([0-9a-f]+)".*/\1 \2/p' <<<"$err" | while read -r new old; do
				for ((i = 0; i < ${#new} || i < ${#old}; i += 2)); do
					printf '%x\n' $((0x${new:i:2} ^ 0x${old:i:2}))
				done
			done | sort -u)"
	done
	same "bytes: no more than have changed" 1 "$(sed -nE 's/^ +changed bytes at [^:]*: (.*), where .*/\1/p' <<<"$(
		guarded max_overhead=100 "$programs/bad_pool_asked"
		echo "$err"
	)" | wc -w)"
}

# In the order in which it happened; and on which GPU.
check_launched() {
	local times
	guarded log_format=json env SIM_DEVICES=2 "$programs/bad_second_device"
	same "launched: on the second GPU" GPU-5a5a5a5a-5a5a-5a5a-5a5a-5a5a5a5a5a01 "$(sed -nE 's/.*"gpu":"([^"]*)".*/\1/p' <<<"$err")"
	times=$(sed -nE 's/.*"allocated":\{"time":"([^"]*)".*"seen":"([^"]*)".*"launched":"([^"]*)".*/\1\n\3\n\2/p' <<<"$err")
	same "launched: behind the allocation, before the change was seen" "3 $(sort <<<"$times")" "$(wc -l <<<"$times") $times"
}

check_nearby() {
	local options
	for options in '' quarantine_mb=4; do
		guarded "$options" "$programs/bad_illegal_address_beside_many"
		same "nearby: $options: the latest eight, the last one first" "$(seq -s ' ' 1012 -1 1005)" \
			"$(sed -nE 's/^ +live buffer: ([0-9]+) bytes .*/\1/p' <<<"$err" | xargs)"
	done
}

# What a frame shows behind the module's name is what addr2line wants.
check_addresses() {
	local program address
	if ! command -v addr2line >/dev/null; then
		skip addresses "there is no addr2line"
		return
	fi
	for program in pie not_pie; do
		guarded '' "$edges/$program"
		address=$(sed -nE "s/^ +#[0-9]+ main  $program\\+(0x[0-9a-f]+)\$/\\1/p" <<<"$err")
		says "addresses: $program: main is in the stack" '^0x[0-9a-f]+$' "$address"
		same "addresses: $program: addr2line finds it" main "$(addr2line -f -e "$edges/$program" "$address" | head -n 1)"
		same "addresses: $program: its file" "$edges/$program build-id $(readelf -n "$edges/$program" |
			sed -n 's/^ *Build ID: //p')" "$(sed -nE "s/^ +module (.*\/$program )/\1/p" <<<"$err")"
	done
}

# What is nobody's here is counted by kind where it succeeds, in the text and in JSON.
check_foreign() {
	as_alone foreign verbosity=1 "$programs/good_every_foreign"
	same "foreign: the closing line" "6 imports from other processes; 2 imports of pools; 2 mappings of external memory; \
2 mappings of graphics; 8 multicast bindings; 4 decompressions" "$(grep -o '[0-9]* imports from.* decompressions' <<<"$err")"
	guarded verbosity=1:log_format=json "$programs/good_every_foreign"
	says "foreign: in JSON" '"ipc_imports":6,"pool_imports":2,.*"graphics_mappings":2,"multicast_bindings":8,' "$err"
}

# accounted NAME OPTIONS PROGRAM [ARGUMENT...]: the closing line says what the program has counted by itself, in JSON.
accounted() {
	local member missing=
	guarded "log_format=json:verbosity=1:max_overhead=100$2" env SIM_MEMORY=134217728 "$edges/$3" "${@:4}"
	same "accounts$1: the program runs" 0 "$status$([ "$status" = 0 ] || printf ': %s' "$err")"
	for member in $out; do
		grep -qF -- "$member" <<<"$err" || missing+=" $member"
	done
	same "accounts$1: the same sums" '' "${missing:+$missing in $err}"
}

check_accounts() {
	accounted '' '' accounts
	accounted ', unified' :backend=unified accounts
	accounted ', managed' :backend=managed accounts
	accounted ', sampled' :sample_rate=3 accounts 3
	accounted ', capped' :redzone_mb=8 accounts 1 8
	guarded verbosity=1 env SIM_FAIL=cuMemcpy2DAsync_v2:1 "$programs/good_axpy"
	says "accounts: what cannot be armed is native" 'guarded 2 of 3 buffers, 390\.6 KiB of 781\.2 KiB .*; [1-9] degraded' "$err"
}

# member NAME TEXT: its number in the closing line's JSON.
member() {
	sed -nE "s/.*\"event\":\"summary\".*\"$1\":([0-9]+),.*/\1/p" <<<"$2"
}

# Of 1999 findings that come at once the device has no room for most, and one is shown.
check_accounts_in_kernel() {
	local findings lost
	accounted ', in kernels' :max_reports=1 accounts_in_kernel
	findings=$(member findings "$err") lost=$(member kernel_findings_lost "$err")
	same "accounts: findings of kernels are there or lost" 1999 $((findings + lost))
	says "accounts: and shown or not" "\"$((findings - 1)) findings were counted and not shown: $((findings - 1)) beyond max_reports=1," "$err"
}

run_checks "$@"
