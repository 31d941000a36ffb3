#!/usr/bin/env bash
# What mallocN costs a kernel that calls it, by what the compiler makes of it: registers, stack, code and time.
#
# GMOD_TEST_THOROUGH (set by `make test-all`): on all architectures, else on one.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

NVCC=${NVCC:-$(command -v nvcc)}
limit=120 err=
architectures=(90)
[ -z "${GMOD_TEST_THOROUGH:-}" ] || architectures=(75 80 90 100)

most_registers=64
most_stack=512         # bytes a thread
most_code=49152        # bytes of a kernel beyond those with CUDA's malloc: it has copies of all that it calls
most_shared_code=65536 # likewise where kernels share what they call: relocatable device code
most_guard=65536       # bytes of the guard kernel and all that it calls
most_of_debug=(80 768 393216 262144) # registers, stack, code and guard with -G, which optimizes nothing
most_milliseconds=4000 # of CPU time for a unit, beyond what it takes with CUDA's malloc

# cpu_time: $spent is the CPU time in ms of all processes that this one has waited for.
cpu_time() {
	times >"$work/times"
	spent=$(awk -F '[ms ]' 'END { printf "%d", ($1 * 60 + $2 + $4 * 60 + $5) * 1000 }' "$work/times")
}

# build FILE OPTION...: compiles the unit; $took is the CPU time in ms.
build() {
	local before
	cpu_time
	before=$spent
	launch "$1.log" "$NVCC" "-I$top/include" "${@:2}" -o "$1" "$top/tests/edges/kernel_cost.cu"
	cpu_time
	took=$((spent - before))
}

# within LIMIT NUMBER: a number it is, too.
within() {
	[[ $2 =~ ^-?[0-9]+$ ]] && [ "$2" -le "$1" ]
}

# cost ARCHITECTURE PAIRS [-rdc=true|-G]
cost() {
	local options=("-arch=sm_$1" "-DPAIRS=$2") name="sm_$1, pairs: $2" registers stack code guard cudas own
	local most=("$most_registers" "$most_stack" "$most_code" "$most_guard")
	if [ "${3:-}" = -G ]; then
		name="$name, for a debugger" most=("${most_of_debug[@]}")
		options+=(-G)
	fi
	rm -f "$work"/*.cubin "$work"/*.o
	if [ "${3:-}" != -rdc=true ]; then
		build "$work/cudas.cubin" "${options[@]}" -cubin -DCUDAS
		cudas=$took
		build "$work/unit.cubin" "${options[@]}" -cubin
	else
		name="$name, relocatable" most[2]=$most_shared_code
		build "$work/cudas.o" "${options[@]}" "$3" -c -DCUDAS
		cudas=$took
		launch "$work/link" "$NVCC" "-arch=sm_$1" -dlink -cubin -o "$work/cudas.cubin" "$work/cudas.o"
		build "$work/unit.o" "${options[@]}" "$3" -c
		launch "$work/link" "$NVCC" "-arch=sm_$1" -dlink -cubin -o "$work/unit.cubin" "$work/unit.o"
	fi
	python3 -B tests/edges/cubin.py "$work/unit.cubin" k_pairs gmod_unit_guard >"$work/figures" 2>"$work/why"
	read -r -d '' registers stack code _ _ guard <"$work/figures"
	python3 -B tests/edges/cubin.py "$work/cudas.cubin" k_pairs >"$work/figures" 2>>"$work/why"
	read -r -d '' _ _ own <"$work/figures"
	code=$((code - own))
	within "${most[0]}" "$registers" && within "${most[1]}" "$stack" && within "${most[2]}" "$code" &&
		within "${most[3]}" "$guard" && within "$most_milliseconds" $((took - cudas))
	judge "$name: $registers registers, $stack bytes of stack, $code bytes of code, guard $guard, $took ms beside $cudas" $? \
		"at most: ${most[*]}, $most_milliseconds ms more" \
		"$(head -qn 5 "$work"/unit.*.log.err "$work"/why)"
}

check_cost() {
	local architecture pairs
	if [ -z "$NVCC" ]; then
		skip cost "there is no nvcc"
		return
	elif ! has_changed include "${0#"$top/"}" tests/edges/kernel_cost.cu; then
		skip cost "nothing of it has changed"
		return
	fi
	for architecture in "${architectures[@]}"; do
		for pairs in 1 6; do
			cost "$architecture" "$pairs"
			cost "$architecture" "$pairs" -rdc=true
		done
		cost "$architecture" 6 -G
	done
}

run_checks "$@"
