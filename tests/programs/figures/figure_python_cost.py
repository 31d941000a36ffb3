"""Calls figure_python_cost.c from so many Python frames: figure_python_cost.py LIBRARY [FRAMES]."""
import ctypes
import sys

FUNCTION = """
def f{n}(call):
    if call is None:
        raise ValueError(
            "there is nothing"
            " to call"
        )
    numbers = [i * i for i in range(3)]
    return f{next}(call) + 0 * sum(
        numbers
    )
"""


def stack_of(frames):
    """So many functions, each of which calls the next one, and the last one what it is given."""
    scope = {f"f{frames}": lambda call: call()}
    for n in range(frames):
        exec(compile(FUNCTION.format(n=n, next=n + 1), f"part{n}.py", "exec"), scope)
    return scope["f0"]


def main():
    library = ctypes.CDLL(sys.argv[1])
    library.figure_launch_ns.restype = library.figure_allocation_ns.restype = ctypes.c_double
    frames = int(sys.argv[2]) if len(sys.argv) > 2 else 12
    if library.figure_start():
        sys.exit("the driver does not start")
    # The last two of them are this one and the module.
    call = stack_of(frames - 3)
    launch, allocation = call(library.figure_launch_ns), call(library.figure_allocation_ns)
    print(f"frames={frames} launch_ns={launch:.1f} allocation_ns={allocation:.1f}")


main()
