"""Python's own handler for SIGINT goes on working where CUDA is in use, and signals that it leaves alone look so."""
import ctypes
import faulthandler
import os
import signal
import sys

cuda = ctypes.CDLL("libcuda.so.1")
assert cuda.cuInit(0) == 0
if sys.argv[1:] == ["crash"]:
    faulthandler.enable()
    faulthandler._sigsegv()
try:
    os.kill(os.getpid(), signal.SIGINT)
    while True:
        signal.pause()
except KeyboardInterrupt:
    print("interrupted")
print(signal.signal(signal.SIGTERM, lambda *_: print("asked to end")) == signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGTERM)
print(signal.signal(signal.SIGTERM, signal.SIG_DFL) == signal.SIG_DFL)
os.kill(os.getpid(), signal.SIGTERM)
