"""Makes alarms of the accesses that z3 was missing for, in what gmod prove has kept: so that what it says of alarms is tested without
z3. plant_alarms.py FOLDER: of the cache."""
import hashlib
import json
import os
import sys

ALARM = {"verdict": "alarm", "reason": None, "kind": "out of bounds", "offset": 4000, "extent": 4, "block": [3, 0, 0],
         "thread": [232, 0, 0], "iteration": 0,
         "memory": {"kind": "buffer", "name": "argument 0", "size": 4000, "at": 0}}


def main(folder):
    for name in os.listdir(folder):
        with open(os.path.join(folder, name), "rb") as source:
            kept = json.loads(source.read().partition(b"\n")[2])
        for access in kept["accesses"]:
            if access["reason"] == "z3-solver is not installed":
                access.update(ALARM)
        body = json.dumps(kept).encode()
        with open(os.path.join(folder, name), "wb") as out:
            out.write(hashlib.sha256(body).hexdigest().encode() + b"\n" + body)


if __name__ == "__main__":
    main(sys.argv[1])
