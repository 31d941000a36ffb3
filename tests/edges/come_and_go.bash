# shellcheck shell=bash disable=SC2154 # edgelib's variables
# come_and_go ARGUMENT...: runs edges/come_and_go.c. When all is done, nothing of it is a suspect, and nobody wakes.
come_and_go() {
	local woken
	guarded log_path=report.log "$edges/come_and_go" "$@"
	same "come_and_go: done" 0 "$status"
	same "come_and_go: only the one that did it is a suspect" 'k_flip x1' \
		"$(sed -n 's/^ *suspects: //p' "$work/guarded/report.log" | grep -oE '[a-z_]+ x[0-9]+' | sort -u)"
	woken=${out#*woken }
	[ "${woken:-99}" -le 4 ]
	judge "come_and_go: the monitor sleeps" $? "woken $woken times in 2 s"
}
