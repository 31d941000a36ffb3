#!/usr/bin/env bash
# scripts/check-entrypoints accepts the table and notices each way in which it can be wrong.
. "$(dirname "$0")/testlib"

expect "the table agrees with the toolkit" 0 scripts/check-entrypoints

# damage NAME PATTERN SED-EXPRESSION: with the table changed so, a line that matches PATTERN is printed.
damage() {
	sed -E "$3" lib/driver/entrypoints.def >"$work/damaged.def"
	expect "$1: noticed" 1 scripts/check-entrypoints --def "$work/damaged.def"
	says "$1: named" "$2" "$out"
}

damage "a row is missing" '^PFN_cuMemAlloc_v3020: in .*, has no row' '/^GMOD_HOOK\(cuMemAlloc_v2,/d'
damage "a variant is missing" '^PFN_cuMemsetD8_v7000_ptds: in .*, has no row' 's/^GMOD_BOTH\((cuMemsetD8_v2, .*),, _ptds, 7000,/GMOD_ONE(\1,,/'
damage "a version is wrong" '^PFN_cuCtxCreate_v12051: has a row, is not in' 's/(cuCtxCreate_v4, cuCtxCreate,) 12050/\1 12051/'
damage "a symbol is wrong" '^cuMemFree_v9: has a row, is not exported' 's/\(cuMemFree_v2,/(cuMemFree_v9,/'
damage "a row is there twice" '^PFN_cuInit_v2000: two rows' 's/^GMOD_HOOK\(cuInit,.*/&\n&/'

# operand NAME PATTERN SED-EXPRESSION: the same for scripts/hooks, by which rows become hooks.
operand() {
	sed -E "$3" lib/driver/entrypoints.def >"$work/damaged.def"
	expect "$1: noticed" 1 scripts/hooks --check --def "$work/damaged.def"
	says "$1: named" "$2" "$err"
}

expect "the hooks are those of the table" 0 scripts/hooks --check
operand "an operand that the call has not" '^hooks: cuMemcpyHtoD_v2: it has no parameter srcDevice$' \
	's/^(GMOD_BOTH\(cuMemcpyHtoD_v2,.*) COPY/\1 COPY, src = srcDevice/'
operand "another operand" '^hooks: lib/hooks/calls.c is not what the table says: run scripts/hooks$' \
	's/^(GMOD_BOTH\(cuMemcpyDtoD_v2,.*) COPY/\1 COPY, src = dstDevice/'
operand "another role" '^\+.*gmod_call_begin\(GMOD_JOIN, &c\)' 's/^(GMOD_BOTH\(cuStreamQuery,.*) WAIT\)/\1 JOIN)/'
operand "a version that no toolkit has" '^hooks: cuStreamQuery_ptsz: no .* names its parameters' \
	's/^(GMOD_BOTH\(cuStreamQuery,.*) 7000,/\1 7001,/'

expect "no toolkit" 3 env CUDA_HOME="$work" scripts/check-entrypoints
finish
