#!/usr/bin/env bash
# journal=DIR: what is written of launches, also where files, processes and descriptors are difficult.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

program=$edges/journalled

# journalled HOW...: the program, with a journal in $work/journal that was not there; its words in $out.
journalled() {
	rm -rf "$work/journal"
	guarded "journal=$work/journal" "$program" "$@"
}

# holds NAME COUNTS: so much is in the journals, a line each, and all of it is as described.
holds() {
	same "$1" "$2" "$(python3 -B tests/edges/journal.py "$work/journal" 2>&1)"
}

# tells NAME LAUNCHES
tells() {
	same "$1" "$2" "$(python3 -B tests/edges/journal.py "$work/journal" launches 2>&1)"
}

check_launches() {
	journalled same 3
	holds "the same launches: one line" '1 image 1 function 1 site 1 launch end 3 3 0'
	tells "the same launches" 'k_fill 1x32 device+0/4096 0 1 7'
	same "nothing is said" '' "$err"
	says "how it is run again" '"command":"[^"]*journalled same 3","per_tensor":false}$' "$(head -qn 1 "$work"/journal/*.journal)"
	guarded "per_tensor=1:journal=$work/per_tensor" "$program" same 3
	says "for each tensor" '"per_tensor":true}$' "$(head -qn 1 "$work"/per_tensor/*.journal)"
	same "the folder, the files: for their owner only" "700 600 600" "$(stat -c %a "$work/journal" "$work"/journal/* | xargs)"
	journalled places
	holds "buffers" '1 image 1 function 3 site 6 launch end 6 6 0'
	tells "buffers: where pointers lead" "k_fill 1x32 device+0/4096 0 0 1
k_fill 1x32 device+4095/4096 0 0 1
k_fill 1x32 device+4096/4096 0 0 1
k_fill 1x32 pinned+0/100 0 0 1
k_fill 1x32 managed+10/1000 0 0 1
k_fill 1x32 12345 0 0 1"
	journalled reused 2
	tells "memory that is used again: each buffer" "k_fill 1x32 device+0/4096 0 1 7
k_fill 1x32 device+0/4000 0 1 7"
	journalled graph 3
	holds "a graph: its nodes" '1 image 1 function 1 site 2 launch end 2 2 0'
	tells "a graph: each node" "k_fill 2x64 clusters 2 device+0/4096 0 1 3 graph
k_fill 2x64 device+0/4096 0 1 4 graph"
}

# functions NAME FUNCTIONS: so often each was launched, and looked at.
functions() {
	same "$1" "$2" "$(python3 -B tests/edges/journal.py "$work/journal" functions 2>&1)"
}

check_functions() {
	journalled counting 1500
	functions "how often a function was launched, and looked at" 'k_fill, image known: 1500 1008'
	journalled graph 3
	functions "a graph's: once a node" 'k_fill, image known: 2 2'
	journalled direct
	functions "a library's kernel, and its function" "k_fill, image known: 1 1
k_fill, image known: 1 1"
	journalled captured 3
	functions "a library's kernel in a graph" 'k_fill, image known: 1 1'
	tells "its launch" 'k_fill 2x64 device+0/4096 0 1 5 graph'
	journalled linked 3
	holds "PTX that is linked is an image" '2 image 1 function 1 site 1 launch end 3 3 0'
	same "it is there" 1 "$(grep -l "entry k_fill" "$work"/journal/*.image | wc -l)"
}

check_off() {
	guarded '' "$program" same 3
	same "off: no file" '' "$(find "$work/guarded" -type f)"
	same "off: nothing is said" '' "$err"
}

check_many() {
	journalled counting 1000
	holds "1000 launches: 64, and the next 64 extremes" '1 image 1 function 1 site 128 launch end 1000 1000 0'
	says "1000 launches: the 128th value is there" ' 127$' "$(python3 -B tests/edges/journal.py "$work/journal" launches | tail -n 1)"
	journalled counting 7400
	holds "one in 64 is looked at after 1000" '1 image 1 function 1 site 128 launch end 7400 1100 0'
	journalled threads 200
	says "four threads: all launches are counted" ' end 800 [0-9]+ 0$' "$(python3 -B tests/edges/journal.py "$work/journal" 2>&1)"
}

