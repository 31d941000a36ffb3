"""Runs a folder's program as python3 -I FOLDER does, in a Python that has no z3, and, with GMOD_NO_CUOBJDUMP, no cuobjdump."""
import os
import runpy
import sys

sys.modules["z3"] = None
folder = sys.argv[1]
sys.argv = sys.argv[1:]
sys.path[0] = folder
if os.environ.get("GMOD_NO_CUOBJDUMP"):
    import images
    images.cuobjdump = lambda: None
runpy.run_path(os.path.join(folder, "__main__.py"), run_name="__main__")
