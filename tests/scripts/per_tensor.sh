#!/usr/bin/env bash
# gmod --per-tensor and --hunt: what each framework gets, what is never overridden, and what reaches the ranks of a job.
. "$(dirname "$0")/testlib"
gmod=$top/scripts/gmod
unset PYTORCH_CUDA_ALLOC_CONF PYTORCH_ALLOC_CONF TF_GPU_ALLOCATOR XLA_PYTHON_CLIENT_ALLOCATOR

# environment: what the command gets of the frameworks' variables.
environment() {
	# shellcheck disable=SC2016 # the command expands it
	outcome "$@" sh -c 'echo $PYTORCH_CUDA_ALLOC_CONF,$PYTORCH_ALLOC_CONF,$TF_GPU_ALLOCATOR,$XLA_PYTHON_CLIENT_ALLOCATOR'
}

environment "$gmod"
same "nothing by itself" ",,," "$out"
for switch in --per-tensor --per_tensor --per-tensor={yes,true,1}; do
	# shellcheck disable=SC2086 # several words, in one of the cases
	environment "$gmod" $switch
	same "$switch: all are set" "backend:cudaMallocAsync,,cuda_malloc_async,cuda_async" "$out"
	same "$switch: nothing is said" "" "$err"
done
environment env PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64 TF_GPU_ALLOCATOR=x XLA_PYTHON_CLIENT_ALLOCATOR=platform "$gmod" --per-tensor
same "what is set is kept" "max_split_size_mb:64,,x,platform" "$out"
says "which is said" '^gmod: PYTORCH_CUDA_ALLOC_CONF=max_split_size_mb:64 is kept .* PyTorch needs backend:cudaMallocAsync there$' "$err"
same "of each" 3 "$(grep -c 'is kept as you set it' <<<"$err")"
environment env PYTORCH_ALLOC_CONF=expandable_segments:True "$gmod" --per-tensor
same "by PyTorch's other name, too" ",expandable_segments:True,cuda_malloc_async,cuda_async" "$out"
says "which is said as well" '^gmod: PYTORCH_ALLOC_CONF=expandable_segments:True is kept ' "$err"
environment env PYTORCH_ALLOC_CONF=backend:cudaMallocAsync,max_split_size_mb:64 "$gmod" --per-tensor
same "nothing is said of what is good" "" "$err"

options_of() {
	outcome "$gmod" "$@" printenv GMOD_OPTIONS
}
options_of --per-tensor
same "the library knows" "verbosity=1:symbolize=1:per_tensor=1" "$out"
options_of --hunt
same "--hunt guards all" "verbosity=1:symbolize=1:max_overhead=100" "$out"
options_of --hunt --max_overhead=5
same "an option counts more" "verbosity=1:symbolize=1:max_overhead=100:max_overhead=5" "$out"
expect "--explain-env" 0 env TF_GPU_ALLOCATOR=x "$gmod" --per-tensor --hunt --explain-env
says "--explain-env: what is set" '^XLA_PYTHON_CLIENT_ALLOCATOR=cuda_async$' "$out"
says "--explain-env: what is kept" '^TF_GPU_ALLOCATOR=x$' "$out"
same "--explain-env: nothing on standard error" "" "$err"

# ---- jobs of several ranks ----

# A trainer that allocates as PyTorch does by its setting, and overruns a tensor; one with a setting of its own.
programs=$build/sim/programs
export LD_LIBRARY_PATH=$build/sim GMOD_TEST_KERNELS=$build/sim/kernels.so
cat >"$work/trainer" <<TRAINER
#!/bin/sh
[ "\$1" != stubborn ] || PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True
case \${PYTORCH_ALLOC_CONF:-\$PYTORCH_CUDA_ALLOC_CONF} in
backend:cudaMallocAsync) exec "$programs/bad_pool_one_stream" ;;
expandable_segments:True) exec "$programs/good_vmm" ;;
*) exec "$programs/bad_then_return" ;;
esac
TRAINER

# Each launcher starts three ranks with its own variables, and ends as the worst of them.
for launcher in torchrun:RANK mpirun:OMPI_COMM_WORLD_RANK srun:SLURM_PROCID; do
	cat >"$work/${launcher%:*}" <<-LAUNCHER
	#!/bin/bash
	for rank in 0 1 2; do
		${launcher#*:}=\$rank "\$@" &
		pids+=(\$!)
	done
	for pid in "\${pids[@]}"; do wait \$pid || worst=\$?; done
	exit \${worst:-0}
	LAUNCHER
done
chmod +x "$work"/{trainer,torchrun,mpirun,srun}

# ranks NAME STATUS PATTERN COMMAND...: what the log of each rank has.
ranks() {
	local rank
	rm -f "$work"/log.*
	expect "$1: exit status" "$2" "${@:4}"
	for rank in 0 1 2; do
		says "$1: rank $rank" "$3" "$(cat "$work/log.$rank")"
	done
}
log=--log_path=$work/log.%r
all='GMOD: .* 100 allocations in stream order .*, 100 guarded'
ranks "torchrun" 0 "$all" "$gmod" --per-tensor --hunt "$log" "$work/torchrun" "$work/trainer"
ranks "mpirun" 0 "$all" "$work/mpirun" "$gmod" --per-tensor --hunt "$log" "$work/trainer"
ranks "srun" 0 "$all" "$work/srun" "$gmod" --per-tensor --hunt "$log" "$work/trainer"
ranks "without it" 5 'guarded 1 of 1 buffer,' "$gmod" "$log" "$work/torchrun" "$work/trainer"
did_not='per-tensor guarding did not take effect: .*sets its allocator itself, as by expandable_segments:True'
ranks "a trainer with a setting of its own" 0 "$did_not" "$gmod" --per-tensor "$log" "$work/torchrun" "$work/trainer" stubborn
says_not "is not told so unasked" 'did not take effect' "$("$gmod" "$work/trainer" stubborn 2>&1)"
says "but what would help" 'nearly all of it is mappings: gmod --per-tensor ' "$("$gmod" "$work/trainer" stubborn 2>&1)"
finish
