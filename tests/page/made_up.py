#!/usr/bin/env python3
"""made_up.py FOLDER HOSTS RANKS FINDINGS: logs in JSON of a job that never ran, the same in each run, a file for each rank.

HOSTS of RANKS each have so many findings at eight sites, sources beside the logs, and memory over time. The last rank has
no closing line. As a module: events(hosts, ranks, findings, folder) gives the lines of each rank.
"""
import json
import os
import sys
from datetime import datetime, timedelta

BEGIN = datetime(2026, 11, 28, 12, 0, 0)
SOURCES = {
    "train.py": """import torch

def step(model, batch, cache):
    hidden = model.embed(batch)
    rows = torch.empty(batch.rows, 64, device='cuda')
    gather(rows, cache.index, hidden)
    return model.head(rows)

def main():
    for batch in batches():
        step(model, batch, cache)
""",
    "scatter.cu": """__global__ void scatter_rows(float *out, const int *index, const float *in, int n)
{
\tint i = blockIdx.x * blockDim.x + threadIdx.x;

\tif (i <= n)
\t\tout[index[i]] = in[i];
}
"""}
# class, function, kernels, share of all findings, size, where the bytes were changed, how many, the message
SITES = (
    ("heap-buffer-overflow", "step", ("gather_rows", "layer_norm"), 30, 1048576, 0, 16,
     "16 bytes changed, 0 bytes past the end of a 1048576-byte buffer"),
    ("use-after-free", "release_cache", ("attention_scores", "softmax_rows"), 20, 262144, 4096, 64,
     "64 bytes changed, 4096 bytes into a freed 262144-byte buffer"),
    ("heap-buffer-underflow", "pad_front", ("pad_rows",), 14, 65536, -8, 8,
     "8 bytes changed, 8 bytes before the start of a 65536-byte buffer"),
    ("heap-buffer-overflow", "make_index", ("build_index", "gather_rows", "sort_keys"), 12, 8192, 1020, 4,
     "4 bytes changed, 1020 bytes past the end of a 8192-byte buffer"),
    ("api-out-of-bounds", "copy_back", (), 8, 7680, None, 0,
     "cuMemcpyDtoHAsync_v2 of 8192 bytes reaches 512 bytes past the end of a 7680-byte buffer"),
    ("double-free", "drop_cache", (), 6, 4096, None, 0, "a buffer of 4096 bytes was freed twice"),
    ("gpu-fault", "scatter_rows", ("scatter_rows",), 6, 524288, None, 0,
     "illegal address: write of 4 bytes, 12 bytes past the end of a 524288-byte buffer"),
    ("leak", "open_stream", (), 4, 16384, None, 0, "a buffer of 16384 bytes was not freed"),
)
CALLS = {"api-out-of-bounds": "cuMemcpyDtoHAsync_v2", "double-free": "cuMemFree_v2", "gpu-fault": "cuStreamSynchronize"}


def stamp(at):
    return (BEGIN + timedelta(seconds=at)).isoformat(timespec="microseconds") + "000Z"


def offset_of(name):
    return f"0x{0x1000 + sum(map(ord, name)):x}"


def frames(function, folder):
    return [{"module": "libtrain.so", "path": os.path.join(folder, "libtrain.so"), "build_id": "c0ffee00c0ffee00",
             "offset": offset_of(name), "function": name, "symbol": name} for name in (function, "run_epoch", "main")]


def python(function, folder):
    file = os.path.join(folder, "train.py")
    lines = (("step", 5), ("main", 11)) if function == "step" else ()
    return [{"function": name, "file": file, "line": line} for name, line in lines]


def stack(function, folder):
    return {"thread": 41, "python": python(function, folder), "frames": frames(function, folder)}


def moment(at, function, folder):
    return dict(stack(function, folder), time=stamp(at))


def suspect(kernel, i, at, folder):
    into = {"point": "buffer", "argument": 0, "byte": 0, "address": "0x7f0000100000", "distance": 1048576}
    launched = [{"function": "step", "file": os.path.join(folder, "train.py"), "line": 6}] if kernel == "gather_rows" else []
    return {"kernel": kernel, "symbol": kernel, "launches": 4 * (i + 1), "unfinished": i, "first": stamp(at - 0.004 + 0.001 * i),
            "launched": stamp(at - 0.0005 * (i + 1)), "stream": ("0x1", "0x5581a0", "0x5581b0")[i], "graph": None,
            "grid": [512, 1, 1], "block": [256, 1, 1], "arguments": {"point": "none"} if i else into,
            "python": launched, "python_elsewhere": []}


def fault(folder):
    file = os.path.join(folder, "scatter.cu")
    return {"kind": "illegal-address", "driver_kind": 14, "kernel": "scatter_rows", "symbol": "scatter_rows", "function": None,
            "offset": "0x170", "pc": "0x7f2200000170", "instruction": ["0x0000000402047981", "0x000ea8000c1e1900"],
            "access": "store", "bytes": 4, "address": "0x7f000008000c", "relation": "past-end", "distance": 12,
            "lines": [{"file": file, "line": 6, "function": None}], "grid": [2048, 1, 1], "block_size": [256, 1, 1],
            "block": [2047, 0, 0], "thread": [255, 0, 0], "warps": 1, "threads": 3, "places": 1, "launched_tid": 41,
            "parameters": "0000107f", "capability": 90}


