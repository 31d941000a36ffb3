#!/usr/bin/env bash
# gmod report shows all that a log says: each member of a finding, by the schema of JSON logs and by the lines of text.
. "$(dirname "$0")/testlib"
needs_python3

cat >"$work/made.text" <<'TEXT'
==4711==GMOD: heap-buffer-overflow: 21 bytes changed, 22 bytes past the end of a 23023-byte buffer [finding 24]
    buffer [0x7f0000000000, 0x7f00000059ef) in managed memory on device 25, backend managed, allocation #26, allocated 1.027 s ago by thread 28, allocated by mallocN in thread 29 of block 30 of a kernel, one of a sample: 31 of 32 allocations there
      at allocates.py:33 in allocates
      #0 allocating  allocating.so+0x34
    freed 0.035 s ago by thread 36
      at frees.py:37 in frees
      #0 freeing  freeing.so+0x38
    written between 13:00:00.000039 (last seen intact) and 13:00:00.000040 UTC
    incomplete: 41 more kernels were under way and not listed here; 42 launches were of kernels that found no place to be counted; kernels launched before 12:59:59.000043 UTC may be missing; another process, which imported the buffer, may have written
    suspects:
      1. first_kernel x44 on stream 45 in graph 0x46 (47 not proven complete), from 12:59:59.000048 to 12:59:59.000049, 50 x 51 x 52 blocks of 53 x 54 x 55 threads: argument 56 at byte 57 points 58 bytes in front
         launched
           at launches.py:59 in launches
         also launched
           at elsewhere.py:60 in elsewhere
      2. second_kernel x61 on the per-thread stream, at 12:59:59.000062: its arguments are not known
    changed bytes at +22: 64 65, where 77 78 had been (21 of 66 bytes) (put back since)
    which is 67 bytes past the end of the 68-byte buffer in front of it
    process: host themachine, rank 69, device 25 GPU-00000070-0000-0000-0000-000000000000, GMOD 0.71, at 2026-11-28 13:00:01.000072 UTC, command ./command --73
    module /path/of/allocating.so build-id 00000074
    next step: the next step 75
    or, for the file of suppressions: heap-buffer-overflow:suppressed76
SUMMARY: GMOD: heap-buffer-overflow device 25 size 23023 offset +22 allocates.py:33 in allocates
==4712==GMOD: double-free: a buffer of 81 bytes was freed twice [finding 82]
    buffer [0x7f0000000000, 0x7f0000000051) on device 83, backend device, allocation #84, allocated 0.085 s ago by thread 86
      #0 allocating  allocating.so+0x87
    first freed 0.088 s ago by thread 89
      #0 freeing  freeing.so+0x90
    freed again by cuMemFree_v2 in thread 91; the program got CUDA_ERROR_INVALID_VALUE (92)
      #0 freeing_again  freeing.so+0x93
    process: host themachine, device 83 GPU-00000094-0000-0000-0000-000000000000, GMOD 0.95, at 2026-11-28 13:00:01.000096 UTC, command ./command
    next step: let one of the two places own the buffer
SUMMARY: GMOD: double-free device 83 size 81 offset +0 freeing freeing.so+0x90
==4713==GMOD: post-mortem: the GPU gave up with CUDA_ERROR_ILLEGAL_ADDRESS (700), first seen by cuStreamSynchronize [finding 101]
    called: cuStreamSynchronize in thread 102; the program got CUDA_ERROR_ILLEGAL_ADDRESS (700)
      #0 waiting  waiting.so+0x103
    unfinished launches:
      1. failing x104 on the default stream (105 not proven complete), at 13:00:00.000106, 107 blocks of 108 threads
    buffer of an argument: 109 bytes [0x7f0000000110, 0x7f000000017d) on device 111, backend device, allocation #112, by allocating allocating.so+0x113
    process: host themachine, GMOD 0.114, at 2026-11-28 13:00:01.000115 UTC, command ./command
    next step: compute-sanitizer
SUMMARY: GMOD: post-mortem CUDA_ERROR_ILLEGAL_ADDRESS
==4714==GMOD: gpu-fault: illegal address: read of 121 bytes, 122 bytes past the end of a 123-byte buffer [finding 124]
    in kernel faulting, function helper, at /home/u/row.cuh:125 in row
      inlined at /home/u/column.cuh:126 in column
      inlined at /home/u/scale.cu:127
    instruction helper+0x128 at 0x7f0000000129: 0x0000000402047130 0x000ea8000c1e1131 of sm_132, the first of 133 that faulted
    block (134,135,136), thread (137,138,139) or another one; 140 threads of that warp, 141 warps in all
    grid of 142 x 143 x 144 blocks of 145 x 146 x 147 threads, launched by thread 148
    address 0x7f0000000149
    the program's context is lost, as it would be without GMOD (exception 150 of the driver)
    buffer [0x7f0000000000, 0x7f000000007b) on device 151, backend device, allocation #152, allocated 0.153 s ago by thread 154
      #0 allocating  allocating.so+0x155
    called: cuStreamSynchronize in thread 156; the program got CUDA_ERROR_ILLEGAL_ADDRESS (157)
      #0 waiting  waiting.so+0x158
    launches of the kernel:
      1. faulting x159 on the default stream (160 not proven complete), at 13:00:00.000161, 162 blocks of 163 threads
    process: host themachine, device 151 GPU-00000164-0000-0000-0000-000000000000, GMOD 0.165, at 2026-11-28 13:00:01.000166 UTC, command ./command
    next step: look at /home/u/row.cuh:125 in row; the next run may show other bugs
    or, for the file of suppressions: gpu-fault:faulting167
SUMMARY: GMOD: gpu-fault device 151 size 123 offset +122 helper+0x128 at /home/u/row.cuh:125 in row
TEXT
lost=$(python3 -B tests/scripts/report_parity.py scripts/report/log.schema.json "$work" 2>&1)
same "each member of a finding is in the text and on the page" "" "$lost"

finish
