"""Reads a memory snapshot of PyTorch (torch.cuda.memory._dump_snapshot, or a pickle of _snapshot()'s value).

A pickle can run code when it is read; this reader builds plain data only, and refuses all else.
"""
import pickle

AROUND = 3  # blocks on either side of the damage that a finding is told of
TRACES = 8


class _Plain(pickle.Unpickler):
    def find_class(self, module, name):
        raise pickle.UnpicklingError(f"it asks for {module}.{name}, and a snapshot is plain data")

    def persistent_load(self, pid):
        raise pickle.UnpicklingError("it refers to something outside, and a snapshot is plain data")


def _frames(frames):
    """The program's own, if there are any: the lines of Python."""
    known = [{"function": str(f.get("name")), "file": str(f.get("filename")), "line": f.get("line")}
             for f in frames or () if isinstance(f, dict)]
    return [f for f in known if f["file"].endswith(".py")] or known


def _blocks(segment):
    at = segment["address"]
    for block in segment.get("blocks", ()):
        history = block.get("history") or [{}]  # of PyTorch 2.0
        yield {"address": block.get("address", at), "size": block["size"],
               "requested": block.get("requested_size", history[0].get("real_size")), "state": str(block.get("state")),
               "python": _frames(block.get("frames") or history[0].get("frames"))}
        at += block["size"]


class Snapshot:
    """rank: whose it is; None: anybody's. Raises ValueError where the file is no snapshot, OSError where there is none."""

    def __init__(self, path, rank=None):
        self.path, self.rank = path, rank
        try:
            with open(path, "rb") as file:
                value = _Plain(file).load()
            self.segments = [{"address": int(s["address"]), "size": int(s["total_size"]), "device": s.get("device"),
                              "kind": str(s.get("segment_type", "")), "blocks": list(_blocks(s))} for s in value["segments"]]
            self.traces = [t for device in value.get("device_traces") or () for t in device if isinstance(t, dict)]
        except OSError:
            raise
        except Exception as error:  # a pickle that is none fails in any way it likes
            raise ValueError(f"it is no snapshot of PyTorch's: {error or type(error).__name__}") from error

    def around(self, address, device, rank):
        """The segment that ends, begins or lies at that address, and its blocks that are nearest; None: there is none."""
        if self.rank is not None and self.rank != rank:
            return None
        for s in self.segments:
            if s["device"] in (None, device) and s["address"] - 4096 <= address < s["address"] + s["size"] + 4096:
                near = sorted(s["blocks"], key=lambda b: max(b["address"] - address, address - b["address"] - b["size"], 0))
                near = sorted(near[:AROUND], key=lambda b: b["address"])
                return {"snapshot": self.path, "address": s["address"], "size": s["size"], "kind": s["kind"],
                        "blocks": near, "history": self._history(near)}
        return None

    def _history(self, blocks):
        """What became of these blocks' memory, the latest last."""
        spans = [(b["address"], b["address"] + b["size"]) for b in blocks]
        found = [t for t in self.traces if isinstance(t.get("addr"), int) and
                 any(begin <= t["addr"] < end for begin, end in spans)]
        return [{"action": str(t.get("action")), "address": t["addr"], "size": t.get("size"), "time_us": t.get("time_us"),
                 "python": _frames(t.get("frames"))} for t in found[-TRACES:]]