def corruption_of(site, at):
    _, _, _, _, _, offset, changed, _ = SITES[site]
    if offset is None:
        return None
    shown = 2 * min(changed, 32)
    front = {"past_front": 248, "front_size": 32768} if offset < 0 else {}
    return dict(front, offset=offset, changed=changed, extent=changed, observed=("0000803f" * 8)[:shown],
                expected=("a4f9b8a3" * 8)[:shown], restored=False, intact=stamp(at - 0.0045), seen=stamp(at))


def finding(head, number, site, at, folder):
    kind, function, kernels, _, size, offset, _, message = SITES[site]
    device = head["rank"] % 8
    buffer = {"base": "0x7f0000000000", "size": size, "device": device, "memory": "device", "backend": "device",
              "allocation": 100 + number, "site_allocations": 0, "site_guarded": 0,
              "allocated": moment(at - 3 - site, function, folder),
              "freed": moment(at - 1, "drop_cache", folder) if kind in ("use-after-free", "double-free") else None}
    call = dict(stack(function, folder), entry_point=CALLS[kind], address="0x7f0000000000", length=8192, error=1,
                error_name="CUDA_ERROR_INVALID_VALUE") if kind in CALLS else None
    return dict(head, event="finding", id=number, status="final", **{"class": kind}, time=stamp(at + 0.002),
                command="python3 train.py --layers 24", site_hash=f"{site + 1:016x}", device=device,
                gpu=f"GPU-{head['rank']:08x}-0000-0000-0000-000000000000", size=size, offset=offset or 0,
                site=f"{function} libtrain.so+{offset_of(function)}", message=message, buffer=buffer,
                corruption=corruption_of(site, at), fault=fault(folder) if kind == "gpu-fault" else None, call=call,
                suspects=[suspect(k, i, at, folder) for i, k in enumerate(kernels)], suspects_total=len(kernels),
                suspects_omitted=0, launches_lost=0, unknown_before=None, nearby=[],
                next_step="gmod --exact python3 train.py --layers 24", suppression=f"{kind}:{function}")


def memory(head, folder):
    samples = [{"time": stamp(i * 2), "bytes": (i * 37 % 11 + 2 * min(i, 9) + head["rank"] % 5) << 30, "buffers": 100 + 7 * i}
               for i in range(31)]
    peak = max(samples, key=lambda s: s["bytes"])
    sites = [{"bytes": peak["bytes"] * part // 12, "buffers": 10 * part, "site": name, "frames": frames(name, folder),
              "python": python(name, folder)} for name, part in (("step", 5), ("release_cache", 3), ("make_index", 2))]
    elsewhere = peak["bytes"] - sum(s["bytes"] for s in sites)
    return dict(head, event="memory", samples=samples, peak=dict(peak, sites=sites, elsewhere_bytes=elsewhere))


def summary(head, count, required):
    told = dict.fromkeys(required, 0)
    told.update(head, event="summary", hooks_armed=273, buffers_guarded=900, bytes_guarded=40 << 30, buffers_unguarded=12,
                bytes_unguarded=2 << 30, buffers_capped=5, buffers_fenced=100, bytes_fenced=6 << 30, ordered=400,
                bytes_ordered=12 << 30, ordered_guarded=40, bytes_ordered_guarded=3 << 30, mappings=2, bytes_mappings=4 << 30,
                allocations_uncovered=362, bytes_uncovered=13 << 30, bytes_asked=42 << 30, guarded_permille=741, findings=count,
                findings_by_class={}, run_ms=61000 + head["rank"], own_cpu_ms=310, own_hooks_ms=95, own_gpu_ms=120)
    return told


def head_of(host, rank):
    return {"schema": "gmod-report-2", "pid": 4000 + rank, "host": host, "rank": rank, "version": "0.2.0"}


def events(hosts, ranks, findings, folder, required=()):
    """{(host, rank): its lines}"""
    shares = [i for i, site in enumerate(SITES) for _ in range(site[3])]
    logs = {(f"node{rank // ranks:02}", rank): [] for rank in range(hosts * ranks)}
    every = list(logs.items())
    for i in range(findings):
        (host, rank), lines = every[i * 11 % len(every)]
        site = shares[i * 41 % len(shares)]
        at = 60 if site == 7 else 4 + (i * i * 7 % 97) * 0.5
        lines.append(finding(head_of(host, rank), len(lines) + 1, site, at + rank * 0.0137, folder))
    for (host, rank), lines in every:
        head = head_of(host, rank)
        count = len(lines)
        lines.insert(0, dict(head, event="note", text="started: version 0.2.0, 273 hooks armed"))
        lines.append(memory(head, folder))
        if rank < len(every) - 1:
            lines.append(summary(head, count, required))
    return logs


def main(folder, hosts, ranks, findings):
    os.makedirs(folder, exist_ok=True)
    top = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
    with open(os.path.join(top, "scripts", "report", "log.schema.json"), encoding="utf-8") as file:
        required = json.load(file)["$defs"]["summary"]["required"]
    for name, text in SOURCES.items():
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(text)
        os.utime(file.name, (BEGIN.timestamp() - 86400 * 2,) * 2)
    for (host, rank), lines in events(hosts, ranks, findings, os.path.abspath(folder), required).items():
        with open(os.path.join(folder, f"{host}.{rank:04}.json"), "w", encoding="utf-8") as file:
            file.writelines(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:5]))