check_processes() {
	journalled forked 4
	holds "a child has none" '1 image 1 function 1 site 5 launch end 8 8 0'
	rm -rf "$work/journal"
	guarded "journal=$work/journal" bash -c "'$program' same 2 & '$program' same 2; wait"
	holds "two processes in one folder" "1 image 1 function 1 site 1 launch end 2 2 0
1 image 1 function 1 site 1 launch end 2 2 0"
	same "two processes: one image" 1 "$(find "$work/journal" -name '*.image' | wc -l)"
	same "nothing else is left" '' "$(find "$work/journal" -type f ! -name '*.image' ! -name '*.journal')"
	journalled exec 2
	same "an exec: it becomes another" another "$out"
	holds "an exec: what came before is there" '1 image 1 function 1 site 1 launch end 2 2 0'
}

check_ends() {
	journalled aborted 3
	same "an abort: as natively" 134 "$status"
	holds "an abort: the end is there" '1 image 1 function 1 site 1 launch end 3 3 0'
	rm -rf "$work/journal"
	guarded "journal=$work/journal" bash -c "'$program' then 2 >'$work/ready' & until grep -q ready '$work/ready'; do sleep 0.05; done; kill -9 \$!"
	holds "killed: what came before is there" '1 image 1 function 1 site 1 launch cut'
	journalled same 2
	printf '{"launch":2,"fun' >>"$(echo "$work"/journal/*.journal)"
	holds "a torn line does not count" '1 image 1 function 1 site 1 launch end 2 2 0'
}

check_descriptors() {
	journalled closed 5
	same "all closed: the file that took the numbers is its own" '0 0 bytes' "$status $out"
	holds "all closed: the journal goes on" '1 image 1 function 1 site 6 launch end 10 10 0'
	run_in guarded env "LD_PRELOAD=$edges/plugin_no_unshare.so:$gmod" "GMOD_OPTIONS=journal=$work/journal.2" "$program" closed 5
	same "all closed, no table of its own: the same" '0 0 bytes' "$status $out"
	mv "$work/journal.2" "$work/journal.3" && rm -rf "$work/journal" && mv "$work/journal.3" "$work/journal"
	holds "all closed, no table of its own: it goes on" '1 image 1 function 1 site 6 launch end 10 10 0'
}

# given_up NAME WHY: the program is as without GMOD, and one line says why there is no journal (any more).
given_up() {
	same "$1: the program's status" 0 "$status"
	says "$1: it is said" "$2" "$err"
	same "$1: and nothing else" 1 "$(wc -l <<<"$err")"
}

check_not_possible() {
	journalled limit 60
	given_up "a limit" '^==[0-9]+==GMOD: the journal of launches ends here: .*/journal/.*\.journal: '
	says "a limit: what is there can be read" ' cut$' "$(python3 -B tests/edges/journal.py "$work/journal" 2>&1)"
	same "a limit: no part of an image" '' "$(find "$work/journal" -type f ! -name '*.image' ! -name '*.journal')"
	guarded "journal=$work/none/journal" "$program" same 3
	given_up "no such folder" 'GMOD: the journal of launches ends here: .*: No such file or directory$'
	guarded "journal=$program" "$program" same 3
	given_up "a file" 'GMOD: the journal of launches ends here: .*: Not a directory$'
	mkdir "$work/elsewhere"
	if unshare -rm true 2>/dev/null; then
		guarded "journal=$work/elsewhere" unshare -rm bash -c \
			"mount -t tmpfs -o size=4k,mode=700 none '$work/elsewhere' && exec '$program' same 3"
		given_up "a full disk" 'GMOD: the journal of launches ends here: .*: (No space left on device|a part is not written)$'
		guarded "journal=$work/elsewhere" unshare -rm bash -c \
			"mount -t tmpfs -o ro none '$work/elsewhere' && exec '$program' same 3"
		given_up "read-only" 'GMOD: the journal of launches ends here: .*: Read-only file system$'
	else
		skip "a full disk" "no mounts here"
	fi
}

run_checks "$@"
