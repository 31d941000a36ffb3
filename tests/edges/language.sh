#!/usr/bin/env bash
# What gmod_device.cuh can be compiled as: without a warning, and host code and members of others stay what they are.
#
# GMOD_TEST_THOROUGH (set by `make test-all`): every language there is, and NVRTC is fetched where it is missing.
# shellcheck source=edgelib disable=SC2317 # checks are called by their names
. "$(dirname "$0")/edgelib"

source=$top/tests/edges/language.cu
includes=("-I$top/include")
limit=60 err=
NVCC=${NVCC:-$(command -v nvcc)} CUDA_HOME=${CUDA_HOME:-/usr/local/cuda}
thorough=${GMOD_TEST_THOROUGH:-}
changed=yes
has_changed include tests/edges/language.sh tests/edges/language.cu || changed=no

# needs_nvcc NAME
needs_nvcc() {
	if [ -z "$NVCC" ]; then
		skip "$1" "there is no nvcc"
	elif [ "$changed" = no ]; then
		skip "$1" "nothing of it has changed"
	else
		return 0
	fi
	return 1
}

# compile NAME OPTION...: by nvcc, without code for a GPU, into $work/NAME; a warning is an error.
compile() {
	launch "$work/$1.log" "$NVCC" -Werror all-warnings -Xcompiler -Wall,-Wextra,-Werror -gencode \
		arch=compute_75,code=compute_75 "${includes[@]}" "${@:2}" -o "$work/$1" "$source"
	judge "$1: compiled, without a warning" "$status" "$(head -n 12 "$work/$1.log.err")"
}

