#!/usr/bin/env bash
# What records say they are of: the commit, and the machine. Sourced, in the top directory.

# GMOD_COMMIT, where this is no git checkout. Records of the runs themselves are no changes.
commit() {
	local dirty records=(':!bench/*.md' ':!bench/results' ':!tests/gpu/last-run*' ':!tests/gpu/conformance*')
	if [ -n "${GMOD_COMMIT:-}" ]; then
		echo "$GMOD_COMMIT"
	elif git rev-parse --git-dir >/dev/null 2>&1; then
		dirty=$(git status --porcelain -- . "${records[@]}" 2>/dev/null | head -n 1)
		echo "$(git rev-parse HEAD)${dirty:+ with changes}"
	else
		echo unknown
	fi
}

device() {
	nvidia-smi --query-gpu=name --format=csv,noheader 2>/dev/null | sort | uniq -c | sed 's/^ *\([0-9]*\) /\1 x /' |
		paste -sd ', ' -
}

driver() {
	nvidia-smi --query-gpu=driver_version --format=csv,noheader 2>/dev/null | head -n 1
}

cuda() {
	"${NVCC:-${CUDA_HOME:-/usr/local/cuda}/bin/nvcc}" --version 2>/dev/null | sed -n 's/.*release \([0-9.]*\).*/\1/p'
}
