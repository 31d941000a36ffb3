"""Proves the launches of journals: each signature once, by several processes if that is asked for."""
import collections
import concurrent.futures
import concurrent.futures.process
import multiprocessing
import sys
import time

import ask
import flow
import images
import ptx
from as_text import plural
from values import OutOfTime, clock

KEPT_IMAGES = 16
DEEP = 6000  # formulas nest


class Result:
    """What was found of one signature of a launch: why it is undecided as a whole, or a verdict for each access. ptx: the file
    that it was taken from, None for the image's own."""

    def __init__(self, why=None, note=None, accesses=(), ptx_file=None):
        self.why, self.note, self.accesses, self.ptx = why, note, list(accesses), ptx_file

    def count(self, word):
        return sum(one["verdict"] == word for one in self.accesses)


def distinct(journals):
    """[(launch, times)]: equal signatures of several journals are one."""
    found = collections.OrderedDict()
    for journal in journals:
        for launch in journal.launches:
            first, times = found.get(launch.signature(), (launch, 0))
            found[launch.signature()] = first, times + 1
    return list(found.values())


class Prover:
    def __init__(self, limits, beside, cache):
        self.access_seconds, self.launch_seconds = limits
        self.beside, self.cache = beside, cache
        self.images, self.flows = collections.OrderedDict(), {}

    def _image_of(self, launch):
        """NoPtx: why there is none."""
        if launch.function.image is None:
            raise images.NoPtx("the function's image is not known")
        folder, name, kind, _ = launch.function.image
        try:
            return self._kept(name, images.of_journal, folder, name, kind, self.beside)
        except images.NoPtx as why:
            paths = self.beside.of_kernel(launch.function.name)
            if len(paths) == 1:
                return self._kept(paths[0], images.of_file, paths[0])
            if paths:
                raise images.NoPtx(f"{len(paths)} files of --ptx have a kernel of this name") from None
            looked = ", ".join(f"{folder} has {plural(texts, '.ptx file')}" for folder, texts in self.beside.texts.items())
            raise images.NoPtx(f"{why}; {looked}, none with a kernel of that name" if looked else str(why)) from None

    def _kept(self, name, read, *arguments):
        if name not in self.images:
            if len(self.images) >= KEPT_IMAGES:
                self.images.popitem(last=False)
                self.flows.clear()
            try:
                self.images[name] = read(*arguments)
            except images.NoPtx as error:
                self.images[name] = str(error)
            except OSError as error:
                self.images[name] = f"{error.filename}: {error.strerror}"
        if isinstance(self.images[name], str):
            raise images.NoPtx(self.images[name])
        return self.images[name]

    def prove(self, launch):
        """As the cache has it, else anew."""
        sys.setrecursionlimit(DEEP)
        try:
            image = self._image_of(launch)
            file = self.cache.file(launch, image.digest)
            kept = self.cache.get(file)
            if kept is not None:
                return Result(kept["why"], None, kept["accesses"], image.came_from)
            result = self._prove(image, launch)
        except images.NoPtx as error:
            return Result(ask.NO_PTX, str(error))
        except MemoryError:
            return Result("time", "out of memory")
        if result.note is None:
            self.cache.put(file, {"why": result.why, "accesses": result.accesses})
        result.ptx = image.came_from
        return result

    def _prove(self, image, launch):
        try:
            return self._prove_in(image, launch)
        except ptx.BadPtx as error:
            return Result("not modelled", f"the PTX is not understood: {error}")
        except flow.Irreducible:
            return Result("not modelled", "a loop with several entries")
        except ask.Undecided as why:
            return Result(str(why))
        except OutOfTime:
            return Result("time")
        except (ArithmeticError, AssertionError, AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
            return Result("not modelled", f"the prover has failed: {type(error).__name__}: {error}")

    def _prove_in(self, image, launch):
        module, kernel = image.find(launch.function.name, launch.capability)
        clock.end = time.monotonic() + self.launch_seconds
        if kernel is None:
            return Result(ask.NO_PTX, "the image's PTX has no such kernel")
        if [size for _, size, _ in kernel.parameters] != [size for _, size in launch.function.parameters]:
            return Result("not modelled", "the parameters are not those of the PTX")
        key = image.digest, launch.function.name
        if key not in self.flows:
            self.flows[key] = flow.Flow(kernel)
        asker = ask.Asker(kernel, self.flows[key], module, launch, self.access_seconds, clock.end)
        return Result(accesses=[described(verdict, module) for verdict in asker.verdicts()])


def described(verdict, module):
    """A verdict as plain data, which goes from one process to another and into JSON."""
    one = verdict.instruction
    place = lambda at: None if at is None or at[0] not in module.files else {"file": module.files[at[0]], "line": at[1]}
    found = {"verdict": verdict.word, "reason": verdict.reason, "access": "write" if verdict.store else "read",
             "bytes": verdict.width, "ptx_line": one.line, "instruction": one.text[:200], "source": place(one.source),
             "inlined_at": [at for at in map(place, one.inlined) if at]}
    if verdict.word == "alarm":
        alarm = verdict.alarm
        thing, pointer = alarm["thing"], alarm["thing"].pointer
        found.update(kind=alarm["kind"], offset=alarm["offset"], extent=alarm["extent"], block=alarm["block"],
                     thread=alarm["thread"], iteration=alarm["round"],
                     memory={"kind": thing.kind, "name": thing.name, "size": thing.size,
                             "at": pointer.at if pointer else None})
    return found


_prover = None


def _begin(prover):
    global _prover
    _prover = prover


def _prove(launch):
    return _prover.prove(launch)


def prove_all(launches, prover, jobs, progress):
    """A Result for each launch, in order; progress is called after each."""
    results = []
    if jobs <= 1 or len(launches) < 2:
        for launch in launches:
            results.append(prover.prove(launch))
            progress(len(results))
        return results
    if any(launch.function.image and launch.function.image[2] == "cubin" for launch in launches):
        prover.beside.prepare()
    with concurrent.futures.ProcessPoolExecutor(jobs, multiprocessing.get_context("fork"), _begin, (prover,)) as pool:
        for future in [pool.submit(_prove, launch) for launch in launches]:
            try:
                results.append(future.result())
            except concurrent.futures.process.BrokenProcessPool:
                results.append(Result("time", "a process of the prover has died"))
            progress(len(results))
    return results
