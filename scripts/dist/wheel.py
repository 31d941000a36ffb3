"""Make a wheel of an installed tree: wheel.py TREE README LICENSE VERSION PLATFORM FOLDER; prints the file's name."""

import base64
import hashlib
import os
import sys
import time
import zipfile

MAIN = '''"""The command gmod, as it is on PATH."""

import importlib.metadata
import os
import signal
import sys

if __name__ == "__main__":
    command = next(f for f in importlib.metadata.files("gmod") if f.name == "gmod" and f.parent.name == "bin").locate()
    for number in (signal.SIGPIPE, signal.SIGXFSZ):  # Python ignores them, and so would the job
        signal.signal(number, signal.SIG_DFL)
    os.execv(command, ["gmod"] + sys.argv[1:])
'''

METADATA = """Metadata-Version: 2.1
Name: gmod
Version: {version}
Summary: GPU heap sanitizer that stays on
Author: GMOD project
License: MIT
License-File: LICENSE
Requires-Python: >=3.8
Classifier: Environment :: GPU :: NVIDIA CUDA
Classifier: Operating System :: POSIX :: Linux
Description-Content-Type: text/markdown
"""

WHEEL = """Wheel-Version: 1.0
Generator: gmod
Root-Is-Purelib: false
Tag: py3-none-{platform}
"""


def files_of(tree):
    for folder, folders, names in os.walk(tree):
        folders.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            yield os.path.relpath(path, tree), path


def main(tree, readme, license_, version, platform, folder):
    info = f"gmod-{version}.dist-info"
    target = os.path.join(folder, f"gmod-{version}-py3-none-{platform}.whl")
    when = time.gmtime(int(os.environ.get("SOURCE_DATE_EPOCH", time.time())))[:6]
    record = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:

        def add(name, data, mode=0o644):
            entry = zipfile.ZipInfo(name, when)
            entry.external_attr = (0o100000 | mode) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            record.append(f"{name},sha256={digest},{len(data)}")

        add("gmod/__init__.py", f'__version__ = "{version}"\n'.encode())
        add("gmod/__main__.py", MAIN.encode())
        for name, path in files_of(tree):
            # The commands start without Python, from the folder on PATH beside which man looks.
            place = f"scripts/{name[4:]}" if name.startswith("bin/") else f"data/{name}"
            with open(path, "rb") as file:
                add(f"gmod-{version}.data/{place}", file.read(), os.stat(path).st_mode & 0o777)
        with open(readme, encoding="utf-8") as file:
            add(f"{info}/METADATA", (METADATA.format(version=version) + "\n" + file.read()).encode())
        with open(license_, "rb") as file:
            add(f"{info}/LICENSE", file.read())
        add(f"{info}/WHEEL", WHEEL.format(platform=platform).encode())
        name = f"{info}/RECORD"
        add(name, "".join(line + "\n" for line in record + [f"{name},,"]).encode())
    print(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