# calls_of_cuda NAME PTX: where malloc and free are replaced, only functions of GMOD's call CUDA's.
calls_of_cuda() {
	local calls
	calls=$(awk '/^\.(visible|weak|func|entry)/ { caller = $0 }
		/^\t(malloc|free|__cuda_syscall_aligned_malloc), / { print caller }' "$2")
	same "$1: calls of CUDA's malloc and free by others" '' \
		"$(grep -vE '[0-9]gmod_[a-z_]+[EI]' <<<"$calls")"
	at_least "$1: calls of CUDA's malloc and free" 2 "$(grep -cE '[0-9]gmod_plain_(malloc|free)E' <<<"$calls")"
}

# Host code of what comes out has the host's allocator by all names: it runs without a GPU.
check_nvcc() {
	local standard place others
	needs_nvcc nvcc || return
	mkdir "$work/keep"
	for standard in 11 ${thorough:+14 17} 20; do
		place=BEFORE
		[ "$standard" -lt 20 ] || place=AFTER
		compile "nvcc-$standard" "-std=c++$standard" "-D$place" -keep -keep-dir "$work/keep"
		[ "$status" -ne 0 ] || launch "$work/run" "$work/nvcc-$standard"
		same "nvcc-$standard: host code" 0 "$status"
		calls_of_cuda "nvcc-$standard" "$work/keep/language.ptx"
		[ -n "$thorough" ] || continue
		compile "rdc-$standard" "-std=c++$standard" -rdc=true
		compile "own-$standard" "-std=c++$standard" -DNO_REPLACE
		[ "$standard" -ge 17 ] || continue # Thrust and libcu++ want that
		for others in AFTER BEFORE; do
			compile "cccl-$standard-$others" "-std=c++$standard" -DCCCL "-D$others"
		done
	done
}

# As the compiler of host code clang has warnings that gcc has not: of static functions that nobody calls.
check_clang() {
	local host=(-ccbin clang++ -allow-unsupported-compiler)
	needs_nvcc clang || return
	echo 'int main() { return 0; }' >"$work/plain.cu"
	launch "$work/plain.log" "$NVCC" "${host[@]}" -gencode arch=compute_75,code=compute_75 -o "$work/plain" "$work/plain.cu"
	if [ "$status" -ne 0 ]; then
		skip clang "there is no clang++ that nvcc takes for host code"
		return
	fi
	compile clang "${host[@]}"
	[ -n "$thorough" ] || return
	compile clang-rdc "${host[@]}" -rdc=true
	compile clang-own "${host[@]}" -DNO_REPLACE
}

# The linker's optimizer leaves the link to the heap, which only the host writes to, and the guard that reads it.
check_link_time() {
	local code options=(-dlto -arch=sm_75 "${includes[@]}")
	needs_nvcc link_time || return
	printf '__global__ void kernel(int *p)\n{\n\t*p = 1;\n}\n' >"$work/plain.cu"
	printf '#include <gmod_device.cuh>\n__global__ void kernel(void **p)\n{\n\tp[1] = mallocN(8);\n\tfreeN(p[0]);\n}\n' \
		>"$work/unit.cu"
	launch "$work/plain.log" "$NVCC" "${options[@]}" -dc -o "$work/plain.o" "$work/plain.cu"
	launch "$work/link" "$NVCC" "${options[@]}" -dlink -cubin -o "$work/plain" "$work/plain.o"
	if [ "$status" -ne 0 ]; then
		skip link_time "nvlink cannot optimize here: $(head -n 1 "$work/link.err")"
		return
	fi
	launch "$work/unit.log" "$NVCC" "${options[@]}" -dc -o "$work/unit.o" "$work/unit.cu"
	launch "$work/link" "$NVCC" "${options[@]}" -dlink -cubin -o "$work/unit" "$work/unit.o"
	same "link_time: it can be linked" 0 "$status"
	same "link_time: a link to the heap" 1 "$(readelf -sW "$work/unit" | grep -c ' OBJECT .* gmod_unit_heap$')"
	python3 -B tests/edges/cubin.py "$work/unit" gmod_unit_guard >"$work/figures"
	read -r _ _ code <"$work/figures"
	at_least "link_time: bytes of the guard" 4096 "${code:-0}"
}

# Two units of relocatable device code share one link to the heap in any language.
check_units() {
	local standard unit
	[ -n "$thorough" ] || return
	needs_nvcc units || return
	printf '#include <gmod_device.cuh>\n__global__ void KERNEL(void **p)\n{\n\tp[1] = mallocN(8);\n\tfreeN(p[0]);\n}\n' \
		>"$work/unit.cu"
	for standard in 11 20; do
		for unit in one two; do
			source=$work/unit.cu compile "$unit.o" "-std=c++$standard" -rdc=true -c "-DKERNEL=$unit"
		done
		launch "$work/link" "$NVCC" -arch=sm_75 -dlink -cubin -o "$work/linked" "$work/one.o" "$work/two.o"
		same "units-$standard: they can be linked" 0 "$status"
		same "units-$standard: one link to the heap" 1 "$(readelf -sW "$work/linked" | grep -c ' gmod_unit_[a-z]*$')"
	done
}

# nvrtc_of RELEASE: in $library the file of it; fetched from PyPI if that is allowed.
nvrtc_of() {
	local folder=$build/nvrtc/$1 package=nvidia-cuda-nvrtc
	[ "$1" -ge 13 ] || package+=-cu$1
	library=$(find -L "$folder" "$CUDA_HOME/lib64" -name "libnvrtc.so.$1" 2>/dev/null | head -n 1)
	[ -z "$library" ] && [ -n "$thorough" ] || return
	python3 -m pip download --quiet --no-deps --dest "$work/wheel" "$package" 2>"$work/pip.err" &&
		python3 -m zipfile -e "$work"/wheel/*.whl "$work/unpacked" && mkdir -p "$build/nvrtc" &&
		rm -rf "$folder" && mv "$work/unpacked" "$folder"
	library=$(find "$folder" -name "libnvrtc.so.$1" 2>/dev/null)
	rm -rf "$work/wheel"
}

check_nvrtc() {
	local release options out status cccl=("-I$CUDA_HOME/include/cccl")
	local all=(--std=c++17)
	[ -z "$thorough" ] || all=(--std=c++11 --std=c++14 --std=c++17 --std=c++20 '--std=c++11 -rdc=true'
		'--std=c++17 -rdc=true' '--std=c++20 -DBEFORE' '--std=c++20 -DNO_REPLACE' '--std=c++17 -DCCCL'
		'--std=c++20 -DCCCL -DBEFORE')
	for release in 12 13; do
		[ "$changed" = yes ] || {
			skip "nvrtc-$release" "nothing of it has changed"
			continue
		}
		nvrtc_of "$release"
		if [ -z "$library" ]; then
			skip "nvrtc-$release" "there is no NVRTC of this release"
			continue
		fi
		for options in "${all[@]}"; do
			# shellcheck disable=SC2086 # several words
			out=$(env -u LD_LIBRARY_PATH python3 -B tests/edges/nvrtc.py "$library" "$source" --gpu-architecture=compute_75 \
				"${includes[@]}" "${cccl[@]}" $options 2>&1)
			status=$?
			same "nvrtc-$release $options: compiled, without a warning" '0 ' "$status $(head -n 12 <<<"$out")"
		done
	done
}

run_checks "$@"
