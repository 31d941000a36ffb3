"""nvrtc.py LIBRARY SOURCE OPTION...: compiles it by that libnvrtc, prints what that has to say, and exits with 1 if it fails."""
import ctypes
import sys

library, source, *options = sys.argv[1:]
nvrtc = ctypes.CDLL(library)
program, size = ctypes.c_void_p(), ctypes.c_size_t()
with open(source, encoding="utf-8") as file:
    text = file.read().encode()
nvrtc.nvrtcCreateProgram(ctypes.byref(program), text, source.encode(), 0, None, None)
failed = nvrtc.nvrtcCompileProgram(program, len(options), (ctypes.c_char_p * len(options))(*map(str.encode, options)))
nvrtc.nvrtcGetProgramLogSize(program, ctypes.byref(size))
log = ctypes.create_string_buffer(size.value)
nvrtc.nvrtcGetProgramLog(program, log)
print(log.value.decode(), end="")
sys.exit(failed != 0)
