#!/usr/bin/env bash
# What the parts of the bench share: what they run on, and their records. Sourced.
#
# A part has sections. A section is a function section_NAME, which hands its results to `result`, a line each. All lines
# of a section so far go through bench/PART.awk, which makes tables and verdicts of them, or are the list that they are
# where there is no such file; and the record is written anew, so that a run that is cut off leaves what it had. Sections
# that were not asked for stay if they were recorded at the same commit on the same kind of device. A part may have its
# own `device`, `header` and `build_programs`, and set `record`, where its record goes (default: bench/PART.md).
#
# A verdict is a list item that begins with "met:", "missed:", "not measured:" or "FAIL:".

build=${BUILD:-build}
mkdir -p "$build/bench" || exit 2
build=$(cd "$build" && pwd)
export library=$build/libgmod.so

# shellcheck source=machine.bash
. bench/machine.bash

header() {
	echo "# $title"
	echo
	echo "Written by \`bench/run $part\`."
	echo
	echo "- device: $the_device"
	echo "- driver: $(driver)"
	echo "- CUDA: $(cuda)"
	echo "- commit: $the_commit"
	echo "- date: $(date -u +%Y-%m-%dT%H:%MZ)"
}

# ---- the record ----

# What the record already holds of this commit and device.
keep_sections() {
	local name
	rm -f "$lines"/*.md
	grep -qxF -- "- commit: $the_commit" "$record" 2>/dev/null && grep -qxF -- "- device: $the_device" "$record" || return
	for name in "${sections[@]}"; do
		awk -v name="$name" '/^## / { on = $2 == name; next } on && (NF || text) { text = text $0 "\n" }
			END { sub(/\n+$/, "\n", text); printf "%s", text }' "$record" >"$lines/$name.md"
	done
}

verdicts() {
	cat "$lines"/*.md 2>/dev/null | awk '/^- (met|missed|not measured|FAIL):/ { sub(/^- /, ""); sub(/:.*/, ""); n[$0]++ }
		END { printf "%d met, %d missed, %d not measured, %d failed\n", n["met"], n["missed"], n["not measured"], n["FAIL"] }'
}

write_record() {
	local name
	{
		cat "$lines/header"
		printf '\n%s\n' "$(verdicts)"
		for name in "${sections[@]}"; do
			[ -s "$lines/$name.md" ] || continue
			printf '\n## %s\n\n' "$name"
			cat "$lines/$name.md"
		done
	} >"$record.new" && mv "$record.new" "$record"
}

# result LINE: of the section that runs.
result() {
	echo "$*"
	echo "$*" >>"$lines/$section.raw"
	if [ -f "bench/$part.awk" ]; then
		awk -v "section=$section" -f "bench/$part.awk" "$lines/$section.raw" >"$lines/$section.md"
	else
		sed 's/^/- /' "$lines/$section.raw" >"$lines/$section.md"
	fi
	write_record
}

# under ARM OPTIONS COMMAND...: ARM is cuda or again (without GMOD), slab or native. Standard error goes to $lines/stderr.
under() {
	local arm=$1 options=$2
	shift 2
	case $arm in
	cuda | again) env -u LD_PRELOAD -u GMOD_OPTIONS timeout -k 5 75 "$@" ;;
	*)
		timeout -k 5 75 env "LD_PRELOAD=$library" \
			"GMOD_OPTIONS=device_heap=$arm:log_path=$lines/reports.log${options:+:$options}" "$@"
		;;
	esac 2>"$lines/stderr"
}

# outcome STATUS: how a process ended that did not say it itself.
outcome() {
	case $1 in
	124 | 137) echo "it did not end within 75 s" ;;
	*) echo "exit status $1${2:+: $2}" ;;
	esac
}

# ---- all of it ----

build_programs() {
	if ! make -j"$(nproc)" all bench-programs >"$lines/build.log" 2>&1; then
		tail -n 30 "$lines/build.log" >&2
		exit 2
	fi
}

# record_run PART TITLE SECTIONS [WANTED...]: run the sections that are wanted, or all.
record_run() {
	local wanted
	part=$1 title=$2
	read -ra sections <<<"$3"
	shift 3
	wanted=("$@")
	[ $# -gt 0 ] || wanted=("${sections[@]}")
	record=${record:-bench/$part.md}
	lines=$build/bench/record/$part
	mkdir -p "$lines" || exit 2
	the_device=$(device)
	if [ -z "$the_device" ]; then
		echo "bench: no NVIDIA GPU here (nvidia-smi lists none)" >&2
		exit 77
	fi
	for section in "${wanted[@]}"; do
		declare -F "section_$section" >/dev/null || { echo "bench: $part has no section $section" >&2 && exit 2; }
	done
	the_commit=$(commit)
	build_programs
	header >"$lines/header"
	keep_sections
	for section in "${wanted[@]}"; do
		: >"$lines/$section.raw"
		rm -f "$lines/$section.md"
		"section_$section"
	done
	write_record
	grep -E '^- (missed|not measured|FAIL):' "$record" | sed 's/^- /bench: /'
	echo "bench: $(verdicts): $record"
	! grep -q '^- FAIL:' "$record"
}
